import { assertEquals } from "@std/assert";
import { findRows, type RowFilter } from "../../../src/report/files/html/page/find_rows.ts";
import type { PageData, PageJob, PageStep } from "../../../src/report/files/html/page_data.ts";

function job(name: string, state: PageJob["state"] = "passed"): PageJob {
  return { id: name, name, needs: [], state, start: 0, duration: 1, failures: [] };
}

function step(job: number, depth: number, name: string): PageStep {
  return { job, key: name, name, uses: "echo", state: "passed", start: 0, duration: 1, depth };
}

const DATA: PageData = {
  duration: 1,
  jobs: [job("one"), job("none", "skipped"), job("two")],
  steps: [
    step(0, 0, "a"),
    step(0, 1, "a1"),
    step(0, 2, "a1x"),
    step(0, 1, "a2"),
    step(0, 0, "b"),
    step(2, 0, "c"),
    step(2, 1, "c1"),
  ],
};

/** The rows as an outline: `one(a(a1) b) two`. `+` is what is folded. */
function outline(wish: Partial<RowFilter>, data = DATA): string {
  const all: RowFilter = { fits: () => true, fitsJob: () => true, isFolded: () => false };
  const { rows, count } = findRows(data, { ...all, ...wish });
  const lines = rows.map(({ kind, index, level, isFolded, position, of }) => {
    const { name } = kind === "job" ? data.jobs[index]! : data.steps[index]!;
    const fold = isFolded === undefined ? "" : isFolded ? "+" : "-";
    return `${level}${fold}${name} ${position}/${of}`;
  });
  return `${lines.join(", ")} (${count})`;
}

const named = (...names: readonly string[]) => ({ name }: PageStep) => names.includes(name);

Deno.test("findRows() gives jobs with their steps, and those with the steps inside of them", () => {
  assertEquals(
    outline({}),
    "1-one 1/3, 2-a 1/2, 3-a1 1/2, 4a1x 1/1, 3a2 2/2, 2b 2/2, 1none 2/3, 1-two 3/3, 2-c 1/1, " +
      "3c1 1/1 (7)",
  );
});

Deno.test("findRows() shows the containers of a matching step without counting them", () => {
  const fitsJob = () => false;
  assertEquals(
    outline({ fits: named("a1x"), fitsJob }),
    "1-one 1/1, 2-a 1/1, 3-a1 1/1, 4a1x 1/1 (1)",
  );
  assertEquals(
    outline({ fits: named("a1x", "a2", "c"), fitsJob }),
    "1-one 1/2, 2-a 1/1, 3-a1 1/2, 4a1x 1/1, 3a2 2/2, 1-two 2/2, 2c 1/1 (3)",
  );
  assertEquals(outline({ fits: named("b"), fitsJob }), "1-one 1/1, 2b 1/1 (1)");
  assertEquals(outline({ fits: named("a"), fitsJob }), "1-one 1/1, 2a 1/1 (1)");
});

Deno.test("findRows() shows jobs that fit without any step", () => {
  assertEquals(
    outline({ fits: () => false, fitsJob: ({ state }) => state === "skipped" }),
    "1none 1/1 (0)",
  );
});

Deno.test("findRows() hides everything below a folded row", () => {
  assertEquals(
    outline({ isFolded: ({ kind, index }) => kind === "step" && index === 0 }),
    "1-one 1/3, 2+a 1/2, 2b 2/2, 1none 2/3, 1-two 3/3, 2-c 1/1, 3c1 1/1 (7)",
  );
  assertEquals(
    outline({ isFolded: ({ kind }) => kind === "job" }),
    "1+one 1/3, 1none 2/3, 1+two 3/3 (7)",
  );
});

Deno.test("findRows() returns no rows for an empty run", () => {
  assertEquals(outline({}, { duration: 0, jobs: [], steps: [] }), " (0)");
});
