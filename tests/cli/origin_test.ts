import { assert, assertEquals } from "@std/assert";
import { hostname } from "node:os";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const WORKFLOW = `name: n
vars: { stage: test, token: "", id: x, db: {}, list: [], "clé_token": "", account: { pin_token: "", user: ann }, seen: "{{BUILD_NOTE ?? 'none'}}", long: "{{repeat('long ', 1000)}}" }
jobs: [{ id: j, name: j, steps: [{ uses: hello }] }]
`;

const GITHUB = {
  GITHUB_ACTIONS: "true",
  GITHUB_SHA: "0123456789abcdef",
  GITHUB_REF_NAME: "main",
  GITHUB_SERVER_URL: "https://github.example",
  GITHUB_REPOSITORY: "shop/api",
  GITHUB_RUN_ID: "42",
  UNRELATED: "not of interest",
};

const BUILD = {
  commit: "0123456789abcdef",
  branch: "main",
  ci: { name: "GitHub Actions", url: "https://github.example/shop/api/actions/runs/42" },
};

/** The reports of a run in a directory with these files. */
async function reportsOf(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = { "w.yml": WORKFLOW },
) {
  return await withFiles(files, async (cwd) => {
    const { stderr } = await runMain(["--report-dir", "r", ...args], { cwd, env });
    assertEquals(stderr, "");
    const texts = ["report.json", "events.ndjson", "ctrf.json", "report.html"].map((name) =>
      Deno.readTextFileSync(`${cwd}/r/${name}`)
    );
    return { texts, report: JSON.parse(texts[0]!), ctrf: JSON.parse(texts[2]!), html: texts[3]! };
  });
}

Deno.test("reports have the command line, the build, its commit and the vars, without secrets", async () => {
  const args = [
    ...["w.yml", "--var", "clé_token=ab", "--var=account.pin_token=12", "--var", "stage=it's"],
    ...["--var", "id=https://me:pass-1@host/", "--no-github"],
    ...["--var", 'db:={"password":"pw","user":"ann"}'],
    ...["--var", 'list:=[{"password":"pw"}]'],
  ];
  const env = { ...GITHUB, BUILD_NOTE: "by hand", API_KEY: "key-value-1" };
  const { report, ctrf, html, texts } = await reportsOf([...args, "--seed", "key-value-1"], env);
  assertEquals(report.origin, {
    args: [
      ...["--report-dir", "r", "w.yml", "--var", "clé_token=***", "--var=account.pin_token=***"],
      ...["--var", "stage=it's", "--var", "id=https://me:***@host/", "--no-github"],
      ...["--var", 'db:={"password":"***","user":"ann"}'],
      ...["--var", 'list:=[{"password":"***"}]'],
      ...["--seed", "***"],
    ],
    host: hostname(),
    ...BUILD,
  });
  const { long, ...vars } = report.vars;
  assertEquals(vars, {
    ...{
      stage: "it's",
      token: "***",
      clé_token: "***",
      id: "https://me:***@host/",
      account: { pin_token: "***", user: "ann" },
    },
    db: { password: "***", user: "ann" },
    list: [{ password: "***" }],
    seen: "by hand",
  });
  assert(long.length < 3000 && long.endsWith("more characters)"), long);
  assertEquals(ctrf.results.environment.buildUrl, BUILD.ci.url);
  for (
    const text of [
      "commit 0123456789ab",
      "branch main",
      "--var 'stage=it'\\''s'",
      `href="${BUILD.ci.url}"`,
      "9 vars",
    ]
  ) {
    assert(html.includes(text), text);
  }
  for (const text of texts) {
    for (const secret of ["pass-1", "key-value-1", "pin_token=12", "not of interest", '"pw"']) {
      assert(!text.includes(secret), secret);
    }
  }
});

Deno.test("outside of CI the commit is that of the checkout, also above and in a second work tree", async () => {
  const git = {
    "top/.git/HEAD": "ref: refs/heads/topic/a\n",
    "top/.git/refs/heads/topic/a": "aaaa\n",
    "top/.git/packed-refs": "# pack-refs\nbbbb refs/heads/packed\n",
    "top/.git/worktrees/two/HEAD": "ref: refs/heads/packed\n",
    "top/.git/worktrees/two/commondir": "../..\n",
    "two/.git": "gitdir: ../top/.git/worktrees/two\n",
    "detached/.git/HEAD": "cccc\n",
    "none/.git/HEAD": "\n",
  };
  const table = [
    ["top", { commit: "aaaa", branch: "topic/a" }],
    ["top/flows/deep", { commit: "aaaa", branch: "topic/a" }],
    ["two", { commit: "bbbb", branch: "packed" }],
    ["detached", { commit: "cccc" }],
  ] as const;
  const flows = Object.fromEntries(table.map(([directory]) => [`${directory}/w.yml`, WORKFLOW]));
  await withFiles({ ...git, ...flows }, async (top) => {
    for (const [directory, expected] of table) {
      const cwd = `${top}/${directory}`;
      await runMain(["--report", "json=r.json", "w.yml"], { cwd });
      const { origin: { args, host, ...found } } = JSON.parse(
        Deno.readTextFileSync(`${cwd}/r.json`),
      );
      assertEquals([args, host], [["--report", "json=r.json", "w.yml"], hostname()]);
      assertEquals([directory, found], [directory, expected]);
    }
  });
});

Deno.test("a suite has its origin once, and merged shards keep the build", async () => {
  const env = { ...GITHUB, RUNNER_NO_COLOR: "1" };
  await withFiles({ "flows/a.yml": WORKFLOW, "flows/b.yml": WORKFLOW }, async (cwd) => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await runMain([...args, "--no-github"], { cwd, env });
      assertEquals([code, stderr], [0, ""]);
    };
    for (const shard of ["1", "2"]) {
      await run("flows", "--shard", `${shard}/2`, "--report", `ndjson=e/${shard}.ndjson`);
    }
    await run("flows", "--var", "token=secret-1", "--report", "json=whole.json");
    await run("report", "merge", "e", "--report", "json=merged.json");
    const read = (name: string) => JSON.parse(Deno.readTextFileSync(`${cwd}/${name}`));
    const whole = read("whole.json");
    const args = ["flows", "--var", "token=***", "--report", "json=whole.json", "--no-github"];
    assertEquals(whole.origin.args, args);
    assertEquals(whole.runs.map((run: { origin?: unknown }) => run.origin), [undefined, undefined]);
    const merged = read("merged.json");
    assertEquals(merged.origin, BUILD);
    assertEquals(merged.runs.map((run: { vars: { stage: string } }) => run.vars.stage), [
      ...["test", "test"],
    ]);
  });
});
