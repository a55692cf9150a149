import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  LoadError,
  loadWorkflow,
  makePlan,
  type Plan,
  run,
  type RunEvent,
  UsageError,
} from "../../mod.ts";
import { answerAsShop, SHOP_API } from "../support/servers/contract_shop.ts";
import { withRig } from "../support/run/rig.ts";
import { withProgram } from "../support/run/run_program.ts";
import { tlsCertificate, tlsPath, tlsText } from "../support/servers/tls_fixture.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

const SMALL = `
name: Small
jobs:
  - name: one
    steps:
      - { uses: hello }
`;

async function withPlan(
  workflow: string,
  use: (plan: Plan, directory: string) => Promise<void>,
): Promise<void> {
  await withFiles({ "w.yml": workflow }, async (directory) => {
    await use(await makePlan(await loadWorkflow(`${directory}/w.yml`)), directory);
  });
}

Deno.test("run() gives its events to a loop and to a function alike", async () => {
  await withPlan(SMALL, async (plan) => {
    const heard: RunEvent[] = [];
    const running = run(plan, { onEvent: (event) => heard.push(event) });
    const read = await Array.fromAsync(running);
    assertEquals(await running.passed, true);
    assertEquals(read, heard);
    assertEquals([read[0]?.type, read.at(-1)?.type], ["run_started", "run_finished"]);
  });
});

Deno.test("a run starts when its events are first read", async () => {
  await withPlan(SMALL, async (plan) => {
    const running = run(plan);
    await new Promise((resolve) => setTimeout(resolve));
    const [first] = await Array.fromAsync(running);
    assertEquals(first?.type, "run_started");
  });
});

Deno.test("the events of a run can only be read from the start, and once", async () => {
  await withPlan(SMALL, async (plan) => {
    const late = run(plan);
    assertEquals(await late.passed, true);
    assertThrows(() => late[Symbol.asyncIterator](), TypeError, "no later than the run begins");
    const twice = run(plan);
    await Array.fromAsync(twice);
    assertThrows(() => twice[Symbol.asyncIterator](), TypeError, "read once");
  });
});

Deno.test("run() holds requests against a description, and refuses one that it cannot read", async () => {
  await using server = withServer(answerAsShop);
  const files = {
    "api.yml": SHOP_API,
    "bad.yml": "openapi: [3\n",
    "w.yml": JSON.stringify({
      name: "n",
      jobs: [{
        name: "j",
        steps: [{ uses: "http", with: { url: `${server.url}/v1`, get: "/items?limit=51" } }],
      }],
    }),
  };
  await withFiles(files, async (directory) => {
    const plan = await makePlan(await loadWorkflow(`${directory}/w.yml`));
    assertEquals(await run(plan).passed, true);
    const events = await Array.fromAsync(run(plan, { openapi: `${directory}/api.yml` }));
    const end = events.at(-1);
    assert(end?.type === "run_finished" && end.state === "failed");
    assertEquals(end.coverage?.[0]?.operations[0]?.hits, 1);
    for (
      const [name, message] of [["bad.yml", 'this "[" is not closed'], ["no.yml", "not found"]]
    ) {
      const openapi = `${directory}/${name}`;
      await assertRejects(() => run(plan, { openapi }).passed, LoadError, message);
    }
  });
});

Deno.test("run() refuses numbers that make no sense", async () => {
  await withPlan(SMALL, async (plan) => {
    for (const jobs of [0, -1, 1.5, NaN]) {
      assertThrows(() => run(plan, { jobs }), RangeError, `not ${jobs}`);
    }
    for (const timeout of [0, -1, NaN]) {
      assertThrows(() => run(plan, { timeout }), RangeError, `not ${timeout}`);
    }
    assertEquals(await run(plan, { jobs: 1, timeout: Infinity }).passed, true);
  });
});

Deno.test("an error thrown by onEvent ends the run, and passed rejects with it", async () => {
  await withRig(async (rig) => {
    const hanging = `
name: Hanging
jobs:
  - name: wait
    steps:
      - { uses: http, with: { get: "${rig.url}/hang" } }
  - name: fail
    steps:
      - { uses: http, with: { get: "${rig.url}/" } }
`;
    await withPlan(hanging, async (plan) => {
      const heard: string[] = [];
      const { passed } = run(plan, {
        onEvent: ({ type }) => {
          heard.push(type);
          if (type === "step_finished") throw new Error("no room");
        },
      });
      await assertRejects(() => passed, Error, "no room");
      assertEquals(heard.at(-1), "step_finished");
    });
  });
});

Deno.test("run() reports why it was interrupted, for any reason of its signal", async () => {
  await withPlan(SMALL, async (plan) => {
    const aborted = (reason?: unknown) => AbortSignal.abort(reason);
    for (
      const [signal, reason] of [
        [aborted("enough"), "enough"],
        [aborted(), "interrupted"],
        [aborted(new DOMException("too late", "TimeoutError")), "timed out"],
        [aborted(new Error("no power")), "no power"],
      ] as const
    ) {
      const last = (await Array.fromAsync(run(plan, { signal }))).at(-1);
      assert(last?.type === "run_finished");
      assertEquals([last.interrupted, last.jobs.skipped], [reason, 1]);
    }
  });
});

Deno.test("run() ends at its timeout", async () => {
  await withRig(async (rig) => {
    const hanging = SMALL.replace("uses: hello", `uses: http, with: { get: "${rig.url}/hang" }`);
    await withPlan(hanging, async (plan) => {
      const running = run(plan, { timeout: 200 });
      const last = (await Array.fromAsync(running)).at(-1);
      assert(last?.type === "run_finished");
      assertEquals(last.interrupted, "the run timed out after 200ms");
      assertEquals(await running.passed, false);
    });
  });
});

Deno.test("jobs limits the concurrency, and failFast starts nothing new", async () => {
  const jobs = [1, 2, 3].map((number) => `
  - name: job ${number}
    steps:
      - { uses: hello, test: "${number} != 1" }`);
  await withPlan(`name: Jobs\njobs:${jobs.join("")}\n`, async (plan) => {
    const order: string[] = [];
    for await (const event of run(plan, { jobs: 1 })) {
      if (event.type === "job_started" || event.type === "job_finished") order.push(event.type);
    }
    assertEquals(order, Array(3).fill(["job_started", "job_finished"]).flat());
    const last = (await Array.fromAsync(run(plan, { jobs: 1, failFast: true }))).at(-1);
    assert(last?.type === "run_finished");
    assertEquals(last.jobs, { passed: 0, failed: 1, skipped: 2 });
  });
});

/** One command that runs on, one that is waited for and does not want to end, and their files. */
const COMMANDS = `
name: Commands
jobs:
  - name: run
    steps:
      - uses: shell
        with: { cmd: "sleep 60 & echo $! > first.pid; wait", background: true }
      - uses: shell
        with: { cmd: "trap '' TERM; sleep 60 & echo $! > second.pid; wait; sleep 60" }
`;

const ENDS = {
  "a loop that is left early": `
for await (const event of running) {
  if (event.type === "step_started" && event.run.step === 1) { await bothRun(); break; }
}`,
  "a signal": `
const { passed } = running;
await bothRun();
stop.abort();
await passed;`,
};

for (const [name, end] of Object.entries(ENDS)) {
  const program = `
import { isRunning, until } from "support/run/processes.ts";
import { LoadError, loadWorkflow, makePlan, run } from "@runner/runner";

const pidOf = (name: string) => Number(Deno.readTextFileSync(name + ".pid"));
const names = ["first", "second"];
const hasPid = (name: string) => { try { return pidOf(name) > 0; } catch { return false; } };
const leftFiles = () => [...Deno.readDirSync("temporary")].map(({ name }) => name);
const bothRun = () =>
  until(() => names.every(hasPid) && leftFiles().length === 2, "both commands run, with a log");

const stop = new AbortController();
const running = run(await makePlan(await loadWorkflow("w.yml")), { signal: stop.signal });
${end}
const alive = names.filter((name) => isRunning(pidOf(name)));
console.log(JSON.stringify({ alive, files: leftFiles(), passed: await running.passed }));
`;
  const ignore = Deno.build.os === "windows";
  Deno.test(`${name} ends the commands of a run, and removes its files`, { ignore }, async () => {
    const files = { "w.yml": COMMANDS, "temporary/.keep": "" };
    const env = { TMPDIR: "temporary" };
    await withProgram({ program, files, env }, ({ code, stdout, stderr }) => {
      assertEquals([code, stderr], [0, ""]);
      assertEquals(JSON.parse(stdout), { alive: [], files: [".keep"], passed: false });
    });
  });
}

Deno.test("run() uses the plugin of its own workflow, not that of an earlier run", async () => {
  const plugin = (from: string) =>
    `export default ({ action }) => action({ name: "who", summary: "Says where it is from", ` +
    `run: () => ({ res: { from: "${from}" } }) });\n`;
  const workflow = "name: w\njobs: [{ name: j, steps: [{ uses: who, echo: '{{ res.from }}' }] }]\n";
  const files = {
    "w.yml": workflow,
    "a/runner-who.js": plugin("a"),
    "b/runner-who.js": plugin("b"),
  };
  const before = Deno.env.get("RUNNER_PLUGIN_DIR");
  await withFiles(files, async (directory) => {
    const saidIn = async (plugins: string, permissions?: { net: [] }) => {
      Deno.env.set("RUNNER_PLUGIN_DIR", `${directory}/${plugins}`);
      const loaded = await loadWorkflow(`${directory}/w.yml`, permissions ? { permissions } : {});
      const events = await Array.fromAsync(run(await makePlan(loaded)));
      return events.flatMap((event) =>
        event.type === "step_finished"
          ? event.result.echo ?? event.result.failures.map(({ message }) => message)
          : []
      );
    };
    try {
      assertEquals([await saidIn("a"), await saidIn("b"), await saidIn("a")], [["a"], ["b"], [
        "a",
      ]]);
      const [refused] = await saidIn("b", { net: [] });
      assert(refused?.startsWith('cannot run the plugin "who"'), refused);
    } finally {
      if (before === undefined) Deno.env.delete("RUNNER_PLUGIN_DIR");
      else Deno.env.set("RUNNER_PLUGIN_DIR", before);
    }
  });
});

Deno.test("run() takes certificates for all connections, as paths or PEM text", async () => {
  await using server = withServer(() => new Response("in"), tlsCertificate("good"));
  const workflow = `
name: TLS
jobs: [{ name: j, steps: [{ uses: http, with: { get: "${server.url}" } }] }]
`;
  await withPlan(workflow, async (plan) => {
    assertEquals(await run(plan).passed, false);
    const client = tlsCertificate("good");
    for (const tls of [{ ca: tlsText("authority.pem"), ...client }, { insecure: true }]) {
      assertEquals(await run(plan, { tls }).passed, true);
    }
    assertEquals(await run(plan, { tls: { ca: tlsPath("authority.pem") } }).passed, true);
    const cases = [
      [{ ca: "none.pem" }, 'cannot read the file "none.pem" of "tls.ca": no such file (ENOENT)'],
      [{ key: client.key }, '"tls.key" requires "tls.cert"'],
      [{ ca: client.key }, 'PEM text of "tls.ca" holds no certificate'],
    ] as const;
    for (const [tls, message] of cases) {
      await assertRejects(() => run(plan, { tls }).passed, UsageError, message);
    }
  });
});
