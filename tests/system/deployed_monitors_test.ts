/** The unit of systemd and the manifests of Kubernetes that documents show. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { loadAll } from "js-yaml";
import { openShop } from "../../scripts/demo_server.ts";
import { readBlocks, readDocument } from "../support/documents.ts";
import { startCli } from "../support/run/run_cli.ts";
import { freePort } from "../support/servers/free_port.ts";
import { withFiles } from "../support/temp_dir.ts";

const ENGINES = fromFileUrl(new URL("../tools/engines/deno.json", import.meta.url));
const MONITORING = "docs/cookbook/monitoring.md";
const KUBERNETES = "docs/ci/kubernetes.md";

/** The blocks of a document with a line of this form. */
async function blocksWith(path: string, line: RegExp): Promise<string[]> {
  const texts = readBlocks(await readDocument(path)).map(({ text }) => text);
  return texts.filter((text) => line.test(text));
}

const unitOf = async () => (await blocksWith(MONITORING, /^\[Service\]$/m))[0]!;

/** Runs a program in a directory; what it printed on both streams. */
async function outputOf(cwd: string, program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(program, {
    ...{ args: [...args], cwd, env: { NO_COLOR: "1" } },
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

Deno.test("systemd finds nothing wrong with the unit", async () => {
  const unit = (await unitOf()).replace("/usr/local/bin/runner", Deno.execPath());
  assertEquals(await verifyUnit(unit), "");
  for (
    const [from, to] of [
      ["Restart=always", "Restart=allways"],
      ["KillMode=", "KilMode="],
      ["TimeoutStopSec=90s", "TimeoutStopSec=90x"],
      [Deno.execPath(), "/nowhere/runner"],
    ] as const
  ) {
    assert(unit.includes(from), from);
    assertStringIncludes(await verifyUnit(unit.replace(from, to)), to.replace(/^\w+=(?=.)|=$/, ""));
  }
});

async function verifyUnit(unit: string): Promise<string> {
  return await withFiles({ "watch.service": unit }, async (cwd) => {
    const args = ["verify", "--man=no", "--recursive-errors=no", "./watch.service"];
    return await outputOf(cwd, "systemd-analyze", args);
  });
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

async function manifests(): Promise<Manifest[]> {
  const texts = await blocksWith(KUBERNETES, /^apiVersion:/m);
  return texts.flatMap((text) => loadAll(text) as Manifest[]);
}

Deno.test("manifests for Kubernetes have the fields and types of its API, and no others", async () => {
  const all = await manifests();
  assertEquals(all.map(({ kind }) => kind), [
    "CronJob",
    "Deployment",
    "PersistentVolumeClaim",
    "Pod",
  ]);
  assertEquals(await checkManifests(all), "");
  const text = JSON.stringify(all);
  for (
    const [from, to, said] of [
      ['"readinessProbe"', '"readyProbe"', '"readyProbe"'],
      ['"backoffLimit":0', '"backoffLimit":"0"', "Type 'string' is not assignable"],
      ['{"name":"tmp",', "{", "'\"name\"' is missing"],
    ] as const
  ) {
    assert(text.includes(from), from);
    assertStringIncludes(await checkManifests(JSON.parse(text.replace(from, to))), said);
  }
});

/** What the types of Kubernetes say about manifests. */
async function checkManifests(all: readonly Manifest[]): Promise<string> {
  const lines = all.flatMap((manifest, index) => {
    const { apiVersion, kind } = manifest;
    return [
      `import type { I${kind} } from "kubernetes-models/${apiVersion}/${kind}";`,
      `export const manifest${index}: I${kind} = ${JSON.stringify(manifest)};`,
    ];
  });
  return await withFiles({ "manifests.ts": lines.join("\n") }, async (cwd) => {
    const args = ["check", "--quiet", "--frozen", "--config", ENGINES, "manifests.ts"];
    return await outputOf(cwd, Deno.execPath(), args);
  });
}

Deno.test("what the unit and the deployment run is healthy, has metrics, and ends with SIGTERM", async () => {
  const [deployment] = (await manifests()).filter(({ kind }) => kind === "Deployment") as [
    Manifest & { spec: { template: { spec: { containers: [{ args: string[] }] } } } },
  ];
  const [, command] = /^ExecStart=\S+ (.*)$/m.exec(await unitOf())!;
  const [watch = ""] = await blocksWith(MONITORING, /^name: Watch$/m);
  const [smoke = ""] = await blocksWith(KUBERNETES, /^name: Smoke test$/m);
  const shop = openShop();
  try {
    const { args } = deployment.spec.template.spec.containers[0];
    for (const words of [command!.split(" "), args]) {
      await withFiles({ "watch.yml": watch, "flows/smoke.yml": smoke }, async (cwd) => {
        await Deno.mkdir(`${cwd}/state`);
        await tryMonitor(cwd, words, shop.url);
      });
    }
  } finally {
    await shop.close();
  }
});

/** Starts a monitor with its state in the directory, and ends it after its first run. */
async function tryMonitor(cwd: string, words: readonly string[], shop: string): Promise<void> {
  const url = `http://127.0.0.1:${freePort()}`;
  const args = words.map((word) =>
    word.replace(/^(?:%S\/watch|\/state)\//, "state/").replace(/^(.*:)?8080$/, new URL(url).host)
  );
  const child = startCli(args, { cwd, env: { SHOP_URL: shop, ALERT_URL: `${shop}/alerts` } });
  const stderr = new Response(child.stderr).text();
  let stdout = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const isFirst = !/ passed /.test(stdout);
    stdout += text;
    if (isFirst && / passed /.test(stdout)) {
      const [health, metrics] = [await fetch(`${url}/health`), await fetch(`${url}/metrics`)];
      assertEquals([health.status, metrics.status], [200, 200], await health.text());
      assertStringIncludes(await metrics.text(), "\nrunner_run_passed{");
      child.kill("SIGTERM");
    }
  }
  assertEquals((await child.status).code, 0, stdout + await stderr);
  assertMatch(stdout, / passed /);
  const state = words[words.indexOf("--state") + 1]!.replace(/.*\//, "state/");
  assertStringIncludes(await Deno.readTextFile(`${cwd}/${state}`), '"state":"passed"');
}
