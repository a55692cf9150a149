import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { assertArgo } from "../../support/programs/assert_argo.ts";
import { runHere } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** A job with its id, its needs, and more keys. */
const job = (id: string, needs: readonly string[] = [], fields: object = {}) => ({
  id,
  name: `Job ${id}`,
  needs,
  ...fields,
  steps: [{ name: "greets", uses: "hello" }],
});

const GRAPH = {
  name: "A graph with $X and ${{ x }} and {{ y }}",
  jobs: [
    job("build"),
    job("sign", ["build"]),
    job("load", ["sign"], { repeat: { count: 8, async: true } }),
    job("test it", ["sign"]),
    job("alarm", ["load", "test it"], { when: "failure" }),
    job("after", ["alarm"]),
    job("last", ["after"]),
  ],
  finally: [{ name: "ends", uses: "hello" }],
};

interface Exported {
  readonly code: number;
  readonly text: string;
  readonly stderr: string;
  // deno-lint-ignore no-explicit-any
  readonly document: any;
}

async function exportFile(
  engine: string,
  workflow: object | string,
  ...args: string[]
): Promise<Exported> {
  const text = typeof workflow === "string" ? workflow : JSON.stringify(workflow);
  return await withFiles({ "flow it.yml": text, "sub/inner.yml": INNER }, async (cwd) => {
    const command = ["export", engine, "flow it.yml", ...args];
    const { code, stdout, stderr } = await runHere(command, { cwd });
    return { code, text: stdout, stderr, document: code === 0 ? parse(stdout) : undefined };
  });
}

const INNER = "name: inner\nsteps:\n  - { name: in, uses: hello }\n";

Deno.test("GitHub: tasks wait for those that they need, and chains share one", async () => {
  const { document, text } = await exportFile("github", GRAPH, "--split", "load=3");
  const jobs = document.jobs;
  assertEquals(Object.keys(jobs), [
    ...["runner-prepare", "build", "load", "test-it", "alarm", "runner-report"],
  ]);
  assertEquals(Object.keys(jobs).map((id) => jobs[id].needs), [
    undefined,
    ["runner-prepare"],
    ["runner-prepare", "build"],
    ["runner-prepare", "build"],
    ["runner-prepare", "load", "test-it"],
    ["runner-prepare", "build", "load", "test-it", "alarm"],
  ]);
  assertEquals(jobs.load.strategy, { "fail-fast": false, matrix: { part: [1, 2, 3] } });
  assertEquals(
    [jobs.build.if, jobs["test-it"].if, jobs.alarm.if, jobs["runner-report"].if],
    [
      undefined,
      undefined,
      "${{ !cancelled() && needs.runner-prepare.result == 'success' }}",
      "${{ !cancelled() && needs.runner-prepare.result == 'success' }}",
    ],
  );
  // deno-lint-ignore no-explicit-any
  const runs = (id: string) => jobs[id].steps.flatMap((step: any) => step.run ?? []).join("\n");
  assertStringIncludes(
    runs("build"),
    "runner 'flow it.yml' --run .runner/run.json --only build --only sign",
  );
  // The action puts a single artifact into the directory itself, and several into directories.
  assertEquals(jobs["runner-prepare"].steps.at(-1).with.name, "run-file");
  for (const id of ["build", "load", "runner-report"]) {
    // deno-lint-ignore no-explicit-any
    const [first, second] = jobs[id].steps.filter((step: any) => /download/.test(step.uses));
    assertEquals([first.with, second.with], [
      { name: "run-file", path: ".runner" },
      { pattern: "runner-*", path: ".runner" },
    ]);
  }
  assertStringIncludes(runs("test-it"), "--only 'test it'");
  assertStringIncludes(runs("alarm"), "--only alarm --only after --only last");
  assertStringIncludes(runs("load"), "--rounds ${{ matrix.part }}/3");
  assertStringIncludes(runs("runner-report"), "--finally");
  assertEquals(document.name, "A graph with $X and $ {{ x }} and {{ y }}");
  assert(text.startsWith("# Made by: runner export github 'flow it.yml' --split load=3\n"));
});

Deno.test("GitHub: what follows a job that runs after failures looks at its own needs", async () => {
  const { document } = await exportFile("github", GRAPH, "--group", "none");
  assertEquals(
    document.jobs.after.if,
    "${{ !cancelled() && needs.runner-prepare.result == 'success' && " +
      "needs.alarm.result == 'success' }}",
  );
});

Deno.test("GitLab: tasks need all whose outputs they may read", async () => {
  const { document } = await exportFile("gitlab", GRAPH, "--split", "load=3", "--group", "none");
  assertEquals(document.load.needs, ["runner-prepare", "build", "sign"]);
  assertEquals(document.load.parallel, 3);
  assertStringIncludes(document.load.script[1], "--rounds $CI_NODE_INDEX/$CI_NODE_TOTAL");
  assertStringIncludes(document.load.script[1], "--outputs .runner/load-$CI_NODE_INDEX/outputs.");
  assertEquals([document.build.when, document.alarm.when, document.last.when], [
    undefined,
    "always",
    "always",
  ]);
  assertEquals(document["runner-report"].needs, undefined);
  assertEquals(document[".runner"].image, undefined);
  assertEquals(document.workflow.name, "A graph with $$X and $${{ x }} and {{ y }}");
});

Deno.test("Argo: every reference has its template, task and artifact", async () => {
  const embeds = {
    ...GRAPH,
    jobs: [...GRAPH.jobs, {
      ...job("more"),
      steps: [{ name: "in", uses: "embedded", with: { path: "sub/inner.yml" } }],
    }],
  };
  const { document, text } = await exportFile("argo", embeds, "--split", "load=2", "--image", "i");
  assertArgo(document);
  const { volumes } = document.spec;
  assertEquals(volumes[0].configMap.items, [
    { key: "flow_it.yml", path: "flow/flow it.yml" },
    { key: "sub__inner.yml", path: "flow/sub/inner.yml" },
  ]);
  assertStringIncludes(text, "--from-file=sub__inner.yml=sub/inner.yml");
  // Where every machine was lost, /in/pieces and the events of the cleanup are not there.
  const report = JSON.stringify(document.spec.templates.at(-1).container);
  assertStringIncludes(report, "--finally --inputs /in --report");
  assertStringIncludes(report, "runner report merge /in/run.json /in /out --report");
});

Deno.test("a file whose name Argo would fill in cannot be exported", () =>
  withFiles({ "{{workflow.name}}.yml": JSON.stringify(GRAPH) }, async (cwd) => {
    const args = ["export", "argo", "{{workflow.name}}.yml", "--image", "i"];
    const { code, stdout, stderr } = await runHere(args, { cwd });
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "Argo Workflows fills in the {{ }} of '{{workflow.name}}.yml'");
  }));

Deno.test("the first lines say how to make all secrets", async () => {
  const args = ["--secret", "API_TOKEN", "--image", "i"];
  const table = [
    ["github", "| gh secret set RUNNER_KEY\n#   gh secret set API_TOKEN\n"],
    [
      "gitlab",
      "variables: RUNNER_KEY, API_TOKEN\n#   RUNNER_KEY is made by: openssl rand -hex 32\n",
    ],
    ["argo", '=RUNNER_KEY=$(openssl rand -hex 32) --from-literal=API_TOKEN="$API_TOKEN"\n'],
  ];
  for (const [engine = "", line = ""] of table) {
    assertStringIncludes((await exportFile(engine, GRAPH, ...args)).text, line);
  }
});

Deno.test("a warning says which variables the tasks would not get", async () => {
  const vars = { token: "{{API_TOKEN}}", stage: "{{STAGE ?? 'test'}}", of: "{{GITHUB_SHA}}" };
  const warned = async (engine: string, ...args: string[]) =>
    (await exportFile(engine, { ...GRAPH, vars }, "--image", "i", ...args)).stderr;
  const message = "the tasks do not get the environment variable API_TOKEN";
  assertStringIncludes(await warned("github"), `flow it.yml:1:`);
  assertStringIncludes(await warned("github"), message);
  assertStringIncludes(await warned("argo"), message);
  assertEquals(await warned("github", "--secret", "API_TOKEN"), "");
  // GitLab gives its variables to every job.
  assertEquals(await warned("gitlab"), "");
});

Deno.test("secrets in the names of jobs are not written", async () => {
  const workflow = {
    name: "W",
    vars: { api_token: "{{API_TOKEN}}", code: "{{secret(CODE)}}" },
    jobs: [{ ...job("a"), name: "as {{vars.api_token}} by {{vars.code}}" }],
  };
  const env = { API_TOKEN: "s3cret-of-ann", CODE: "c0de-of-ann" };
  const texts = await withFiles({ "flow.yml": JSON.stringify(workflow) }, async (cwd) => {
    const args = [["github"], ["gitlab", "--image", "i"], ["argo", "--image", "i"]];
    return await Promise.all(
      args.map((options) => runHere(["export", ...options, "flow.yml"], { cwd, env })),
    );
  });
  assertStringIncludes(texts[0]!.stdout, "name: as *** by ***");
  for (const { code, stdout } of texts) {
    assertEquals([code, /-of-ann/.test(stdout)], [0, false], stdout);
  }
});

Deno.test("export says what it has written, and how to go on", () =>
  withFiles({ "flow it.yml": JSON.stringify(GRAPH), "sub/inner.yml": INNER }, async (cwd) => {
    const args = ["export", "argo", "flow it.yml", "--image", "i", "-o", "to run.yml"];
    const { code, stdout, stderr } = await runHere(args, { cwd });
    assertEquals([code, stdout], [0, ""]);
    assertMatch(
      stderr,
      /^wrote to run\.yml: \d+ tasks; start it with argo submit 'to run\.yml'; its first lines /,
    );
  }));

Deno.test("a feature that an engine does not support is an error, and nothing is written", async () => {
  const table: readonly (readonly [object | string, readonly string[], string])[] = [
    [GRAPH, ["argo"], "--image is missing: argo runs everything in containers"],
    [GRAPH, ["jenkins"], 'invalid value "jenkins" for the engine'],
    [GRAPH, ["github", "--split", "build=2"], 'the job "build" has no repeat'],
    [GRAPH, ["github", "--split", "load=1"], "option --split must be a job and 2 to 256 parts"],
    [GRAPH, ["github", "--split", "lod=2"], 'unknown job "lod"'],
    [GRAPH, ["github", "--secret", "A-B"], "option --secret must be the name of a variable"],
    [GRAPH, ["github", "--secret", "GITHUB_KEY"], "GitHub has no secrets whose names begin with"],
    [GRAPH, ["github", "--force"], "--force requires --out"],
    [
      {
        name: "expects",
        jobs: [
          job("load", [], { load: { rate: "8/s", count: 8, expect: "stats.failed == 0" } }),
          job("last", ["load"]),
        ],
      },
      ["github", "--split", "load=2"],
      'the rounds of "load" cannot be split: "last" needs it',
    ],
    [
      { name: "turns", jobs: [job("load", [], { repeat: { count: 8 } })] },
      ["github", "--split", "load=2"],
      'the rounds of "load" run one after the other and cannot be split',
    ],
    [
      {
        name: "reads",
        jobs: [
          {
            ...job("one"),
            steps: [{ id: "a", name: "a", uses: "hello", outputs: { n: "1" } }],
          },
          {
            ...job("two"),
            steps: [{ name: "b", uses: "hello", test: "outputs.a.n == 1" }],
          },
        ],
      },
      ["github"],
      'the job "one" with the step "a" may not have run before this',
    ],
    [
      {
        name: "many",
        jobs: [
          ...Array.from({ length: 50 }, (_, at) => job(`j${at}`)),
          job("last", Array.from({ length: 50 }, (_, at) => `j${at}`)),
        ],
      },
      ["gitlab"],
      '"Job last" depends on 50 tasks, and GitLab allows 49',
    ],
  ];
  for (const [workflow, [engine = "", ...args], message] of table) {
    const { code, text, stderr } = await exportFile(engine, workflow, ...args);
    assertEquals([code, text], [1, ""], message);
    assertStringIncludes(stderr, message);
  }
});

const SUITE = {
  name: "Nightly",
  workflows: ["flows"],
  setup: "signs_in.yml",
  teardown: "signs_out.yml",
};

const SUITE_FILES = {
  "ci/suite.yml": JSON.stringify(SUITE),
  ...Object.fromEntries(
    ["signs_in.yml", "signs_out.yml", "flows/a.yml", "flows/b c.yml", "flows/image.yml"].map(
      (path) => [`ci/${path}`, JSON.stringify({ name: path, jobs: [job("one")] })],
    ),
  ),
};

Deno.test("the name of a file does not end the comment that it is in", async () => {
  const file = "a\nevil: true\n.yml";
  await withFiles({ [file]: JSON.stringify(GRAPH) }, async (cwd) => {
    for (const engine of ["github", "gitlab"]) {
      const { code, stdout } = await runHere(["export", engine, file], { cwd });
      assertEquals(code, 0);
      assertEquals(Object.keys(parse(stdout) as object).includes("evil"), false, stdout);
    }
  });
});

Deno.test("a suite has a task for each workflow, between setup and the report", async () => {
  await withFiles(SUITE_FILES, async (cwd) => {
    const exported = async (engine: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runHere(
        ["export", engine, "ci/suite.yml", ...args],
        { cwd },
      );
      assertEquals([code, stderr], [0, ""]);
      // deno-lint-ignore no-explicit-any
      return parse(stdout) as any;
    };
    const { jobs } = await exported("github");
    assertEquals(Object.keys(jobs), [
      ...["runner-prepare", "setup", "ci-flows-a", "ci-flows-b-c", "ci-flows-image"],
      "runner-report",
    ]);
    assertEquals(jobs["ci-flows-a"].needs, ["runner-prepare", "setup"]);
    const text = JSON.stringify(jobs);
    for (
      const part of [
        "--run .runner/run.json --setup --inputs .runner --outputs .runner/out/outputs.json",
        "--only 'ci/flows/b c.yml' --inputs .runner --outputs",
        "--teardown --inputs .runner --report ndjson=.runner/teardown.ndjson || true",
      ]
    ) assertStringIncludes(text, part);
    const gitlab = await exported("gitlab", "--shards", "2");
    assertEquals(gitlab.workflows.parallel, 2);
    assertEquals(gitlab.workflows.needs, ["runner-prepare", "setup"]);
    assertStringIncludes(gitlab.workflows.script[1], "--shard $CI_NODE_INDEX/$CI_NODE_TOTAL ");
    const argo = await exported("argo", "--image", "i");
    assertEquals(
      // deno-lint-ignore no-explicit-any
      argo.spec.volumes[0].configMap.items.map(({ key }: any) => key),
      [
        ...["suite.yml", "signs_in.yml", "flows__a.yml", "flows__b_c.yml", "flows__image.yml"],
        "signs_out.yml",
      ],
    );
    assertArgo(argo);
    assertStringIncludes(JSON.stringify(argo), '"--only","/flow/flows/b c.yml"');
    const here = ["export", "argo", ".", "--image", "i"];
    const { stdout } = await runHere(here, { cwd: `${cwd}/ci/flows` });
    assertStringIncludes(
      stdout,
      "configmap workflow --from-file=a.yml=./a.yml '--from-file=b_c.yml=./b c.yml'",
    );
  });
});

Deno.test("what a suite cannot be exported with is an error", async () => {
  const flow = JSON.stringify({ name: "a", jobs: [job("one")] });
  await withFiles({ ...SUITE_FILES, "one.yml": flow, "none/x.txt": "" }, async (cwd) => {
    const table: readonly (readonly [args: readonly string[], message: string])[] = [
      [
        ["one.yml", "--shards", "2"],
        "option --shards is for several workflows, and 'one.yml' is one",
      ],
      [["ci/suite.yml", "--shards", "201"], '"Workflows" has 201 parts, and GitLab allows 200'],
      [["ci/suite.yml", "--shards", "257"], "option --shards must be at most 256, not 257"],
      [["ci/suite.yml", "--shards", "0"], "option --shards must be a whole number from 1"],
      [["ci/suite.yml", "--split", "one=2"], "option --split is for one workflow"],
      [["none"], "no workflow in 'none'"],
    ];
    for (const [args, message] of table) {
      const { code, stdout, stderr } = await runHere(["export", "gitlab", ...args], { cwd });
      assertEquals([code, stdout], [1, ""], message);
      assertStringIncludes(stderr, message);
    }
  });
});

Deno.test("graphs of hundreds of jobs are exported, unless an engine cannot take them", async () => {
  const graph = (count: number, before: number) => ({
    name: "big",
    jobs: Array.from({ length: count }, (_, at) => {
      const needs = Array.from({ length: Math.min(at, before) }, (_, back) => `j${at - back - 1}`);
      return job(`j${at}`, needs);
    }),
  });
  const { document } = await exportFile("github", graph(300, 3));
  assertEquals(Object.keys(document.jobs).length, 302);
  assertEquals(document.jobs.j299.needs, ["runner-prepare", "j298", "j297", "j296"]);
  const argo = await exportFile("argo", graph(300, 3), "--image", "i");
  assertStringIncludes(argo.stderr, "and Kubernetes takes less than 1572864");
  const wide = await exportFile("gitlab", {
    name: "wide",
    jobs: Array.from({ length: 300 }, (_, at) => job(`j${at}`)),
  });
  assertEquals(wide.document.j299.needs, ["runner-prepare"]);
});

Deno.test("ids that mean something to an engine are changed, and no two are the same", async () => {
  const ids = ["run", "report", "graph", "image", "cache", "load", "load-1", "load-part-2", "Load"];
  const workflow = {
    name: "ids",
    jobs: ids.map((id) => job(id, [], id === "load" ? { repeat: { count: 4, async: true } } : {})),
  };
  const { document } = await exportFile("gitlab", workflow, "--split", "load=2");
  const tasks = Object.keys(document).filter((id) => !/^(\.?runner|workflow|stages)/.test(id));
  assertEquals(tasks, [
    ...["run-2", "report-2", "graph-2", "image-2", "cache-2", "load", "load-1-2", "load-part-2-2"],
    "Load-3",
  ]);
  const odd = { name: "odd", jobs: [job("1 Ünï: {x} $HOME"), job("x".repeat(300))] };
  const { document: github } = await exportFile("github", odd);
  assertEquals(Object.keys(github.jobs).slice(1, 3), ["job-1--n----x---HOME", "x".repeat(60)]);
});
