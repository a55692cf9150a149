import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "../../support/programs/browser.ts";
import { findBarriers, textsOf, withReport } from "../../support/programs/html_report.ts";

const step = (name: string, test = "true") => ({
  name,
  uses: "echo",
  with: { message: name },
  test,
});

/** Build → test, lint → release; one step fails. */
const WORKFLOW = JSON.stringify({
  name: "n",
  jobs: [
    { name: "build", id: "build", steps: [step("b1"), step("b2")] },
    { name: "test", id: "test", needs: ["build"], steps: [step("t1"), step("t2", "false")] },
    { name: "lint", id: "lint", needs: ["build"], steps: [step("l1")] },
    { name: "release", needs: ["lint"], steps: [step("r1")] },
  ],
});

/** Returns the focused element: its id, or its text. */
async function focus(page: Page): Promise<unknown> {
  return await page.evaluate(`(() => {
    const { id, ariaLabel, textContent, tagName } = document.activeElement;
    return id || ariaLabel || (tagName === "BODY" ? "body" : textContent);
  })()`);
}

const heading = async (page: Page) => (await textsOf(page, "#details h2"))[0];

/** The name of the selected row, which assistive technology announces too. */
async function selected(page: Page): Promise<unknown> {
  return await page.evaluate(`(() => {
    const all = document.querySelectorAll(".row[aria-selected=true]");
    if (all.length !== 1) return all.length + " selected";
    const active = document.getElementById("rows").getAttribute("aria-activedescendant");
    return active === all[0].id ? all[0].querySelector(".name").textContent.replace(/^\\W+/, "") : active;
  })()`);
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.press(key);
}

Deno.test("the Tab key stops at each part of the HTML report, there and back", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    const stops: unknown[] = [];
    for (let i = 0; i < 8; i++) {
      await page.press("Tab");
      stops.push(await focus(page));
    }
    assertEquals(
      stops,
      ["4 jobs", "Job build, passed, on the critical path", "Command line"].concat(
        ["show", "search", "keys", "rows", "details"],
      ),
    );
    await press(page, "Shift+Tab", "Shift+Tab");
    assertEquals(await focus(page), "keys");
  });
});

Deno.test("arrows, Home and End move through jobs and steps, and fold them", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    assertEquals([await selected(page), await heading(page)], ["t2", "test › t2"]);
    await page.evaluate("document.getElementById('show').value = 'all'");
    await page.evaluate("document.getElementById('show').dispatchEvent(new Event('change'))");
    // The selected row stays selected among other rows.
    assertEquals(await selected(page), "t2");
    await page.evaluate("document.getElementById('rows').focus()");
    const table = [
      ["ArrowDown", "lint"],
      ["ArrowUp", "t2"],
      ["ArrowUp", "t1"],
      ["ArrowLeft", "test"],
      ["Home", "build"],
      ["ArrowUp", "build"],
      ["ArrowRight", "b1"],
      ["ArrowRight", "b1"],
      ["End", "r1"],
      ["ArrowDown", "r1"],
      ["PageUp", "build"],
      ["PageDown", "r1"],
    ] as const;
    for (const [key, name] of table) {
      await page.press(key);
      const head = await heading(page);
      assertEquals([key, await selected(page)], [key, name]);
      assert(head === name || head!.endsWith(` › ${name}`), head);
    }
    const rows = async () => (await textsOf(page, ".row")).length;
    await press(page, "Home", "ArrowLeft");
    assertEquals([await rows(), await selected(page)], [8, "build"]);
    await press(page, "ArrowRight");
    assertEquals([await rows(), await selected(page)], [10, "build"]);
    assertEquals(page.errors, []);
  });
});

const FAILURES = JSON.stringify({
  name: "n",
  jobs: Array.from({ length: 9 }, (_, job) => ({
    name: `job ${job}`,
    id: `j${job}`,
    ...job > 0 && { needs: [`j${job - 1}`], when: "always" },
    steps: [step(`a${job}`, job % 4 === 1 ? "false" : "true"), step(`b${job}`)],
  })),
});

Deno.test("keys work without a click, n and p go through the failures, and ? lists the keys", async () => {
  await withReport(FAILURES, async ({ page }) => {
    const top = "Math.round(document.getElementById('main').getBoundingClientRect().top) + 0";
    assert(Number(await page.evaluate(top)) > 100, "the header is there first");
    await press(page, "j");
    assertEquals([await selected(page), await focus(page)], ["job 5", "rows"]);
    // What is about the list scrolls the header away.
    assertEquals(await page.evaluate(top), 0);
    const table = [["n", "a5"], ["n", "a5"], ["p", "a1"], ["p", "a1"], ["k", "job 1"], ["n", "a1"]];
    for (const [key = "", name] of table) {
      await page.press(key);
      assertEquals([key, await selected(page)], [key, name]);
    }
    await page.evaluate("document.getElementById('details').focus()");
    await press(page, "n");
    assertEquals(await selected(page), "a5");
    await press(page, "?");
    assertStringIncludes((await textsOf(page, "dialog[open] dl"))[0]!, "next and previous failure");
    await press(page, "p");
    assertEquals(await selected(page), "a5");
    assertEquals(await findBarriers(page), []);
    await press(page, "Escape", "p");
    assertEquals(await selected(page), "a1");
    assertEquals(await page.evaluate("document.getElementById('help').open"), false);
    assertEquals(page.errors, []);
  });
});

Deno.test("/ goes to the search, and Escape empties it and goes back", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    await press(page, "/", "t", "2");
    assertEquals([await focus(page), await textsOf(page, "#count")], ["search", ["1 of 6 steps"]]);
    await press(page, "x");
    assertEquals(await textsOf(page, "#count"), ["0 of 6 steps"]);
    await press(page, "Escape");
    assertEquals([await focus(page), await textsOf(page, "#count")], ["search", ["1 of 6 steps"]]);
    assertEquals(await page.evaluate("document.getElementById('search').value"), "");
    await press(page, "Escape");
    assertEquals(await focus(page), "rows");
    // In a search a slash is a slash.
    await press(page, "/", "/");
    assertEquals(await page.evaluate("document.getElementById('search').value"), "/");
    assertEquals(page.errors, []);
  });
});

Deno.test("Enter goes to the details of a row, and Escape back to the rows", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    await page.evaluate("document.getElementById('rows').focus()");
    await press(page, "Enter");
    assertEquals(await focus(page), "details");
    await press(page, "Tab", "Escape");
    assertEquals(await focus(page), "rows");
  });
});

Deno.test("arrows move through the graph, and Enter chooses a job", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    await press(page, "Tab", "Tab");
    const table = [
      ["ArrowRight", "Job test, failed"],
      ["ArrowDown", "Job lint, passed"],
      ["ArrowRight", "Job release, passed"],
      ["ArrowDown", "Job release, passed"],
      ["ArrowLeft", "Job lint, passed"],
      ["Home", "Job build, passed"],
      ["End", "Job release, passed"],
    ] as const;
    for (const [key, job] of table) {
      await page.press(key);
      const [name, state] = String(await focus(page)).split(", ");
      assertEquals([key, `${name}, ${state}`], [key, job]);
    }
    // Its row was not among the failed ones: all are shown now.
    await press(page, "Enter");
    assertEquals([await heading(page), await selected(page)], ["release", "release"]);
    assertEquals(await textsOf(page, "#count"), ["6 of 6 steps"]);
    await press(page, "Shift+Tab", "Tab");
    assertEquals(String(await focus(page)).split(",")[0], "Job release");
    assertEquals(page.errors, []);
  });
});
