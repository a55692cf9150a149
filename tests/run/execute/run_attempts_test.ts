import { assertEquals } from "@std/assert";
import { type Attempt, loadWorkflow, makePlan, run, type StepResult } from "../../../mod.ts";
import { embedded } from "../../../src/actions/embedded.ts";
import { http } from "../../../src/actions/http/http.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { hideFields } from "../../../src/run/execute/step_detail.ts";
import { runMain } from "../../support/run/run_main.ts";
import { freePort } from "../../support/servers/free_port.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** The pauses of a step whose first attempts get these values of Retry-After, in milliseconds. */
async function pauses(values: readonly string[], step: string): Promise<number[]> {
  let asked = 0;
  await using server = withServer(() => {
    const value = values[asked++];
    return value === undefined
      ? new Response("ready")
      : new Response("busy", { status: 429, headers: value ? { "retry-after": value } : {} });
  });
  const workflow = `name: w
jobs:
  - name: j
    steps: [{ name: s, uses: http, with: { get: "${server.url}" }, test: res.code == 200, ${step} }]
`;
  return await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { stdout } = await runMain(["--report", "ndjson=r.ndjson", "w.yml"], { cwd });
    const lines = (await Deno.readTextFile(`${cwd}/r.ndjson`)).trim().split("\n");
    const events = lines.map((line) => JSON.parse(line));
    assertEquals(events.at(-1).type, "run_finished", stdout);
    return events.filter(({ type }) => type === "step_waiting").map((event) => event.milliseconds);
  });
}

const RETRY = "retry: { max_attempts: 3, interval: 2ms, respect_retry_after: true }";

Deno.test("a retry waits as long as Retry-After says, if it is to be respected", async () => {
  assertEquals(await pauses(["0", "1"], RETRY), [1000]);
  const ignores = RETRY.replace(", respect_retry_after: true", "");
  assertEquals(await pauses(["100", "100"], ignores), [2, 2]);
});

Deno.test("a retry waits for its interval where there is no Retry-After, or none that can be read", async () => {
  assertEquals(await pauses(["", "soon"], RETRY), [2, 2]);
});

Deno.test("a retry waits for a Retry-After at most as long as the step may take", async () => {
  const later = new Date(Date.now() + 3_600_000).toUTCString();
  assertEquals(await pauses(["3600", later], `timeout: 300ms, ${RETRY}`), [300, 300]);
});

Deno.test("earlier attempts have no secret that only the outputs of the step declare", async () => {
  let asked = 0;
  await using server = withServer(() => {
    const code = asked === 0 ? 500 : 200;
    return Response.json({ code: "c0de-Of-The-Login", ready: ++asked > 12 }, { status: code });
  });
  const workflow = `name: w
jobs:
  - name: j
    steps:
      - id: login
        uses: http
        with: { get: "${server.url}" }
        retry: { max_attempts: 20, interval: 0ms, until: res.body.ready }
        outputs: { password: res.body.code }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const files = ["json=r.json", "ndjson=r.ndjson", "html=r.html"];
    const { code, stdout } = await runMain(
      [...files.flatMap((file) => ["--report", file]), "-v", "w.yml"],
      { cwd },
    );
    assertEquals(code, 0, stdout);
    for (const name of ["r.json", "r.ndjson", "r.html"]) {
      const text = await Deno.readTextFile(`${cwd}/${name}`);
      assertEquals(text.includes("c0de-Of-The-Login"), false, name);
    }
    const lines = (await Deno.readTextFile(`${cwd}/r.ndjson`)).trim().split("\n");
    const { result } = lines.map((line) => JSON.parse(line))
      .find(({ type }) => type === "step_finished");
    const [first, second] = result.attempts;
    assertEquals(first.detail.exchange.res.body, { code: "***", ready: false });
    assertEquals(first.detail.exchange.res.code, 500);
    // Of many attempts, only the first and the latest have details.
    assertEquals(second.detail, undefined);
    assertEquals(result.attempts.at(-2).detail.exchange.res.body.code, "***");
  });
});

Deno.test("a step that only waited for its server to start is not flaky", async () => {
  const port = freePort();
  const workflow = `name: w
jobs:
  - name: j
    steps:
      - uses: http
        with: { get: "http://127.0.0.1:${port}/" }
        test: res.code == 200
        retry: { max_attempts: 1000, interval: 10ms }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const plan = await makePlan(await loadWorkflow(`${cwd}/w.yml`));
    let server: Deno.HttpServer | undefined;
    const start = () =>
      Deno.serve({ port, hostname: "127.0.0.1", onListen() {} }, () => new Response());
    let result: StepResult | undefined;
    const running = run(plan, {
      onEvent(event) {
        if (event.type === "step_retried") server ??= start();
        if (event.type === "step_finished") ({ result } = event);
      },
    });
    assertEquals(await running.passed, true);
    assertEquals([result!.attempts.length > 1, result!.flaky], [true, undefined]);
    await server?.shutdown();
  });
});

/** A port without a listener. */
Deno.test("where details are asked for, the first and the latest attempts keep theirs, masked", async () => {
  let asked = 0;
  await using server = withServer(() =>
    Response.json({ asked: ++asked, echo: "s3cr3t-word" }, { status: asked < 20 ? 503 : 200 })
  );
  const workflow = `name: w
vars: { password: "{{TEST_PASSWORD}}" }
jobs:
  - name: j
    steps:
      - uses: http
        with: { get: "${server.url}", headers: { x-password: "{{vars.password}}" } }
        test: res.code == 200
        retry: { max_attempts: 30, interval: 1ms }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const args = ["--report", "ndjson=r.ndjson", "w.yml"];
    await runMain(args, { cwd, env: { TEST_PASSWORD: "s3cr3t-word" } });
    const text = await Deno.readTextFile(`${cwd}/r.ndjson`);
    assertEquals(text.includes("s3cr3t-word"), false);
    const events = text.trim().split("\n").map((line) => JSON.parse(line));
    // Nothing is written twice.
    const retried = events.filter(({ type }) => type === "step_retried");
    assertEquals(retried.filter(({ attempt }) => attempt.detail).length, 0);
    const { attempts } = events.find(({ type }) => type === "step_finished").result;
    const detailed = attempts.filter((attempt: { detail?: unknown }) => attempt.detail);
    assertEquals(attempts.length, 20);
    assertEquals(
      detailed.map((attempt: Attempt) => [
        attempt.number,
        attempt.detail!.failures[0]!.message,
        (attempt.detail!.exchange!.res as { body: { asked: number } }).body.asked,
      ]),
      [1, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((number) => [number, "test is false", number]),
    );
  });
});

Deno.test("hideFields() hides the values of secret headers of http, however short", () => {
  assertEquals(
    hideFields(
      {
        url: "http://x",
        headers: { Authorization: "a", cookie: "b=1", "Set-Cookie": "c=1; Path=/", accept: "d" },
        cookies: [{ name: "c", value: "1", raw: "c=1; Path=/" }],
      },
      http.responseFields!,
    ),
    {
      url: "http://x",
      headers: {
        Authorization: "***",
        cookie: "b=***",
        "Set-Cookie": "c=***; Path=/",
        accept: "d",
      },
      cookies: [{ name: "c", value: "***", raw: "c=***; Path=/" }],
    },
  );
});

const hideOutputs = (outputs: Dict) => hideFields({ outputs }, embedded.responseFields!);

Deno.test("hideFields() hides outputs of job files with secret names, by step id and flat", () => {
  assertEquals(
    hideOutputs({ token: "a", login: { token: "a", user: "u" }, n: 1 }),
    { outputs: { token: "***", login: { token: "***", user: "u" }, n: 1 } },
  );
});

Deno.test("hideFields() shows that an output with a secret name is nil", () => {
  assertEquals(
    hideOutputs({ token: null, login: { token: null, password: "" } }),
    { outputs: { token: null, login: { token: null, password: "***" } } },
  );
});
