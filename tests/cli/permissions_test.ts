import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../support/assert_no_trace.ts";
import { withRig } from "../support/run/rig.ts";
import { BUILT, type CliResult, programEnv, runCli } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { runNarrowed } from "../support/run/run_narrowed.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

const WINDOWS = Deno.build.os === "windows";

/** A workflow of one job with these steps. */
function flow(...steps: readonly string[]): string {
  return `name: n\njobs:\n- name: j\n  steps:\n${steps.map((step) => `  - ${step}\n`).join("")}`;
}

/** Runs `w.yml` among files; what it printed has no line ends inside of messages. */
async function runner(
  options: readonly string[],
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  after: (directory: string) => Promise<void> = () => Promise.resolve(),
): Promise<CliResult> {
  return await withFiles(files, async (cwd) => {
    const result = await runMain(["w.yml", ...options], { cwd, env });
    assertNoTrace(result);
    await after(cwd);
    return result;
  });
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

const get = (url: string) => `{uses: http, with: {get: "${url}"}, test: res.code == 200}`;

Deno.test("--allow-net lets http steps reach the hosts that it names, and no others", async (test) => {
  const table: [option: string, isReached: boolean][] = [
    ["127.0.0.1", true],
    ["127.0.0.1:PORT", true],
    ["example.com,127.0.0.1", true],
    ["example.com, 127.0.0.1:PORT", true],
    ["127.0.0.1:1", false],
    ["localhost", false],
    ["*.0.1.example", false],
    ["none", false],
  ];
  for (const [option, isReached] of table) {
    await test.step(option, () =>
      withRig(async (rig) => {
        const { port } = new URL(rig.url);
        const value = option.replace("PORT", port);
        const result = await runner([`--allow-net=${value}`], { "w.yml": flow(get(rig.url)) });
        assertEquals([result.code, rig.seen], isReached ? [0, ["/"]] : [1, []], result.stdout);
        if (isReached) return;
        assertStringIncludes(
          result.stdout,
          `cannot send GET "${rig.url}/": --allow-net does not name 127.0.0.1 port ${port}\n`,
        );
        assertStringIncludes(result.stdout, `allow it with --allow-net=127.0.0.1:${port}\n`);
      }));
  }
});

Deno.test("a redirect to a host that is not named is not followed", async () => {
  const seen: string[] = [];
  await using server = withServer((request) => {
    const { host, pathname, port } = new URL(request.url);
    seen.push(`${host.replace(port, "PORT")}${pathname}`);
    const next =
      { "/1": `http://127.0.0.1:${port}/2`, "/2": `http://localhost:${port}/3` }[pathname];
    return next ? new Response("", { status: 302, headers: { Location: next } }) : new Response("");
  });
  const files = {
    "w.yml": flow(get(`${server.url}/1`), `{uses: embedded, with: {path: job.yml}}`),
    "job.yml": `name: inside\nsteps:\n  - ${get(`${server.url}/1`)}\n`,
  };
  const refused = await runner(["--allow-net=127.0.0.1"], files);
  const first = ["127.0.0.1:PORT/1", "127.0.0.1:PORT/2"];
  assertEquals([refused.code, seen], [1, [...first, ...first]], refused.stdout);
  const reported = `cannot follow the redirect of GET "${server.url}/2" to ` +
    `"http://localhost:${server.port}/3": --allow-net does not name localhost port ${server.port}\n`;
  // At its step, in the line of the other one, and once in the list of failures.
  assertEquals(refused.stdout.split(reported.trimEnd()).length - 1, 3, refused.stdout);

  seen.length = 0;
  const allowed = await runner(["--allow-net=127.0.0.1", "--allow-net", "localhost"], files);
  const all = [...first, "localhost:PORT/3"];
  assertEquals([allowed.code, seen], [0, [...all, ...all]], allowed.stdout);
});

Deno.test("a redirect is bound however it writes where it leads", async (test) => {
  const seen: string[] = [];
  await using server = withServer((request) => {
    const { hostname, searchParams } = new URL(request.url);
    seen.push(hostname);
    const to = searchParams.get("to");
    return to ? new Response("", { status: 307, headers: { Location: to } }) : new Response("");
  });
  const { port, url } = server;
  const table: [location: string, isFollowed: boolean][] = [
    [`//localhost:${port}/`, false],
    [`\\\\localhost:${port}/`, false],
    [`http:\\\\localhost:${port}/`, false],
    [`\t//localhost:${port}/`, false],
    [`http://127.0.0.1:${port}@localhost:${port}/`, false],
    [`http://[::ffff:127.0.0.1]:${port}/`, false],
    [`http://0:${port}/`, false],
    ["ftp://127.0.0.1/", false],
    [`//127.0.0.1:${port}/`, true],
    [`http://localhost@127.1:${port}/`, true],
    [`http://2130706433:${port}/`, true],
    [`localhost:${port}`, false],
    [`./localhost:${port}`, true],
  ];
  for (const [location, isFollowed] of table) {
    await test.step(location.replaceAll(String(port), "PORT"), async () => {
      seen.length = 0;
      const step = get(`${url}/?to=${encodeURIComponent(location)}`);
      const { code, stdout } = await runner(["--allow-net=127.0.0.1"], { "w.yml": flow(step) });
      const followed = isFollowed ? ["127.0.0.1"] : [];
      assertEquals([code, seen], [isFollowed ? 0 : 1, ["127.0.0.1", ...followed]], stdout);
    });
  }
});

Deno.test("every attempt and every round is refused, and a test does not see an answer", async () => {
  await withRig(async (rig) => {
    const step = `{uses: http, with: {get: "${rig.url}"}, test: "true", ` +
      "retry: {max_attempts: 3, interval: 1ms}}";
    const yaml = flow(step).replace("steps:", "repeat: {count: 2}\n  steps:");
    const result = await runner(["--allow-net=none"], { "w.yml": yaml });
    assertEquals([result.code, rig.seen], [1, []]);
    assertStringIncludes(result.stdout, "--allow-net does not name 127.0.0.1");
  });
});

const TOUCH = "cmd: 'echo ran > ran.txt'";

Deno.test({
  name: "with any of the options a shell step needs its shell among --allow-run",
  ignore: WINDOWS,
  async fn(test) {
    const table: [options: string[], step: string, isRun: boolean][] = [
      [[], "", true],
      [["--allow-net=example.com"], "", false],
      [["--allow-read=."], "", false],
      [["--allow-write=."], "", false],
      [["--no-shell"], "", false],
      [["--no-shell", "--allow-run=/bin/sh"], "", false],
      [["--allow-run=none"], "", false],
      [["--allow-run=/bin/sh"], "", true],
      [["--allow-run=sh"], "", true],
      [["--allow-run=cat,sh", "--allow-net=example.com"], "", true],
      [["--allow-run=cat", "--allow-run=sh"], "", true],
      [["--allow-run=/bin/../bin/sh"], "shell: sh", true],
      [["--allow-run=cat"], "", false],
      [["--allow-run=bash"], "", false],
      [["--allow-run=/bin/sh"], "shell: bash", false],
      [["--allow-run=sh"], "shell: ./sh", false],
      [["--allow-run=sh"], "shell: sh, workdir: own, env: {PATH: .}", false],
      [["--allow-run=sh"], 'shell: sh, env: {PATH: "own:/usr/bin:/bin"}', false],
      [["--allow-run=own/sh"], "shell: own/sh", true],
      [["--allow-run=own/sh"], "shell: ./sh, workdir: own", true],
      [["--allow-run=link"], "shell: ./link", false],
      [["--allow-run=./link"], "shell: ./link", true],
      [["--allow-run=/bin/sh"], "shell: ./link", false],
    ];
    for (const [options, flags, isRun] of table) {
      await test.step(`${options.join(" ")} ${flags}`, () =>
        withFiles({}, async (cwd) => {
          const params = [TOUCH, flags].filter((text) => text !== "").join(", ");
          await Deno.writeTextFile(`${cwd}/w.yml`, flow(`{uses: shell, with: {${params}}}`));
          await Deno.mkdir(`${cwd}/own`);
          for (const path of ["sh", "own/sh"]) {
            await Deno.writeTextFile(`${cwd}/${path}`, '#!/bin/sh\nexec /bin/sh "$@"\n');
            await Deno.chmod(`${cwd}/${path}`, 0o755);
          }
          await Deno.symlink("/bin/sh", `${cwd}/link`);
          const result = await runMain(["w.yml", ...options], { cwd });
          const hasRun = await exists(`${cwd}/ran.txt`) || await exists(`${cwd}/own/ran.txt`);
          assertEquals([hasRun, result.code], [isRun, isRun ? 0 : 1], result.stdout);
          if (isRun) return;
          const option = options.includes("--no-shell") ? "--no-shell" : "--allow-run";
          assertMatch(result.stdout, new RegExp(`cannot run the command: ${option} \\w`));
        }));
    }
  },
});

Deno.test({
  name: "what an allowed shell starts is bound by nothing",
  ignore: WINDOWS,
  async fn() {
    const yaml = flow(
      "{uses: shell, with: {cmd: 'cat /etc/passwd | wc -l'}, test: int(trim(res.stdout)) > 0}",
    );
    const result = await runner(["--allow-run=sh", "--allow-read=none"], { "w.yml": yaml });
    assertEquals(result.code, 0, result.stdout);
  },
});

Deno.test({
  name: "with any of the options a plugin has to be among --allow-run, or its code does not run",
  ignore: WINDOWS,
  async fn(test) {
    const table: [options: string[], runs: string][] = [
      [[], "module,program"],
      [["--allow-net=example.com"], ""],
      [["--allow-run=sh"], ""],
      [["--allow-run=runner-program"], "program"],
      [["--allow-run=runner-module"], "module"],
      [["--allow-run=plugins/runner-module.ts"], "module"],
      [["--allow-run=./plugins/runner-program,runner-module", "--no-shell"], "module,program"],
      [["--allow-run=/plugins/runner-program"], ""],
    ];
    for (const [options, runs] of table) {
      await test.step(options.join(" "), () =>
        withFiles({
          "w.yml": flow("uses: module", "uses: program"),
          "plugins/runner-program": "#!/bin/sh\n: > program.txt\necho '{\"status\": 0}'\n",
          "plugins/runner-module.ts": 'Deno.writeTextFileSync("module.txt", "");\n' +
            'export default ({ action }: any) => action({ name: "module", summary: "s", ' +
            "run: () => ({ res: {} }) });\n",
        }, async (cwd) => {
          await Deno.chmod(`${cwd}/plugins/runner-program`, 0o755);
          const result = await runCli(["w.yml", ...options], {
            cwd,
            env: { RUNNER_PLUGIN_DIR: "plugins" },
          });
          assertNoTrace(result);
          const names = ["module", "program"];
          const ran: string[] = [];
          for (const name of names) if (await exists(`${cwd}/${name}.txt`)) ran.push(name);
          assertEquals([ran.join(), result.code], [runs, runs === names.join() ? 0 : 1]);
          for (const name of names.filter((name) => !ran.includes(name))) {
            const refusal =
              `cannot run the plugin "${name}": --allow-run does not name the plugin "runner-${name}`;
            assertStringIncludes(result.stdout, refusal);
          }
        }));
    }
  },
});

Deno.test({
  name: "--allow-read binds the job files that steps name, wherever their paths lead",
  ignore: WINDOWS,
  async fn(test) {
    const table: [options: string[], path: string, isRead: boolean][] = [
      [["--allow-net=none"], "other/job.yml", true],
      [["--allow-read=jobs"], "jobs/job.yml", true],
      [["--allow-read=jobs/job.yml"], "jobs/job.yml", true],
      [["--allow-read=other,jobs"], "jobs/job.yml", true],
      [["--allow-read=jobs"], "jobs/../jobs/job.yml", true],
      [["--allow-read=jobs"], "other/job.yml", false],
      [["--allow-read=jobs"], "jobs/../other/job.yml", false],
      [["--allow-read=jobs"], "jobs/link.yml", false],
      [["--allow-read=jobs"], "jobs/folder/job.yml", false],
      [["--allow-read=jobs"], "/proc/self/cwd/other/job.yml", false],
      [["--allow-read=jobs/link.yml"], "jobs/link.yml", true],
      [["--allow-read=job"], "jobs/job.yml", false],
      [["--allow-read=none"], "jobs/job.yml", false],
      [["--allow-read=jobs"], "jobs/outer.yml", false],
      [["--allow-read=jobs"], "{{vars.path}}", false],
      [["--allow-read=jobs,other"], "{{vars.path}}", true],
    ];
    for (const [options, path, isRead] of table) {
      await test.step(`${options.join(" ")} ${path}`, () => {
        const job = "name: inside\nsteps: [{uses: hello}]\n";
        const outer = "name: o\nsteps: [{uses: embedded, with: {path: ../other/job.yml}}]\n";
        const yaml = flow(`{uses: embedded, with: {path: "${path}"}}`);
        const files = {
          "w.yml": `${yaml}vars: {path: other/job.yml}\n`,
          ...{ "jobs/job.yml": job, "jobs/outer.yml": outer, "other/job.yml": job },
        };
        return withFiles(files, async (cwd) => {
          await Deno.symlink("../other/job.yml", `${cwd}/jobs/link.yml`);
          await Deno.symlink("../other", `${cwd}/jobs/folder`);
          const result = await runMain(["w.yml", ...options], { cwd });
          assertNoTrace(result);
          assertEquals(result.code, isRead ? 0 : 1, result.stdout + result.stderr);
          if (isRead) return;
          assertEquals(result.stdout, "");
          assertMatch(result.stderr, /w\.yml:5:\d+|outer\.yml:2:\d+/);
          assertMatch(result.stderr, /cannot read job file '.*': --allow-read does not name '/);
        });
      });
    }
  },
});

Deno.test("the files that the command line itself names are bound by no option", async () => {
  const files = { "w.yml": flow("{uses: hello}"), "vars.yml": "a: 1\n", "x.env": "B=1\n" };
  const yaml = `${files["w.yml"]}vars: {a: 0}\n`;
  const flags = ["--allow-read=none", "--allow-write=none", "--report=json=out/report.json"]
    .concat("--var-file=vars.yml", "--env-file=x.env");
  const result = await runner(flags, { ...files, "w.yml": yaml }, {}, async (cwd) => {
    assert(await exists(`${cwd}/out/report.json`));
  });
  assertEquals([result.code, result.stderr], [0, ""]);
});

Deno.test("a binary response body needs no --allow-write", async () => {
  await using server = withServer(() =>
    new Response(new Uint8Array([0, 1]), { headers: { "Content-Type": "image/png" } })
  );
  const yaml = flow(`{uses: http, with: {get: "${server.url}"}, test: res.filepath != ""}`);
  const result = await runner(["--allow-write=none", "--allow-read=none"], { "w.yml": yaml });
  assertEquals(result.code, 0, result.stdout);
});

Deno.test("ambiguous options are rejected before anything runs", async (test) => {
  const table: [option: string, message: string, hint: string][] = [
    ["--allow-net=", "option --allow-net needs a value", ""],
    ["--allow-net=a,,b", "option --allow-net has an empty value between commas", "=none"],
    ["--allow-read=,", "option --allow-read has an empty value between commas", "=none"],
    ["--allow-net=none,a", "option --allow-net allows none and others", 'leave out "none"'],
    ["--allow-net=*", 'invalid value "*" for option --allow-net', "*.example.com"],
    [
      "--allow-net=https://example.com:8443/x",
      'invalid value "https://example.com:8443/x" for option --allow-net',
      "write the host alone: example.com:8443",
    ],
    [
      "--allow-net=example.com:http",
      'invalid value "example.com:http" for option --allow-net',
      "[::1]:80",
    ],
    ["--no-shell=yes", "option --no-shell takes no value", "try runner --help"],
    ["--allow-nett=x", "unknown option --allow-nett", "did you mean --allow-net?"],
  ];
  for (const [option, message, hint] of table) {
    await test.step(option, async () => {
      const { code, stdout, stderr } = await runner([option], { "w.yml": flow("{uses: hello}") });
      assertEquals([code, stdout, stderr.split("\n")[0]], [1, "", `runner: error: ${message}`]);
      assertStringIncludes(stderr, hint);
    });
  }
});

const FLOWS = {
  "hello.yml": "{uses: hello}",
  "http.yml": '{uses: http, with: {get: "RIG/"}, test: res.code == 200}',
  "shell.yml": "{uses: shell, with: {cmd: 'echo hi'}}",
  "long.yml": `{uses: shell, with: {cmd: 'echo hi # ${"x".repeat(150_000)}'}}`,
  "preload.yml": "{uses: shell, with: {cmd: 'echo hi', env: {LD_PRELOAD: ''}}}",
  "embedded.yml": "{uses: embedded, with: {path: job.yml}}",
  "program.yml": "{uses: program}",
  "vars.yml": "{uses: hello, with: {text: '{{vars.a}}'}}",
};

const FILES = {
  "job.yml": "name: inside\nsteps: [{uses: hello}]\n",
  "values.yml": "a: 1\n",
  "api.yml": "openapi: 3.0.0\ninfo: {title: t, version: '1'}\n" +
    "paths: {/a: {get: {responses: {'200': {description: d}}}}}\n",
  "plugins/runner-program": "#!/bin/sh\necho '{\"status\": 0}'\n",
};

/** Runs the program by Deno with some flags, in a directory with workflows. */
async function narrowed(flags: readonly string[], args: readonly string[]): Promise<CliResult> {
  return await withRig(async (rig) => {
    const flows = Object.entries(FLOWS).map(([name, step]) => [
      name,
      `name: n\nvars: {a: 0}\njobs: [{name: j, steps: [${step.replace("RIG", rig.url)}]}]\n`,
    ]);
    return await withFiles({ ...FILES, ...Object.fromEntries(flows) }, async (made) => {
      const cwd = await Deno.realPath(made);
      await Deno.chmod(`${cwd}/plugins/runner-program`, 0o755);
      const excerpt = (text: string) =>
        text.replace("CWD", cwd).replace("HOST", new URL(rig.url).host);
      const env: Record<string, string> = args[0] === "program.yml"
        ? { RUNNER_PLUGIN_DIR: "plugins" }
        : {};
      const result = await runNarrowed(flags.map(excerpt), args, { cwd, env });
      const steady = (text: string) =>
        text.replaceAll(cwd, "CWD").replaceAll(new URL(rig.url).host, "HOST")
          .replaceAll(`127.0.0.1 port ${new URL(rig.url).port}`, "HOST");
      return { ...result, stdout: steady(result.stdout), stderr: steady(result.stderr) };
    });
  });
}

const ENV = "--allow-env";
const READ = "--allow-read=.";
const BOTH = [ENV, READ];

Deno.test({
  name: "what Deno does not allow is an error that names the flag, not a stack",
  ignore: Deno.build.os === "windows",
  async fn(test) {
    const table: [flags: string[], args: string[], reported: string, hint: string][] = [
      [[READ], ["hello.yml"], "error: Deno does not let it read the environment", "--allow-env\n"],
      [
        [ENV, "--deny-env=RUNNER_OUTPUT", READ],
        ["hello.yml"],
        'error: Deno does not let it read the variable "RUNNER_OUTPUT"',
        "--allow-env\n",
      ],
      [
        [ENV],
        ["hello.yml"],
        `cannot read workflow file 'hello.yml': Deno does not let it read "hello.yml"`,
        "--allow-read=hello.yml\n",
      ],
      [
        [ENV, "--allow-read=embedded.yml"],
        ["embedded.yml"],
        `cannot read job file 'job.yml': Deno does not let it read "job.yml"`,
        "--allow-read=job.yml\n",
      ],
      [
        [ENV, "--allow-read=vars.yml"],
        ["vars.yml", "--var-file=values.yml"],
        `cannot read var file 'values.yml': Deno does not let it read "values.yml"`,
        "--allow-read=values.yml\n",
      ],
      [
        BOTH,
        ["http.yml"],
        `GET "http://HOST/": Deno does not allow access to HOST`,
        "--allow-net=HOST",
      ],
      [
        BOTH,
        ["shell.yml"],
        'cannot run the command: Deno does not let it run "/bin/sh"',
        "--allow-run=/bin/sh",
      ],
      [
        [...BOTH, "--allow-run=/bin/sh"],
        ["preload.yml"],
        "cannot run the command: Deno does not let it run programs",
        "--allow-run",
      ],
      [
        [...BOTH, "--allow-run=/bin/sh"],
        ["long.yml"],
        "cannot run the command: Deno does not let it write",
        "--allow-write",
      ],
      [
        BOTH,
        ["program.yml"],
        'cannot run the plugin "program": Deno does not let it run "CWD/plugins/runner-program"',
        "--allow-run=CWD/plugins/runner-program",
      ],
      [
        [ENV, "--allow-read=program.yml"],
        ["program.yml"],
        'Deno does not let it read "plugins"',
        "--allow-read=plugins",
      ],
      [
        BOTH,
        ["hello.yml", "--report=json=out.json"],
        "cannot write the report 'out.json': Deno does not let it write",
        "--allow-write=",
      ],
      [
        BOTH,
        ["hello.yml", "--history=kept"],
        "cannot write the history 'kept': Deno does not let it write \"kept\"",
        "--allow-write=kept\n",
      ],
      [
        BOTH,
        ["gen", "api.yml", "-o", "new.yml"],
        "Deno does not let it write",
        "--allow-write=",
      ],
      [[ENV], ["gen", "api.yml"], 'Deno does not let it read "', "--allow-read="],
      [[READ], ["dag", "hello.yml"], "Deno does not let it read the environment", "--allow-env"],
    ];
    for (const [flags, args, reported, hint] of table) {
      await test.step(`${flags.join(" ")} ${args.join(" ")}`, async () => {
        const { code, stdout, stderr } = await narrowed(flags, args);
        const all = stdout + stderr;
        assertEquals(code, 1, all);
        assertStringIncludes(all, reported);
        assertStringIncludes(all, `run it with deno run ${hint}`);
        assertEquals(/^ +at |internal error|Uncaught|Allow\?|NotCapable/m.exec(all), null, all);
      });
    }
  },
});

Deno.test({
  name: "it runs with no more permissions than what it does needs",
  ignore: Deno.build.os === "windows",
  async fn(test) {
    const table: [flags: string[], args: string[]][] = [
      [[ENV, "--allow-read=hello.yml"], ["hello.yml", "-v"]],
      [BOTH, ["embedded.yml", "--only=j", "--var=a=2"]],
      [BOTH, ["check", "h*.yml", "embedded.yml"]],
      [BOTH, ["dag", "hello.yml"]],
      [BOTH, ["gen", "api.yml"]],
      [[], ["schema"]],
      [[], ["--version"]],
      [[...BOTH, "--allow-net=HOST"], ["http.yml", "--timing"]],
      [[...BOTH, "--allow-run=/bin/sh"], ["shell.yml"]],
      [[...BOTH, "--allow-run=/bin/sh", "--allow-write=/tmp,CWD"], ["long.yml"]],
      [[...BOTH, "--allow-run=CWD/plugins/runner-program"], ["program.yml"]],
      [[...BOTH, "--allow-write=."], ["hello.yml", "--report-dir=out/reports"]],
    ];
    for (const [flags, args] of table) {
      await test.step(`${flags.join(" ")} ${args.join(" ")}`, async () => {
        const { code, stdout, stderr } = await narrowed(flags, args);
        assertEquals(
          [code, /Deno does not|internal error/.exec(stderr)],
          [0, null],
          stdout + stderr,
        );
      });
    }
  },
});

Deno.test({
  name:
    "commands of an allowed shell end with their time, and files go, without --allow-run for all",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withFiles({
      "w.yml": "name: n\njobs: [{name: j, steps: [{uses: shell, timeout: 200ms, " +
        "with: {cmd: 'exec sleep 60'}}]}]\n",
    }, async (cwd) => {
      const flags = [...BOTH, "--allow-run=/bin/sh"];
      const { code, stdout, stderr } = await runNarrowed(flags, ["w.yml"], { cwd });
      assertEquals([code, stderr], [1, ""]);
      assertStringIncludes(stdout, "the step timed out after 200ms");
    });
  },
});

Deno.test({
  name: "modules that Deno does not let it read are an error, not silence",
  ignore: BUILT !== undefined,
  async fn() {
    const script = new URL("../../cli.ts", import.meta.url);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--allow-env",
        "--allow-read=hello.yml",
        script.href,
        "hello.yml",
      ],
      env: programEnv(),
    }).output();
    const text = new TextDecoder().decode(stderr);
    assertEquals(code, 1, text);
    assertStringIncludes(text, "Deno does not let it read its own modules");
    assertStringIncludes(text, "run it with deno run --allow-read=");
  },
});
