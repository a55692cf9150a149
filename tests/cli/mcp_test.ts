import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { openShop } from "../../scripts/demo_server.ts";
import { type Answer, withAssistant } from "../support/programs/assistant.ts";
import { isRunning, until } from "../support/run/processes.ts";
import { startCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

/** A workflow of one job with these steps, in a line each. */
function flow(...steps: readonly string[]): string {
  return `name: n\njobs:\n- name: j\n  id: j\n  steps:\n${
    steps.map((step) => `  - ${step}\n`).join("")
  }`;
}

const PASSES =
  "{ name: good, id: good, uses: echo, with: { message: hi }, test: res.message == 'hi' }";
const FAILS =
  "{ name: bad, id: bad, uses: echo, with: { message: ho }, test: res.message == 'hi' }";

function assertError({ text, isError }: Answer, part: string): void {
  assert(isError, text);
  assertStringIncludes(text, part);
}

function assertAnswer({ text, isError }: Answer, part: string): void {
  assert(!isError, text);
  assertStringIncludes(text, part);
}

Deno.test("mcp lists its tools and resources, and reads each kind of resource", async () => {
  await withAssistant({}, async ({ client, read }) => {
    const { tools }: { tools: { name: string }[] } = await client.listTools();
    assertEquals(
      tools.map(({ name }) => name),
      ["check", "run", "list", "explain", "new_from_curl", "generate", "actual"],
    );
    const { resources }: { resources: { uri: string }[] } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    for (const uri of ["runner://schema/suite", "runner://docs/start/agents"]) {
      assert(uris.includes(uri), uri);
    }
    assertEquals(JSON.parse(await read("runner://schema/workflow")).type, "object");
    assertStringIncludes(await read("runner://docs/start/agents"), "# ");
    for (const uri of ["runner://reports/1", "runner://docs/../../README", "file:///etc/passwd"]) {
      await assertRejects(() => read(uri), Error, "not found");
    }
  });
});

Deno.test("mcp check gives places and cures, and only what it cannot read is an error", async () => {
  await withAssistant({ "a.yml": flow("{ name: s, uses: hello, tets: 1 }") }, async ({ call }) => {
    const mistake = 'a.yml:6:29: error: unknown key "tets" in a step';
    const { text, isError } = await call("check", { file: "a.yml" });
    assert(!isError);
    assertStringIncludes(text, mistake);
    assertStringIncludes(text, 'did you mean "test"?');
    assertAnswer(await call("check", { text: flow(PASSES) }), "1 workflow checked: ok");
    assertAnswer(await call("check", { text: "jobs: [" }), "unsaved.yml:1:7: error:");
    assertError(await call("check", { file: "b.yml" }), "workflow file 'b.yml' not found");
    assertError(await call("check", {}), 'give either "file" or "text"');
  });
});

Deno.test("mcp run: the first line says how it ended, then what failed, and a report has all", async () => {
  const files = { "a.yml": flow(PASSES, FAILS) };
  await withAssistant(files, async ({ call, read, client }) => {
    const failed = await call("run", { file: "a.yml" });
    assertAnswer(failed, "FAILED in ");
    const [first, ...rest] = failed.text.split("\n");
    assertMatch(first!, /^FAILED in /);
    const { totals, jobs: [job] } = JSON.parse(rest.join("\n"));
    assertEquals([totals.steps.passed, totals.steps.failed], [1, 1]);
    assertEquals(job.steps.map(({ name }: { name: string }) => name), ["bad"]);
    assertEquals(job.steps[0].failures[0].place.line, 7);
    assertEquals(job.steps[0].exchange.res.message, "ho");
    const report = JSON.parse(await read(failed.reports[0]!));
    assertEquals([report.schema, report.jobs[0].steps.length], ["runner-report/1", 2]);
    assertStringIncludes(JSON.stringify(await client.listResources()), failed.reports[0]!);

    const passed = await call("run", {
      text: flow(...Array(100).fill(PASSES.replace(", id: good", ""))),
    });
    assertMatch(passed.text, /^passed in /);
    assertStringIncludes(passed.text, '"passed": 100');
    assert(passed.text.length < 2000, passed.text);

    assertError(await call("run", { text: "name: x" }), "has 1 error");
    assertError(await call("run", { file: "b.yml" }), "not found");
    const chosen = await call("run", { file: "a.yml", options: ["--only=none"] });
    assertError(chosen, "none");
    // A run that proves nothing is none that passed.
    const strict = await call("run", {
      text: flow("{ uses: hello, skipif: 1 == 1 }"),
      options: ["--strict"],
    });
    assert(!/^passed/.test(strict.text), strict.text);
  });
});

Deno.test("mcp runs a suite, and shows what failed of it", async () => {
  const files = { "s/a.yml": flow(PASSES), "s/b.yml": flow(FAILS) };
  await withAssistant(files, async ({ call }) => {
    const { text } = await call("run", { file: "s" });
    assertMatch(text, /^FAILED in /);
    assertStringIncludes(text, "s/b.yml");
    assert(!text.includes("s/a.yml"), text);
  });
});

Deno.test("mcp list, explain, generate and new_from_curl answer as the commands do", async () => {
  const api = JSON.stringify({
    openapi: "3.0.0",
    info: { title: "Shop", version: "1" },
    servers: [{ url: "http://127.0.0.1:8080" }],
    paths: { "/health": { get: { responses: { 200: { description: "ok" } } } } },
  });
  const files = { "a.yml": flow(PASSES), "api.json": api };
  await withAssistant(files, async ({ call, directory }) => {
    assertAnswer(await call("list"), "good");
    assertError(await call("list", { file: "b.yml" }), "not found");

    const words = ["retry", "http", "--only", "json_path", "tags", "first-workflow"];
    for (const word of words) {
      assertAnswer(await call("explain", { word }), word.split("-").at(-1)!);
    }
    const line = 'runner: error: a.yml:7:3: error: cannot send GET "http://x/": connection refused';
    assertAnswer(await call("explain", { word: line }), "runner help ");
    assertError(await call("explain", { word: "xyzzyx" }), "nothing is named");

    assertAnswer(await call("generate", { openapi: "api.json" }), "get: /health");
    assertAnswer(await call("generate", { openapi: "api.json", out: "gen.yml" }), "wrote gen.yml");
    assertStringIncludes(await Deno.readTextFile(`${directory}/gen.yml`), "/health");
    assertError(await call("generate", { openapi: "api.json", out: "gen.yml" }), "already exists");

    const command = "curl -H 'Authorization: Bearer 0123456789abcdef' http://127.0.0.1:8080/x";
    const made = await call("new_from_curl", { command });
    assertAnswer(made, 'get: "http://127.0.0.1:8080/x"');
    assert(!made.text.includes("0123456789abcdef"), made.text);
    assertError(await call("new_from_curl", { command: "-" }), "curl");
  });
});

Deno.test("mcp actual sends one step, given as text or by its id, and shows req and res", async () => {
  const shop = openShop({ port: 0 });
  try {
    const steps = [
      "{ name: first, uses: shell, with: { cmd: touch ran }, test: 1 == 1 }",
      '{ name: products, id: products, uses: http, with: { get: "{{vars.shop}}/products" }, test: res.code == 500 }',
    ];
    const file = `vars: { shop: "" }\n${flow(...steps)}`;
    await withAssistant({ "d/a.yml": file }, async ({ call, directory }) => {
      const text = `uses: http\nwith: { get: "${shop.url}/products" }\ntest: res.code == 500\n`;
      const { res } = JSON.parse((await call("actual", { text })).text);
      assertEquals([res.code, res.body[0].name], [200, "tea"]);
      const options = [`--var=shop=${shop.url}`];
      const again = await call("actual", { file: "d/a.yml", id: "products", options });
      assertEquals(JSON.parse(again.text).res.body, res.body);
      await assertRejects(() => Deno.stat(`${directory}/d/ran`));
      const away = await call("actual", { text: "uses: http\nwith: { get: http://127.0.0.1:1 }" });
      assertAnswer(away, "ECONNREFUSED");
      assertError(await call("actual", { file: "d/a.yml", id: "none" }), "no step of 'd/a.yml'");
      assertError(await call("actual", { text: "hello" }), "not a step");
    });
  } finally {
    await shop.close();
  }
});

Deno.test("mcp reads and writes nothing outside of its directory", async () => {
  await withFiles({ "secret.yml": flow(PASSES), "in/a.yml": flow(PASSES) }, async (outside) => {
    const files = {
      "a.yml": flow(PASSES),
      "suite.yml": `name: s\nworkflows: [ ${outside}/secret.yml ]`,
      "read.yml": flow(`{ uses: echo, with: { message: "{{read_text('link.yml')}}" } }`),
      "send.yml": flow(`{ uses: http, with: { post: "http://127.0.0.1:1", file: link.yml } }`),
    };
    await withAssistant(files, async ({ call, directory }) => {
      await Deno.symlink(`${outside}/secret.yml`, `${directory}/link.yml`);
      await Deno.symlink(`${outside}/in`, `${directory}/in`);
      await Deno.symlink(outside, `${directory}/out`);
      const up = `../${outside.split("/").at(-1)}/secret.yml`;
      for (
        const file of ["link.yml", "out/secret.yml", up, `${outside}/secret.yml`, "/etc/passwd"]
      ) {
        for (const name of ["check", "run", "list"]) {
          assertError(await call(name, { file }), "--allow-read does not name");
        }
        assertError(await call("actual", { file, id: "good" }), "--allow-read does not name");
        assertError(await call("generate", { openapi: file }), "--allow-read does not name");
        const options = [`--var-file=${file}`];
        assertError(await call("run", { file: "a.yml", options }), "--allow-read does not name");
      }
      assertError(await call("run", { file: "suite.yml" }), "--allow-read does not name");
      for (const file of ["read.yml", "send.yml"]) {
        const { text } = await call("run", { file });
        assertStringIncludes(text, "--allow-read does not name");
      }
      assertError(await call("list"), "--allow-read does not name 'out'");
      assertAnswer(await call("run", { file: `${directory}/a.yml` }), "passed");

      for (const path of [`${outside}/new.yml`, "out/new.yml", "../new.yml"]) {
        const command = "curl http://127.0.0.1:1";
        assertError(await call("new_from_curl", { command, out: path }), "--allow-write");
        const save = flow(
          `{ uses: http, with: { get: "${"http://127.0.0.1:1"}", save: ${path} } }`,
        );
        assertStringIncludes((await call("run", { text: save })).text, "--allow-write");
        const options = [`--report=html=${path}`];
        assertStringIncludes((await call("run", { file: "a.yml", options })).text, "--allow-write");
      }
      await assertRejects(() => Deno.stat(`${outside}/new.yml`));
    });
  });
});

Deno.test("mcp runs commands as a plain run does, and with --allow options as a run with these", async () => {
  const shell = flow("{ uses: shell, with: { cmd: 'true' }, test: res.code == 0 }");
  await withAssistant({}, async ({ call }) => {
    assertAnswer(await call("run", { text: shell }), "passed");
  });
  await withAssistant({ "a.yml": flow(PASSES) }, async ({ call }) => {
    assertStringIncludes((await call("run", { text: shell })).text, "--allow-run does not name");
    const get = flow('{ uses: http, with: { get: "http://127.0.0.1:1" } }');
    assertStringIncludes((await call("run", { text: get })).text, "--allow-net does not name");
    assertError(await call("check", { file: "/etc/passwd" }), "--allow-read does not name");
    const wider = await call("run", { text: get, options: ["--allow-net=127.0.0.1"] });
    assertError(wider, "an option such as --only=job");
  }, { options: ["--allow-net=example.com"] });
  await withFiles({ "b.yml": flow(PASSES) }, async (cwd) => {
    const other = await Deno.realPath(cwd);
    await withAssistant({}, async ({ call }) => {
      assertAnswer(await call("run", { file: `${other}/b.yml` }), "passed");
    }, { options: [`--allow-read=${other}`] });
  });
});

Deno.test("mcp masks secrets in answers, errors and reports", async () => {
  const env = { API_TOKEN: "s3cr3t-0123456789" };
  const file = `vars: { token: "{{API_TOKEN}}" }\n${
    flow(`{ uses: echo, with: { message: "{{vars.token}}" }, test: res.message == "x" }`)
  }`;
  await withAssistant({ "a.yml": file }, async ({ call, read }) => {
    const run = await call("run", { file: "a.yml" });
    const texts = [
      run.text,
      await read(run.reports[0]!),
      (await call("actual", { text: `uses: echo\nwith: { message: ${env.API_TOKEN} }` })).text,
      (await call("check", { file: `${env.API_TOKEN}.yml` })).text,
      (await call("explain", { word: env.API_TOKEN })).text,
      (await call("check", { text: `name: ${env.API_TOKEN}\njobs: ${env.API_TOKEN}` })).text,
    ];
    for (const text of texts) {
      assert(!text.includes(env.API_TOKEN), text);
      assertStringIncludes(text, "***");
    }
  }, { env });
});

Deno.test("mcp writes no snapshot unless the call says so", async () => {
  const text = flow(
    "{ name: s, id: s, uses: echo, with: { message: hi }, snapshot: { of: res.message } }",
  );
  await withAssistant({ "a.yml": text }, async ({ call, directory }) => {
    assertAnswer(await call("run", { file: "a.yml" }), "FAILED");
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), ["a.yml"]);
    const options = ["--snapshot=write"];
    assertAnswer(await call("run", { file: "a.yml", options }), "passed");
    assertAnswer(await call("run", { file: "a.yml" }), "passed");
  });
});

Deno.test("mcp refuses what is no call of a tool", async () => {
  await withAssistant({ "a.yml": flow(PASSES) }, async ({ call }) => {
    assertError(await call("run", { fiel: "a.yml" }), 'Unrecognized key: "fiel"');
    assertError(await call("run", { file: 1 }), "expected string");
    assertError(await call("run", { file: "a.yml", options: ["--every=1s"] }), "an option such as");
    assertError(await call("nope"), "nope not found");
    const huge = await call("check", { text: `name: ${"x".repeat(5_000_000)}\njobs: ]` });
    assert(huge.text.length < 70_000, String(huge.text.length));
    const deep = await call("run", { text: `${"[".repeat(100_000)}` });
    assert(deep.isError);
    assertAnswer(await call("run", { file: "a.yml" }), "passed");
  });
});

/** A step that writes its process id, and sleeps until it is ended. */
const SLEEPS =
  "{ name: sleep, uses: shell, with: { cmd: 'echo $$ > pid; exec sleep 1000' }, timeout: 1h }";

async function pidOf(directory: string): Promise<number> {
  const read = async () => await Deno.readTextFile(`${directory}/pid`).catch(() => "");
  await until(async () => (await read()).endsWith("\n"), "the command runs");
  return Number(await read());
}

Deno.test("a cancelled call, the end of input and SIGTERM end what a run has started", async (test) => {
  await test.step("cancelled", async () => {
    await withAssistant({ "a.yml": flow(SLEEPS) }, async ({ call, directory }) => {
      const abort = new AbortController();
      const messages: unknown[] = [];
      const onprogress = ({ message }: { message?: string }) => void messages.push(message);
      const running = call("run", { file: "a.yml" }, { signal: abort.signal, onprogress });
      const ended = assertRejects(() => running);
      const pid = await pidOf(directory);
      await until(() => messages.length > 1, "it reports progress");
      abort.abort("enough");
      await ended;
      await until(() => !isRunning(pid), "the command ends");
      assertAnswer(await call("check", { file: "a.yml" }), "1 workflow checked");
    });
  });
  await test.step("SIGTERM", async () => {
    await withAssistant({ "a.yml": flow(SLEEPS) }, async ({ call, directory, pid: server }) => {
      const running = call("run", { file: "a.yml" });
      const pid = await pidOf(directory);
      Deno.kill(server, "SIGTERM");
      assertAnswer(await running, "interrupted");
      await until(() => !isRunning(pid) && !isRunning(server), "both end");
    });
  });
  await test.step("end of input", async () => {
    await withAssistant(
      { "a.yml": flow(SLEEPS) },
      async ({ call, client, directory, pid: server }) => {
        const ended = call("run", { file: "a.yml" }).catch(() => {});
        const pid = await pidOf(directory);
        await client.close();
        await ended;
        await until(() => !isRunning(pid) && !isRunning(server), "both end");
      },
    );
  });
});

Deno.test("mcp writes nothing but the protocol to standard output", async () => {
  await withFiles({}, async (cwd) => {
    const { code, stdout } = await startCli(["mcp"], { cwd }).output();
    assertEquals([code, new TextDecoder().decode(stdout)], [0, ""]);
  });
});
