import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runHere } from "../../support/run/run_main.ts";
import {
  FORMATS,
  RUNNER_KEY,
  runSuiteInPieces,
  runWhole,
  withoutTimes,
} from "../../support/run/run_pieces.ts";
import { withFiles } from "../../support/temp_dir.ts";

const SUITE = `name: Nightly
workflows:
  - flows
  - { path: flows/b.yml, vars: { most: 40 }, tags: [extra] }
vars: { user: "{{USER_NAME ?? 'ann'}}" }
setup: [before.yml, signs_in.yml]
teardown: signs_out.yml
`;

const BEFORE = `name: Before
jobs:
  - name: Ready
    steps: [{ name: waits, uses: hello, test: 1 == 1 }]
`;

const SIGNS_IN = `name: Signs in
jobs:
  - name: Session
    steps:
      - name: begins
        id: session
        uses: echo
        with: { message: "session of {{vars.user}}" }
        test: vars.user != "nobody"
        outputs: { token: "'tok-abcdefgh'", who: vars.user }
`;

const SIGNS_OUT = `name: Signs out
jobs:
  - name: Session
    steps:
      - { name: ends, uses: echo, with: { message: "ends {{outputs.session?.who ?? 'nothing'}}" } }
finally:
  - { name: "after {{run.state}}, {{run.failed}} failed", uses: hello }
`;

/** The last job needs the one before it; workflow b fails. */
const flow = (name: string) =>
  `name: Flow ${name}
vars: { most: 20 }
tags: [nightly]
jobs:
  - name: Sees
    id: sees
    steps:
      - name: the session
        uses: hello
        test: outputs.session.token == "tok-abcdefgh" && outputs.session.who == vars.user
  - name: Counts to {{vars.most}}
    needs: [sees]
    steps: [{ name: counts, uses: hello, test: vars.most == 20 }]
  - name: Left out
    skipif: vars.most > 0
    steps: [{ uses: hello }]
finally:
  - { name: cleans, uses: echo, with: { message: "{{run.state}}" } }
`;

const FILES = {
  "suite.yml": SUITE,
  "before.yml": BEFORE,
  "signs_in.yml": SIGNS_IN,
  "signs_out.yml": SIGNS_OUT,
  "flows/a.yml": flow("a"),
  "flows/b.yml": flow("b"),
  "flows/c.yml": flow("c"),
};

Deno.test("a suite in pieces gives the reports of one process", async (test) => {
  const table = [
    { title: "a process for each workflow", suite: "suite.yml" },
    { title: "a process for each shard", suite: "suite.yml", shards: 2 },
    { title: "more shards than workflows", suite: "suite.yml", shards: 5 },
    { title: "setup fails", suite: "suite.yml", env: { USER_NAME: "nobody" } },
    { title: "a directory, without setup", suite: "alone" },
  ];
  for (const { title, suite, shards, env } of table) {
    await test.step(title, async () => {
      const alone = BEFORE.replace("Before", "Alone");
      await withFiles({ ...FILES, "alone/x.yml": alone, "alone/y.yml": alone }, async (cwd) => {
        const whole = await runWhole(suite, { cwd, ...env ? { env } : {} });
        const pieces = await runSuiteInPieces(suite, {
          cwd,
          ...env ? { env } : {},
          ...shards === undefined ? {} : { shards },
        });
        assertEquals([pieces.stderr, pieces.code], ["", whole.code], pieces.stdout);
        assertEquals(whole.code, suite === "alone" ? 0 : 1);
        for (const format of FORMATS) {
          const read = (name: string) =>
            withoutTimes(Deno.readTextFileSync(`${cwd}/${name}.${format}`));
          assertEquals(read("pieces"), read("whole"), format);
        }
      });
    });
  }
});

Deno.test("a workflow that a suite lists twice runs in two processes", async () => {
  const files = {
    "w.yml": "name: W\nvars: { n: 0 }\n" +
      'jobs: [{ name: "job {{vars.n}}", steps: [{ uses: hello, test: vars.n > 0 }] }]\n',
    "suite.yml": "workflows: [{ path: w.yml, vars: { n: 1 } }, { path: w.yml, vars: { n: 2 } }]\n",
  };
  await withFiles(files, async (cwd) => {
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHere(args, { cwd });
      return `${code} ${stdout}${stderr}`;
    };
    await run("prepare", "suite.yml", "--out", "run.json");
    const piece = ["suite.yml", "--run", "run.json", "--report"];
    for (
      const choices of [["--shard=1/2", "--shard=2/2"], ["--only=w.yml (1)", "--only=w.yml (2)"]]
    ) {
      for (const [at, choice] of choices.entries()) {
        await run(...piece, `ndjson=${at}.ndjson`, choice);
      }
      const merged = await run("report", "merge", "run.json", "0.ndjson", "1.ndjson");
      assertMatch(
        merged,
        /^0 ✓ W .*\n✓ W .*\n\nWorkflows {2}2 passed \(2\)\nSteps {6}.*\(2\)\nTime .*\n$/,
      );
    }
    assertStringIncludes(await run("export", "gitlab", "suite.yml"), "--only 'w.yml (2)'");
    const argo = await run("export", "argo", "suite.yml", "--image", "x");
    assertStringIncludes(argo, "/flow/w.yml (2)");
  });
});

interface SuiteRun {
  readonly cwd: string;
  readonly run: (...args: string[]) => Promise<string>;
  readonly piece: (share: string, ...args: string[]) => Promise<string>;
  readonly merge: () => Promise<string>;
}

/** A prepared run of the suite after setup, the workflows a and c and teardown. */
async function withSuiteRun(use: (run: SuiteRun) => Promise<void>): Promise<void> {
  await withFiles(FILES, async (cwd) => {
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHere(args, { cwd, env: { RUNNER_KEY } });
      return `${code}\n${args[0] === "report" ? stdout : ""}${stderr}`;
    };
    const piece = (share: string, ...args: string[]) =>
      run(
        ...["suite.yml", "--run", "R/run.json", "--inputs", "R", ...args],
        ...["--outputs", `R/${share}/outputs.json`, "--report", `ndjson=R/${share}.ndjson`],
      );
    Deno.mkdirSync(`${cwd}/R`);
    assertEquals(await run("prepare", "suite.yml", "--out", "R/run.json", "--id", "r1"), "0\n");
    await piece("setup", "--setup");
    await piece("a", "--only", "flows/a.yml");
    await piece("c", "--only", "flows/c.yml");
    await piece("teardown", "--teardown");
    await use({ cwd, run, piece, merge: () => run("report", "merge", "R/run.json", "R") });
  });
}

Deno.test("workflows of a suite that are lost fail, and the others count", async () => {
  await withSuiteRun(async ({ cwd, piece, merge }) => {
    const lost = await merge();
    assertEquals(lost.startsWith("1\n"), true);
    assertStringIncludes(
      lost,
      "no piece of this job came back: its machine was lost, or it never started",
    );
    assertStringIncludes(lost, "2 passed · 1 failed (3)");
    await piece("b", "--only", "flows/b.yml");
    const path = `${cwd}/R/b.ndjson`;
    const lines = Deno.readTextFileSync(path).split("\n");
    for (const [type, keeps] of [["run_started", 1], ["job_started", 3], ["run_finished", 0]]) {
      const at = lines.findIndex((line) => line.includes(`"type":"${type}"`));
      Deno.writeTextFileSync(path, lines.slice(0, at + Number(keeps)).join("\n") + "\n");
      const torn = await merge();
      assertStringIncludes(
        torn,
        type === "run_finished"
          ? "\nWorkflows  2 passed · 1 failed (3)\n"
          : "'R/b.ndjson' ends in the middle",
      );
      assertEquals(torn.startsWith("1\n"), true);
    }
  });
});

Deno.test("a workflow that has passed before its machine was lost has not passed", async () => {
  await withSuiteRun(async ({ cwd, piece, merge }) => {
    await piece("b", "--only", "flows/b.yml");
    const path = `${cwd}/R/c.ndjson`;
    const lines = Deno.readTextFileSync(path).split("\n");
    const at = lines.findIndex((line) => line.includes('"type":"run_finished"'));
    Deno.writeTextFileSync(path, lines.slice(0, at).join("\n") + "\n");
    const merged = await merge();
    assertStringIncludes(merged, "its machine was lost");
    assertStringIncludes(merged, "1 passed · 2 failed (3)");
  });
});

Deno.test("a process whose workflows are not started because setup failed has failed", async () => {
  await withSuiteRun(async ({ cwd, piece }) => {
    const path = `${cwd}/R/setup/outputs.json`;
    const outputs = JSON.parse(Deno.readTextFileSync(path));
    outputs.jobs["setup: before.yml"].state = "failed";
    Deno.writeTextFileSync(path, JSON.stringify(outputs));
    for (const choice of ["--only=flows/a.yml", "--shard=1/3"]) {
      assertEquals(await piece("late", choice), "1\n");
      const last = Deno.readTextFileSync(`${cwd}/R/late.ndjson`).trim().split("\n").at(-1)!;
      const { type, state, workflows } = JSON.parse(last);
      assertEquals(
        { type, state, workflows },
        {
          type: "suite_finished",
          state: "failed",
          workflows: { passed: 0, failed: 0, skipped: 1 },
        },
      );
    }
    assertStringIncludes(
      await piece("last", "--teardown"),
      "0\nwarning: 'flows/a.yml' was run more than once: the newest outputs count",
    );
  });
});

Deno.test("a workflow that was not started is missing, although what held it back passed later", async () => {
  await withSuiteRun(async ({ cwd, piece, merge }) => {
    const path = `${cwd}/R/setup/outputs.json`;
    const outputs = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(path, outputs.replace('"passed"', '"failed"'));
    assertEquals(await piece("c", "--only=flows/c.yml"), "1\n");
    // Setup has passed by now, but the workflow was not repeated.
    const merged = await merge();
    assertStringIncludes(merged, "\nReason     'flows/c.yml' was not started: setup failed\n");
    assertEquals(merged.startsWith("1\n"), true, merged);
    Deno.writeTextFileSync(path, outputs);
    await piece("again", "--only=flows/c.yml");
    assertEquals((await merge()).includes("was not started"), false);
  });
});

Deno.test("of two processes of a workflow the newest counts", async () => {
  await withSuiteRun(async ({ piece, merge }) => {
    await piece("b", "--only", "flows/b.yml");
    await piece("again", "--only", "flows/a.yml");
    const merged = await merge();
    assertStringIncludes(
      merged,
      "'flows/a.yml' was run more than once: 'R/again.ndjson' counts, 'R/a.ndjson' does not",
    );
    assertStringIncludes(merged, "2 passed · 1 failed (3)");
  });
});

Deno.test("files of a suite that do not belong together are refused", async () => {
  await withSuiteRun(async ({ cwd, run, piece, merge }) => {
    const a = ["suite.yml", "--run", "R/run.json", "--only", "flows/a.yml"];
    assertEquals(
      await run(...a),
      "1\nrunner: error: no --inputs have the outputs of setup\n" +
        "  give the file that setup wrote: " +
        "runner suite.yml --run FILE --setup --outputs FILE\n",
    );
    assertStringIncludes(
      await run("flows", ...a.slice(1)),
      "'flows' is not the suite that 'R/run.json' was made of\n  it was made of 'suite.yml'",
    );
    const { stderr } = await runHere([...a, "--inputs", "R"], {
      cwd,
      env: { RUNNER_KEY: RUNNER_KEY.replace("0", "9") },
    });
    assertStringIncludes(stderr, "the sealed values of 'R/setup/outputs.json' cannot be opened");
    Deno.writeTextFileSync(`${cwd}/flows/a.yml`, `${flow("a")}# edited\n`);
    assertStringIncludes(
      await piece("a", "--only", "flows/a.yml"),
      "'flows/a.yml' is not the workflow that 'R/run.json' was made of\n  its files have the hash",
    );
    assertStringIncludes(
      await run("report", "merge", "R"),
      "is of one process of a run, and the run file is missing\n  name the file that",
    );
    await run("prepare", "suite.yml", "--out", "R/run.json", "--id", "r1");
    assertStringIncludes(await merge(), ".ndjson' was made with another version of the files");
    await run("prepare", "suite.yml", "--out", "R/run.json", "--id", "r2");
    assertStringIncludes(
      await piece("a", "--only", "flows/a.yml"),
      "outputs.json' is of another run\n  it is of r1, not of r2",
    );
    assertStringIncludes(await merge(), ".ndjson' is of another run");
    for (
      const [change, message] of [
        ['"operands": 1', '"operands" is not a list'],
        ['"vars": 1', '"vars" is not a list'],
        ['"vars": []', '"vars" of entry 1 of "workflows" are missing'],
        ['"workflows": [1]', 'entry 1 of "workflows" is not a map'],
        ['"workflows": [{"index": "a"}]', '"index" of entry 1 of "workflows" is not a number'],
      ] as const
    ) {
      const text = Deno.readTextFileSync(`${cwd}/R/run.json`).trimEnd().replace(/\}$/, "");
      Deno.writeTextFileSync(`${cwd}/other.json`, `${text}, ${change}}`);
      assertStringIncludes(
        await run("suite.yml", "--run", "other.json", "--only", "flows/a.yml", "--inputs", "R"),
        message,
      );
    }
  });
});

Deno.test("teardown runs although the machine of setup was lost", async () => {
  await withSuiteRun(async ({ cwd, piece }) => {
    Deno.removeSync(`${cwd}/R/setup/outputs.json`);
    const said = await piece("teardown", "--teardown");
    assertStringIncludes(
      said,
      "no --inputs say what became of 'setup: before.yml': its machine was lost",
    );
    assertEquals(said.startsWith("0\n"), true);
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/R/teardown.ndjson`), "ends nothing");
  });
});

Deno.test("options that a run of a suite does not have are refused", async () => {
  await withSuiteRun(async ({ cwd, run }) => {
    Deno.writeTextFileSync(`${cwd}/one.yml`, BEFORE);
    await run("prepare", "one.yml", "--out", "one.json");
    const piece = ["suite.yml", "--run", "R/run.json"];
    const table: readonly (readonly [args: readonly string[], message: string])[] = [
      [["suite.yml", "--setup"], "option --setup requires --run"],
      [
        ["one.yml", "--run", "one.json", "--setup"],
        "option --setup is for several workflows, and 'one.yml' is one",
      ],
      [piece, "option --run requires --setup, --only, --shard or --teardown for a suite"],
      [[...piece, "--setup", "--teardown"], "options --setup and --teardown cannot be combined"],
      [[...piece, "--only", "flows/a.yml", "--var", "a=1"], "options --var and --run cannot be"],
      [
        [...piece, "--only", "flows/a.yml", "--rounds", "1/2"],
        "option --rounds is for one workflow, and 'suite.yml' is a suite",
      ],
      [[...piece, "--only", "flows/a.yaml"], 'the suite has no workflow "flows/a.yaml"\n  did you'],
      [[...piece, "--shard", "3/2"], "option --shard must be a number and a count"],
      [
        ["prepare", "suite.yml", "--out", "x", "--start-in", "1s"],
        "option --start-in is for one workflow",
      ],
      [["prepare", "suite.yml", "--out", "x", "--only", "nope"], 'unknown job "nope"'],
    ];
    for (const [args, message] of table) {
      const said = await run(...args);
      assertEquals(said.startsWith("1\nrunner: error: "), true, said);
      assertStringIncludes(said, message);
    }
    Deno.writeTextFileSync(`${cwd}/flows/b.yml`, "name: b\njobs: 1\n");
    assertStringIncludes(await run("prepare", "suite.yml", "--out", "x"), "flows/b.yml");
  });
});

Deno.test("secret vars of a suite are sealed, and an error without a key names their file", async () => {
  const files = {
    ...FILES,
    "suite.yml": SUITE.replace("vars: { user", 'vars: { api_token: "very-secret-1", user'),
  };
  await withFiles(files, async (cwd) => {
    const prepare = ["prepare", "suite.yml", "--out", "run.json"];
    const { stderr } = await runHere(prepare, { cwd });
    assertStringIncludes(stderr, "plain text: before.yml: api_token, signs_in.yml: api_token, ");
    assertEquals((await runHere(prepare, { cwd, env: { RUNNER_KEY } })).code, 0);
    assertEquals(Deno.readTextFileSync(`${cwd}/run.json`).includes("very-secret"), false);
  });
});
