import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withRig } from "../support/run/rig.ts";
import { withFiles } from "../support/temp_dir.ts";
import { runLine, type Tmux, withTmux } from "../support/run/tmux.ts";

const SIGN = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

const ended = (screen: string) => /^end \d/m.test(screen);

/** Nothing of what was drawn for a while is left, and the cursor is back. */
async function assertLeftAlone(tmux: Tmux): Promise<string> {
  const history = await tmux.history();
  assert(!SIGN.test(history), history);
  assert(!history.includes("^C"), history);
  assert(!/jobs done|more jobs/.test(history), history);
  assert(await tmux.isCursorVisible());
  return history;
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** One job with these steps. */
function flow(...steps: readonly string[]): string {
  return `name: n\njobs:\n  - name: job\n    steps:\n${
    steps.map((step) => `      - ${step}\n`).join("")
  }`;
}

for (const columns of [80, 20]) {
  Deno.test(`the spinner shows what runs and leaves the report alone, ${columns} columns`, async () => {
    await withRig((rig) => {
      const step =
        `{name: held back, uses: http, with: {get: "${rig.url}/meet/x/2"}, test: res.code == 200}`;
      return withFiles(
        { "w.yml": flow(step) },
        (directory) =>
          withTmux({ columns }, async (tmux) => {
            await tmux.type(runLine(directory, "w.yml"), "Enter");
            await tmux.until((screen) => /held back/.test(screen) && !/✓/.test(screen));
            assert(!await tmux.isCursorVisible());
            await fetch(`${rig.url}/meet/x/2`);
            const screen = await tmux.until((screen) => /end 0/.test(screen));
            assertStringIncludes(screen, "✓ held back");
            assertEquals(occurrences(await assertLeftAlone(tmux), "held back"), 1, screen);
          }),
      );
    });
  });
}

const endless: readonly (readonly [what: string, step: string, shown: RegExp])[] = [
  ["a command", "{name: long, uses: shell, with: {cmd: sleep 1000}}", /long {2}\d/],
  ["a wait", "{name: long, uses: hello, wait: 1000s}", /waits 99\d\.\ds/],
  [
    "a wait between attempts",
    '{name: long, uses: hello, test: "false", retry: {max_attempts: 5, interval: 1000s}}',
    /↻ 2\/5 {2}tries again in 99\d\.\ds/,
  ],
];
for (const [what, step, shown] of endless) {
  Deno.test(`Ctrl-C during ${what} ends a run with its report and gives the cursor back`, async () => {
    await withFiles(
      { "w.yml": flow(step) },
      (directory) =>
        withTmux({ columns: 80 }, async (tmux) => {
          await tmux.type(runLine(directory, "w.yml"), "Enter");
          await tmux.until((screen) => shown.test(screen));
          await tmux.type("C-c");
          const screen = await tmux.until(ended);
          assertStringIncludes(screen, "end 1");
          assertStringIncludes(screen, "Reason     interrupted by SIGINT");
          await assertLeftAlone(tmux);
        }),
    );
  });
}

Deno.test("Ctrl-C leaves nothing on a terminal of 20 columns", async () => {
  const files = { "w.yml": flow("{name: a rather long name, uses: hello, wait: 1000s}") };
  await withFiles(files, (directory) =>
    withTmux({ columns: 20 }, async (tmux) => {
      await tmux.type(runLine(directory, "w.yml"), "Enter");
      await tmux.until((screen) => SIGN.test(screen));
      await tmux.type("C-c");
      await tmux.until(ended);
      await assertLeftAlone(tmux);
    }));
});

Deno.test("a resize during a run leaves nothing behind, narrower or wider, lower or higher", async () => {
  await withRig((rig) => {
    const held = (name: string, meeting: string) =>
      `{name: ${name} ${
        "with a long name ".repeat(4)
      }, uses: http, with: {get: "${rig.url}/meet/${meeting}/2"}}`;
    const workflow = flow(held("first", "a"), held("second", "b"), held("third", "c")) +
      flow(held("beside", "d")).split("jobs:\n")[1]!.replace("job\n", "other\n");
    return withFiles(
      { "w.yml": workflow },
      (directory) =>
        withTmux({ columns: 100 }, async (tmux) => {
          // On a full screen nothing of what is drawn scrolls away when its lines are wrapped.
          await tmux.type(runLine(directory, "w.yml").replace("clear", "seq 99"), "Enter");
          await tmux.until((screen) => /› first.*› beside/s.test(screen));
          let seconds = 0;
          for (const [columns, rows, meeting, next] of SIZES) {
            // For a while tmux does not report a size that it has changed twice.
            seconds = await laterThan(tmux, seconds + 0.5);
            await tmux.resize(columns, rows);
            seconds = await laterThan(tmux, seconds + 0.2);
            await fetch(`${rig.url}/meet/${meeting}/2`);
            await tmux.until((screen) => screen.includes(next));
          }
          await laterThan(tmux, seconds + 0.5);
          await tmux.resize(100, 30);
          await fetch(`${rig.url}/meet/d/2`);
          await tmux.until(ended);
          const history = await assertLeftAlone(tmux);
          for (const name of ["first", "second", "third", "beside"]) {
            assertEquals(occurrences(history, `${name} with a long name`), 1, history);
          }
        }),
    );
  });
});

/** Columns and rows, who is let go then, and who is shown next. */
const SIZES: readonly (readonly [number, number, meeting: string, next: string])[] = [
  [40, 30, "a", "› second"],
  [25, 8, "b", "third"],
  [120, 20, "c", "1 of 2 done"],
];

/** Waits until the last of the live lines with a time has one above that; returns its time. */
async function laterThan(tmux: Tmux, seconds: number): Promise<number> {
  const timeOf = (screen: string) => Number(/^.*[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] .* (\d+\.\d)s/s.exec(screen)?.[1]);
  return timeOf(await tmux.until((screen) => timeOf(screen) > seconds));
}

function signs(screen: string): number {
  return screen.split("\n").filter((line) => SIGN.test(line)).length;
}

Deno.test("30 jobs at once on 10 rows are counted, and each is reported once", async () => {
  await withRig((rig) => {
    const names = Array.from({ length: 30 }, (_, at) => `job-${String(at).padStart(2, "0")}`);
    const jobs = names.map((name) =>
      `  - {name: ${name}, steps: [{name: step, uses: http, with: {get: "${rig.url}/meet/x/31"}}]}\n`
    );
    return withFiles(
      { "w.yml": `name: n\njobs:\n${jobs.join("")}` },
      (directory) =>
        withTmux({ columns: 60, rows: 10 }, async (tmux) => {
          await tmux.type(runLine(directory, "w.yml"), "Enter");
          const screen = await tmux.until((screen) => /more jobs/.test(screen));
          assertStringIncludes(screen, "  … and 22 more jobs, 0 of 30 done");
          assertEquals(signs(screen), 8, screen);
          await fetch(`${rig.url}/meet/x/31`);
          await tmux.until(ended);
          const history = await assertLeftAlone(tmux);
          for (const name of names) assertEquals(occurrences(history, `✓ ${name} `), 1, history);
          assertEquals(occurrences(history, "○ step"), 30, history);
        }),
    );
  });
});

Deno.test("the spinner shows the step of an embedded job, and leaves its lines alone", async () => {
  await withRig((rig) => {
    const files = {
      "w.yml": flow("{name: around, uses: embedded, with: {path: job.yml}}"),
      "job.yml": `name: inner
steps:
  - {name: before, uses: hello}
  - {name: inside, uses: http, with: {get: "${rig.url}/meet/x/2"}}
`,
    };
    return withFiles(files, (directory) =>
      withTmux({ columns: 60 }, async (tmux) => {
        await tmux.type(runLine(directory, "w.yml"), "Enter");
        await tmux.until((screen) => /job › around › inside {2}\d/.test(screen));
        await fetch(`${rig.url}/meet/x/2`);
        await tmux.until(ended);
        const history = await assertLeftAlone(tmux);
        for (const name of ["around", "before", "inside"]) {
          assertEquals(occurrences(history, name), 1, history);
        }
      }));
  });
});

Deno.test("the spinner is always below the report, with nothing but the steps that are over below it", async () => {
  const steps = Array.from(
    { length: 40 },
    (_, at) => `{name: step-${at}-end, uses: shell, with: {cmd: sleep 0.02}, test: status == 0}`,
  );
  await withFiles(
    { "w.yml": flow(...steps) },
    (directory) =>
      withTmux({ columns: 60, rows: 12 }, async (tmux) => {
        await tmux.type(runLine(directory, "w.yml"), "Enter");
        await tmux.until((screen) => SIGN.test(screen));
        for (let screen = ""; !ended(screen); screen = await tmux.screen()) {
          const lines = screen.trimEnd().split("\n");
          assert(signs(screen) <= 1, screen);
          const at = lines.findIndex((line) => SIGN.test(line));
          const below = at < 0 ? [] : lines.slice(at + 1);
          assert(below.every((line) => /^ +\d+\. ✓ step-\d+-end$/.test(line)), screen);
        }
        const history = await assertLeftAlone(tmux);
        for (let at = 0; at < 40; at++) {
          assertEquals(occurrences(history, `step-${at}-end`), 1, history);
        }
      }),
  );
});

Deno.test("the spinner counts the rounds of a repeat, and how many there are a second", async () => {
  const workflow = `name: n
jobs:
  - name: load
    repeat: {count: 500}
    steps:
      - {name: ping, uses: shell, with: {cmd: sleep 0.01}}
`;
  await withFiles({ "w.yml": workflow }, (directory) =>
    withTmux({ columns: 80 }, async (tmux) => {
      await tmux.type(runLine(directory, "w.yml"), "Enter");
      await tmux.until((screen) => /load.* {2}\d+\/500 rounds {2}\d+\.\d\/s/.test(screen));
      await tmux.type("C-c");
      assertStringIncludes(await tmux.until(ended), "Reason     interrupted by SIGINT");
      await assertLeftAlone(tmux);
    }));
});

Deno.test("--quiet draws nothing on a terminal", async () => {
  await withRig((rig) =>
    withFiles(
      { "w.yml": flow(`{name: held back, uses: http, with: {get: "${rig.url}/meet/x/2"}}`) },
      (directory) =>
        withTmux({ columns: 80 }, async (tmux) => {
          await tmux.type(runLine(directory, "-q w.yml"), "Enter");
          await rig.untilSeen("/meet/x/2");
          const screen = await tmux.screen();
          assertEquals(screen.trim(), "");
          await fetch(`${rig.url}/meet/x/2`);
          const lines = (await tmux.until(ended)).split("\n");
          assertEquals([lines[0], lines[4]], ["✓ n", "end 0"]);
        }),
    )
  );
});

Deno.test("--pause-on-failure reads answers from the terminal, and Ctrl-C stops the run", async () => {
  await withFiles(
    { "w.yml": flow('{name: look, uses: shell, with: {cmd: "exit 3"}, test: res.code == 0}') },
    (directory) =>
      withTmux({ columns: 80 }, async (tmux) => {
        await tmux.type(runLine(directory, "--pause-on-failure w.yml"), "Enter");
        await tmux.until((screen) => /^failed>/m.test(screen));
        await tmux.type("res.code + 1", "Enter");
        await tmux.until((screen) => /^4$/m.test(screen));
        await tmux.type("C-c");
        const screen = await tmux.until(ended);
        assertStringIncludes(screen, "end 1");
        assertStringIncludes(screen, "✗ look");
      }),
  );
});
