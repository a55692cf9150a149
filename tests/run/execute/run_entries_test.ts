import { assertEquals } from "@std/assert";
import type { RunAction } from "../../../src/action/action.ts";
import { hello } from "../../../src/action/hello.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { makePlan } from "../../../src/plan/make_plan.ts";
import { Cancellation } from "../../../src/run/cancellation.ts";
import type { RunEvent } from "../../../src/run/event.ts";
import { run } from "../../../src/run/run.ts";
import { loadText } from "../../support/load_files.ts";
import { withFiles } from "../../support/temp_dir.ts";

async function eventsOf(
  iteration: string,
  act: RunAction,
  cancellation = new Cancellation(),
): Promise<RunEvent[]> {
  const { workflow } = await loadText(`
name: w
jobs: [{ name: a, steps: [{ id: s, uses: hello, with: { n: "{{vars.item}}" },
  outputs: { n: vars.item }, iteration: ${iteration} }] }]
`);
  const plan = await makePlan(workflow, {});
  const action = { ...hello, load: () => Promise.resolve(act) };
  for (const { job } of plan.jobs) for (const step of job.steps) Object.assign(step, { action });
  const events: RunEvent[] = [];
  await run(plan, denoHost(), (event) => void events.push(event), { cancellation });
  return events;
}

const OK = { req: {}, res: {}, status: 0 };

Deno.test("entries that run at once have resources of their own, and one after another do not", async () => {
  for (const [parallel, expected] of [[3, ["1", "2", "3"]], [1, ["1", "1 2", "1 2 3"]]] as const) {
    const seen: string[] = [];
    await eventsOf(`{ list: [1, 2, 3], parallel: ${parallel} }`, ({ n }, { scope }) => {
      const cookies = scope.job.resource("cookies", () => [] as string[]);
      cookies.push(String(n));
      seen.push(cookies.join(" "));
      return OK;
    });
    assertEquals(seen, [...expected]);
  }
});

Deno.test("concurrent entries are reported in order, whichever ends first", async () => {
  const waiting: (() => void)[] = [];
  const ended: unknown[] = [];
  const events = await eventsOf("{ list: [1, 2, 3, 4, 5], parallel: 3 }", async ({ n }) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      // The last of three goes first.
      if (waiting.length === 3 || Number(n) > 3) {
        for (const go of waiting.splice(0).reverse()) setTimeout(go);
      }
    });
    ended.push(n);
    return OK;
  });
  assertEquals(ended.slice(0, 3), [3, 2, 1]);
  const shown = events.flatMap((event) =>
    event.type === "step_started" || event.type === "step_finished"
      ? `${event.type === "step_started" ? "+" : "-"}${event.run.entry}`
      : []
  );
  assertEquals(shown, ["+0", "-0", "+1", "-1", "+2", "-2", "+3", "-3", "+4", "-4"]);
});

Deno.test("an interruption ends all entries that run at once, and begins no other", async () => {
  const cancellation = new Cancellation();
  let begun = 0;
  const events = await eventsOf("{ list: [1, 2, 3, 4, 5], parallel: 2 }", (_, { signal }) => {
    if (++begun === 2) queueMicrotask(() => cancellation.cancel("interrupted by SIGINT"));
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error())));
  }, cancellation);
  const failures = events.flatMap((event) =>
    event.type === "step_finished" ? event.result.failures.map(({ message }) => message) : []
  );
  assertEquals(failures, ["interrupted by SIGINT", "interrupted by SIGINT"]);
});

for (const separator of [",", ";", "\t"]) {
  Deno.test(`all rows of a large CSV file are read, with ${JSON.stringify(separator)} between columns`, () => {
    const rows = Array.from({ length: 5_000 }, (_, at) => `${at}${separator}some more text`);
    const text = [`item${separator}more`, ...rows].join("\n");
    return withFiles({ "rows.csv": text }, async (directory) => {
      let sum = 0;
      await eventsOf(`{ file: "${directory}/rows.csv" }`, ({ n }) => {
        sum += Number(n);
        return OK;
      });
      assertEquals(sum, rows.length * (rows.length - 1) / 2);
    });
  });
}

Deno.test("booleans of a CSV file may be written as spreadsheets write them", async () => {
  await withFiles({ "rows.csv": "item\nTRUE\nfalse\nFalse\n" }, async (directory) => {
    const items: unknown[] = [];
    await eventsOf(`{ file: "${directory}/rows.csv", types: { item: boolean } }`, ({ n }) => {
      items.push(n);
      return OK;
    });
    assertEquals(items, [true, false, false]);
  });
});

Deno.test("a CSV file without a first row fails the step, and one without others skips it", async () => {
  for (const [text, state] of [["", "failed"], ["\n", "failed"], ["item\n", "skipped"]]) {
    await withFiles({ "rows.csv": text! }, async (directory) => {
      const events = await eventsOf(`{ file: "${directory}/rows.csv" }`, () => OK);
      const states = events.flatMap((e) => e.type === "step_finished" ? [e.result.state] : []);
      assertEquals(states, [state], JSON.stringify(text));
    });
  }
});
