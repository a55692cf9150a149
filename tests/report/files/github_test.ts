import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { withRig } from "../../support/run/rig.ts";
import { PLUGIN_PLACE } from "../../support/plugin_place.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { readBuildLog, type WorkflowCommand } from "../../support/run/workflow_commands.ts";
import { HOSTILE_NAMES, hostileWorkflow } from "./hostile_run.ts";
import { RICH_FILES } from "./rich_run.ts";

const FAILING = `name: n
jobs:
  - name: Shop
    steps:
      - { name: "half: 50%, of", uses: hello, test: "1 == 2" }
      - { name: good, uses: hello, test: "true" }
      - { name: refused, uses: http, with: { get: "http://127.0.0.1:1" } }
`;

const ACTIONS = { GITHUB_ACTIONS: "true" };

/** The place and the title of each annotation. */
function positions(commands: readonly WorkflowCommand[]): readonly string[] {
  return commands.map(({ name, properties: { file, line, col, title } }) =>
    `${name} ${file}:${line}:${col} ${title}`
  );
}

Deno.test("failures become annotations at their lines, with all that is known of them", async () => {
  await withFiles({ "w.yml": FAILING }, async (cwd) => {
    for (const [args, env] of [[["--report", "github"], {}], [[], ACTIONS]] as const) {
      const { code, stdout, stderr } = await runMain([...args, "w.yml"], { cwd, env });
      assertEquals([code, stderr], [1, ""]);
      const { commands, lines } = readBuildLog(stdout);
      assertEquals(positions(commands), [
        "error w.yml:5:54 Shop › half: 50%, of",
        "error w.yml:7:32 Shop › refused",
      ]);
      const excerpt = '  5 |       - { name: "half: 50%, of", uses: hello, test: "1 == 2" }\n';
      assertStringIncludes(commands[0]!.message, `w.yml:5:54: test is false\n${excerpt}`);
      assertStringIncludes(lines.join("\n"), "\nJobs       1 failed (1)\n");
      assertMatch(stdout, /^::stop-commands::([\w-]{36})\nn\n[^]*\n::\1::\n::error /);
    }
  });
});

Deno.test("jobs that passed are sections of a log of GitLab", async () => {
  const jobs = "jobs: [{ name: good, steps: [{ uses: hello }] }, " +
    "{ name: bad, steps: [{ uses: hello, test: 1 == 2 }] }]\n";
  await withFiles({ "w.yml": `name: n\n${jobs}` }, async (cwd) => {
    const { stdout } = await runMain(["w.yml"], { cwd, env: { GITLAB_CI: "true" } });
    const plain = stdout.replaceAll("\x1b[0K", "|").replaceAll("\r", "");
    const sections = plain.matchAll(
      /\|section_start:(\d+):(\w+)\[collapsed=true\]\|(.*)\n([^|]*)\|section_end:\1:\2\|\n/g,
    );
    const found = Array.from(sections, ([, , , title, text]) => [title!.split(" ")[1], text]);
    assertEquals(found, [["good", "   1. ○ hello\n"]]);
    assertStringIncludes(stdout, "\n✗ bad ");
  });
});

Deno.test("annotations are off with --no-github and outside of GitHub Actions", async () => {
  await withFiles({ "w.yml": FAILING, "summary.md": "" }, async (cwd) => {
    const summary = { GITHUB_STEP_SUMMARY: `${cwd}/summary.md` };
    for (
      const [args, env] of [[["--no-github"], ACTIONS], [[], { GITHUB_ACTIONS: "false" }]] as const
    ) {
      const { stdout } = await runMain([...args, "w.yml"], { cwd, env: { ...env, ...summary } });
      assert(!stdout.includes("::"), stdout);
      assertEquals(Deno.readTextFileSync(`${cwd}/summary.md`), "");
    }
  });
});

Deno.test("files are named from the root of the repository", async () => {
  await withFiles({ "flows/w.yml": FAILING, "flows/sub/x": "" }, async (root) => {
    const env = { ...ACTIONS, GITHUB_WORKSPACE: root };
    for (
      const [cwd, path, named] of [
        ["flows", "w.yml", "flows/w.yml"],
        ["flows/sub", "../w.yml", "flows/w.yml"],
        ["flows/sub", ".././w.yml", "flows/w.yml"],
        ["flows", `${root}/flows/w.yml`, "flows/w.yml"],
      ] as const
    ) {
      const { stdout } = await runMain([path], { cwd: `${root}/${cwd}`, env });
      assertEquals(readBuildLog(stdout).commands[0]!.properties.file, named);
    }
  });
});

Deno.test("steps of embedded jobs are annotated in their own files, and each failure once", () =>
  withRig((rig) => {
    const files = Object.fromEntries(
      Object.entries(RICH_FILES).map(([name, text]) => [name, text.replaceAll("{url}", rig.url)]),
    );
    return withFiles(files, async (cwd) => {
      const { stdout } = await runMain(["--no-check", "w.yml"], { cwd, env: ACTIONS });
      assertEquals(positions(readBuildLog(stdout).commands).toSorted(), [
        "error jobs/login.yml:8:11 Embeds › login › token",
        "error w.yml:20:15 Orders › wrong",
        "error w.yml:22:15 Orders › refused",
        "error w.yml:37:15 Orders › never good",
        "error w.yml:51:15 Rounds › entry of 2",
        "error w.yml:65:18 Broken",
      ]);
    });
  }));

Deno.test("there are no more annotations than GitHub shows", async () => {
  const steps = (count: number) =>
    Array.from({ length: count }, (_, at) => `{ uses: hello, test: status > ${at} },`).join("");
  for (
    const [count, rest] of [[10, undefined], [11, "1 more failure has"], [
      25,
      "15 more failures have",
    ]] as const
  ) {
    const yaml = `name: n\njobs: [{ name: j, steps: [${steps(count)}] }]\n`;
    await withFiles({ "w.yml": yaml }, async (cwd) => {
      const { stdout } = await runMain(["w.yml"], { cwd, env: ACTIONS });
      const { commands, lines } = readBuildLog(stdout);
      assertEquals(commands.length, 10);
      const reported = lines.find((line) => line.endsWith("no annotation"));
      assertEquals(reported, rest && `${rest} no annotation`);
    });
  }
});

Deno.test("a failure in each round is annotated once, and leaves room for the rest", async () => {
  const yaml = `name: n
jobs:
  - name: rounds
    repeat: { count: 30 }
    steps:
      - { name: odd, uses: hello, test: repeat_index % 2 == 0 }
      - { name: all, uses: hello, test: repeat_index < 0 }
  - { name: after, steps: [{ name: last, uses: hello, test: "false" }] }
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const { stdout } = await runMain(["--jobs", "1", "w.yml"], { cwd, env: ACTIONS });
    const { commands, lines } = readBuildLog(stdout);
    const reported = commands.map(({ properties, message }) =>
      `${properties.line} ${properties.title}: ${message.split("\n")[0]}`
    );
    assertEquals(reported, [
      "6 rounds › odd: failed 15 times, first:",
      "7 rounds › all: failed 30 times, first:",
      "8 after › last: w.yml:8:62: test is false",
    ]);
    assertStringIncludes(commands[1]!.message, "repeat_index is 0 (int)");
    assert(!lines.some((line) => line.endsWith("no annotation")));
  });
});

Deno.test("text from a server or a name is never a workflow command", () =>
  withFiles({ "w.yml": hostileWorkflow() }, async (cwd) => {
    const body = HOSTILE_NAMES.join("\n") + "\n::add-mask::x\n  ::error::y\n##[add-mask]z\n";
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response(body, { headers: { "x-evil": "::error::x" } }),
    );
    const asks = `name: "::error::n"
jobs:
  - name: "::error::j"
    steps:
      - name: "::error::s"
        uses: http
        with: { get: "http://127.0.0.1:${server.addr.port}/" }
        echo: "{{res.body}}"
        test: res.body == ""
      - uses: shell
        with: { cmd: "echo '::error::out'; echo '::error::err' >&2" }
        test: "false"
`;
    await Deno.writeTextFile(`${cwd}/asks.yml`, asks);
    for (const file of ["w.yml", "asks.yml"]) {
      for (const args of [["-v"], [], ["--quiet"], ["--timing"], ["-v", "--report", "json=-"]]) {
        const { stdout, stderr } = await runMain([...args, file], { cwd, env: ACTIONS });
        // Nobody knows in which order the two outputs are read.
        const isReplaced = args.includes("json=-");
        const [first, other] = isReplaced ? [stderr, ""] : [stdout, stderr];
        const { commands } = readBuildLog(first);
        assert(commands.length > 0);
        for (const { name, properties, message } of commands) {
          assertEquals(name, "error");
          assertEquals(Object.keys(properties), ["file", "line", "col", "title"]);
          assertMatch(message, /test is false/);
        }
        assertEquals(readBuildLog(other).commands, []);
        if (isReplaced) JSON.parse(stdout);
      }
    }
    await server.shutdown();
  }));

Deno.test("the summary is added to that of the build", async () => {
  await withFiles({ "w.yml": FAILING, "summary.md": "# Before\n" }, async (cwd) => {
    const env = { ...ACTIONS, GITHUB_STEP_SUMMARY: `${cwd}/summary.md` };
    for (let run = 0; run < 2; run++) await runMain(["w.yml"], { cwd, env });
    const summary = Deno.readTextFileSync(`${cwd}/summary.md`);
    assert(summary.startsWith("# Before\n## ❌ n\n"), summary);
    assertEquals(summary.match(/^## ❌ n$/gm)?.length, 2);
    assertStringIncludes(summary, "| ❌ | Shop | 3 | 2 | 0 |");
  });
});

Deno.test("a summary stays far below the limit of GitHub", async () => {
  const step = {
    uses: "hello",
    with: Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`k${index}`, "é".repeat(1000)]),
    ),
  };
  const steps = Array.from({ length: 50 }, (_, at) => ({ ...step, test: `status > ${at}` }));
  const jobs = [{ name: "j", steps }];
  await withFiles({ "w.yml": JSON.stringify({ name: "n", jobs }) }, async (cwd) => {
    const env = { ...ACTIONS, GITHUB_STEP_SUMMARY: `${cwd}/summary.md` };
    await runMain(["w.yml"], { cwd, env });
    const { size } = Deno.statSync(`${cwd}/summary.md`);
    assert(size > 200_000 && size < 260_000, String(size));
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/summary.md`), "there is more than fits");
  });
});

Deno.test("a summary that cannot be written is an error only where it was asked for", async () => {
  await withFiles({ "w.yml": FAILING.replace("1 == 2", "true"), folder: "" }, async (cwd) => {
    const env = { ...ACTIONS, GITHUB_STEP_SUMMARY: "folder/summary.md" };
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd, env });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "\nTime       ");
    assertEquals(
      stderr,
      "warning: cannot write the report 'folder/summary.md': Not a directory\n",
    );
    const asked = await runMain(["--report", "github", "w.yml"], { cwd, env });
    assertEquals([asked.code, asked.stdout], [1, ""]);
    assertStringIncludes(
      asked.stderr,
      "runner: error: cannot write the report 'folder/summary.md'",
    );
  });
});

Deno.test("errors that prevent a run are annotated, too", async () => {
  const broken =
    "name: n\njobs:\n  - name: j\n    needs: [x]\n    steps: [{ uses: htpp, note: s }]\n";
  await withFiles({ "w.yml": broken }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd, env: ACTIONS });
    assertEquals([code, stdout], [1, ""]);
    const { commands, lines } = readBuildLog(stderr);
    assertEquals(commands.map(({ name, properties, message }) => [name, properties, message]), [
      [
        "error",
        { file: "w.yml", line: "4", col: "13", title: "unknown-need" },
        'unknown job "x" in needs of "j"',
      ],
      [
        "error",
        { file: "w.yml", line: "5", col: "21", title: "unknown-action" },
        'unknown action "htpp"\ndid you mean "http"? ' +
        `(plugins are ${PLUGIN_PLACE})`,
      ],
      [
        "error",
        { file: "w.yml", line: "5", col: "27", title: "unknown-key" },
        'unknown key "note" in a step\na key for notes or anchors begins with "x-"',
      ],
    ]);
    assertStringIncludes(lines.join("\n"), "runner: error: workflow file 'w.yml' has 3 errors");
    const missing = await runMain(["nowhere.yml"], { cwd, env: ACTIONS });
    assertEquals(readBuildLog(missing.stderr).commands, [{
      name: "error",
      properties: { file: "nowhere.yml", title: "file" },
      message: "workflow file 'nowhere.yml' not found",
    }]);
    const off = await runMain(["--no-github", "w.yml"], { cwd, env: ACTIONS });
    assertEquals(readBuildLog(off.stderr).commands, []);
  });
});
