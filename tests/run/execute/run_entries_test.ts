import { assertEquals, assertStringIncludes } from "@std/assert";
import type { RunAction } from "../../../src/action/action.ts";
import { hello } from "../../../src/actions/hello.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { makePlan } from "../../../src/plan/make_plan.ts";
import { Cancellation } from "../../../src/run/cancellation.ts";
import type { RunEvent, StepResult } from "../../../src/run/event.ts";
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

async function resultsOf(iteration: string, act: RunAction = () => OK): Promise<StepResult[]> {
  const events = await eventsOf(iteration, act);
  return events.flatMap((event) => event.type === "step_finished" ? [event.result] : []);
}

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

Deno.test("concurrent entries that have ended may still warn", async () => {
  const events = await eventsOf("{ list: [1, 2], parallel: 2 }", ({ n }, context) => {
    context.scope.run.resource(`left by ${n}`, () => n, () => context.warn(`stopped ${n}`));
    return OK;
  });
  const notes = events.flatMap((event) => event.type === "note" ? [event.text] : []);
  assertEquals(notes.sort(), ["stopped 1", "stopped 2"]);
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

Deno.test("outputs.<step>.all has the outputs of all entries, in their order", async () => {
  const iterations = [
    ["{ list: [1, 2, 3, 4] }", "1", "[0, 2, 3]"],
    ["{ list: [1, 2, 3, 4], parallel: 4 }", "1", "[0, 2, 3]"],
    ["{ until: iteration_index == 3, max: 9 }", "9", "[0, 1, 2, 3]"],
  ] as const;
  for (const [iteration, skipped, expected] of iterations) {
    const { workflow } = await loadText(`
name: w
jobs:
  - name: a
    id: a
    repeat: { count: 2 }
    steps:
      - id: s
        uses: hello
        skipif: iteration_index == ${skipped}
        outputs: { n: iteration_index, round: repeat_index }
        test: outputs.s.n == iteration_index && outputs.n == iteration_index
        iteration: ${iteration}
      - uses: hello
        test: map(outputs.s.all, .n) == ${expected} && outputs.s.n == 3
  - name: b
    needs: [a]
    steps:
      - uses: hello
        test: map(filter(outputs.s.all, .round == 1), .n) == ${expected} && not ("all" in outputs)
`);
    const states: unknown[] = [];
    const passed = await run(await makePlan(workflow, {}), denoHost(), (event) => {
      if (event.type === "step_finished") states.push(...event.result.failures.map(String));
    });
    assertEquals([iteration, passed, states], [iteration, true, []]);
  }
});

Deno.test("on_failure: stop skips the entries after one that failed, but for cleanup", async () => {
  for (const [parallel, expected] of [[1, "fsssssfp"], [2, "fpssssfp"]] as const) {
    const { workflow } = await loadText(`
name: w
jobs:
  - name: a
    on_failure: stop
    steps:
      - uses: hello
        name: item {{vars.item}}
        with: { n: "{{vars.item}}" }
        iteration: { list: [1, 2, 3, 4, 5], parallel: ${parallel} }
        test: vars.item != 1
      - { uses: hello, name: "later …", iteration: [1, 2] }
    finally:
      - { uses: hello, iteration: [1, 2], test: vars.item != 1 }
`);
    const plan = await makePlan(workflow, {});
    // Of two in parallel, the second goes on until the first has failed.
    const failed = Promise.withResolvers<void>();
    const act: RunAction = async ({ n }) => {
      if (n === 2) await failed.promise;
      return OK;
    };
    const [step] = plan.jobs[0]!.job.steps;
    Object.assign(step!, { action: { ...hello, name: "held", load: () => Promise.resolve(act) } });
    let states = "";
    const names: string[] = [];
    await run(plan, denoHost(), (event) => {
      if (event.type !== "step_finished") return;
      states += event.result.state[0];
      if (event.result.state === "skipped") names.push(event.result.name);
      setTimeout(failed.resolve);
    });
    assertEquals(states, expected, `parallel: ${parallel}`);
    assertEquals(names.slice(-4), ["item 3", "item 4", "item 5", "later …"]);
  }
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

Deno.test("a file in which nothing is written fails the step, and one without rows skips it", async () => {
  const formats = [["csv", "item\n"], ["json", "[]"], ["jsonl", undefined], [
    "yaml",
    "[]",
  ]] as const;
  for (const [format, noRows] of formats) {
    const table = [["", "failed"], ["\n\n", "failed"], [noRows, "skipped"]] as const;
    for (const [text, expected] of table) {
      if (text === undefined) continue;
      await withFiles({ [`rows.${format}`]: text }, async (directory) => {
        const [result] = await resultsOf(`{ file: "${directory}/rows.${format}" }`);
        assertEquals(result?.state, expected, JSON.stringify(text));
        if (expected === "failed") {
          assertStringIncludes(result!.failures[0]!.message, `rows.${format}" is empty`);
        }
      });
    }
  }
});

Deno.test("a list that is empty because its source is nil names the source", async () => {
  const table = [
    ["vars.none", '"iteration" must be a list, not nothing'],
    ["filter(vars.none, true)", "filter() needs a list, got nil"],
    [`json_path(vars.none, "$.a")`, "argument 1 of json_path() must not be nil"],
    ["vars.none ?? []", "the list is empty: vars.none is nil"],
    ["map(vars.none ?? vars.list, .id)", "the list is empty: vars.none is nil"],
    ["filter(vars.list, .id ?? true)", "the list is empty"],
  ] as const;
  for (const [source, expected] of table) {
    const [result] = await resultsOf(`'{{ ${source} }}', vars: { none: null, list: [] }`);
    assertEquals(result?.failures[0]?.message ?? result?.reason, expected);
  }
});

const NAMES = "item\ncafé\nna\ufffdve\n";

Deno.test("rows are UTF-8, or UTF-16 with a byte order mark, and nothing else", async () => {
  const wide = (text: string, isLittle: boolean) =>
    Uint8Array.from([...text].flatMap((one) => {
      const code = one.charCodeAt(0);
      return isLittle ? [code & 255, code >> 8] : [code >> 8, code & 255];
    }));
  const ascii = (text: string) => Uint8Array.from(text, (one) => one.charCodeAt(0));
  const rows = {
    csv: NAMES,
    json: '["café", "na\ufffdve"]',
    jsonl: '"café"\n"na\ufffdve"\n',
    yaml: "- café\n- na\ufffdve\n",
  };
  await withFiles({}, async (directory) => {
    for (const [format, text] of Object.entries(rows)) {
      const path = `${directory}/rows.${format}`;
      const read = async (bytes: Uint8Array) => {
        Deno.writeFileSync(path, bytes);
        const items: unknown[] = [];
        const [result] = await resultsOf(`{ file: "${path}" }`, ({ n }) => (items.push(n), OK));
        return result!.failures[0]?.message.split('": ')[1] ?? items.join(" ");
      };
      for (const marked of [text, `\ufeff${text}`]) {
        assertEquals(await read(new TextEncoder().encode(marked)), "café na\ufffdve", format);
      }
      assertEquals(await read(wide(`\ufeff${text}`, true)), "café na\ufffdve", format);
      assertEquals(await read(wide(`\ufeff${text}`, false)), "café na\ufffdve", format);
      const no = (charset: string, at: number, byte: string) =>
        `it is not ${charset} text: the byte at offset ${at} is 0x${byte}`;
      const at = text.indexOf("é");
      assertEquals(await read(ascii(text.replace("\ufffd", "i"))), no("UTF-8", at, "e9"), format);
      assertEquals(
        await read(ascii(`${text.replace("é", "e")}`.replace("\ufffd", "\0"))),
        no("UTF-8", at + text.slice(at).indexOf("\ufffd"), "00"),
      );
      assertEquals(await read(wide(text, true)), no("UTF-8", 1, "00"), format);
      const halved = wide(`\ufeff${text.replace("é", "\ud800")}`, true);
      assertEquals(await read(halved), no("UTF-16", 2 * at + 2, "00"), format);
    }
  });
});
