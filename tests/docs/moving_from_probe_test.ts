import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CHECKOUT, readDocument } from "../support/documents.ts";
import { grpcShop } from "../support/servers/grpc_shop.ts";
import { startCli } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { sshServer } from "../support/servers/ssh_server.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";
import { ACTIONS } from "./probe/actions.ts";
import type { Claim, Claims } from "./probe/claim.ts";
import { ELSEWHERE } from "./probe/elsewhere.ts";
import { RUNNING } from "./probe/running.ts";
import { VALUES } from "./probe/values.ts";
import { WORKFLOWS } from "./probe/workflows.ts";
import { assertPassed } from "../support/assert_passed.ts";

const CLAIMS: Claims = { ...VALUES, ...RUNNING, ...ACTIONS, ...ELSEWHERE };

/** The first cells of the rows of the page. */
async function readRows(): Promise<string[]> {
  const page = await readDocument("docs/migrate/probe.md");
  return [...page.matchAll(/^\| (.*?[^\\]) +\| /gm)].map(([, cell]) => cell!.trim())
    .filter((cell) => cell !== "Probe" && !/^-+$/.test(cell));
}

Deno.test("every row about moving from Probe has a proof, and every proof a row", async () => {
  assertEquals((await readRows()).sort(), Object.keys(CLAIMS).sort());
});

Deno.test("what the rows about moving from Probe claim is true", {
  // Their commands are for sh.
  ignore: Deno.build.os === "windows",
}, async (test) => {
  await using server = withServer(answer);
  await using ssh = await sshServer();
  await using grpc = await grpcShop();
  const servers = {
    SSH_PORT: `${ssh.port}`,
    SSH_USER: ssh.user,
    SSH_PASSWORD: ssh.password,
    SSH_KEY: ssh.key,
    GRPC_ADDR: grpc.addr,
  };
  for (const [row, claims] of Object.entries(CLAIMS)) {
    await test.step(row, async () => {
      for (const claim of [claims].flat() as Claim[]) await prove(claim, server.url, servers);
    });
  }
});

Deno.test("workflows written for Probe run unchanged", {
  ignore: Deno.build.os === "windows",
}, async (test) => {
  await using server = withServer(answer);
  for (const [title, { files, args, fails, shows = [] }] of Object.entries(WORKFLOWS)) {
    await test.step(title, async () => {
      const texts = Object.entries(files).map(([name, text]) =>
        [name, text.replaceAll("URL", server.url)] as const
      );
      await withFiles(Object.fromEntries(texts), async (cwd) => {
        const { code, stdout, stderr } = await runMain(args ?? ["flow.yml"], { cwd });
        assertEquals(code, fails ? 1 : 0, stdout + stderr);
        if (!fails) assertPassed(stdout);
        for (const text of shows) assertStringIncludes(stdout, text);
      });
    });
  }
});

Deno.test("a job is printed while others run", async () => {
  const printed = Promise.withResolvers<void>();
  await using server = withServer(async () => {
    await printed.promise;
    return new Response("printed");
  });
  const flow = `name: n
jobs:
  - { name: first, steps: [{ name: is done, uses: hello, test: status == 0 }] }
  - { name: last, steps: [{ uses: http, with: { get: "${server.url}/" }, timeout: 60s, test: res.code == 200 }] }
`;
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const child = startCli(["flow.yml"], { cwd });
    const stderr = new Response(child.stderr).text();
    let stdout = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      stdout += text;
      // Only this lets the other job end.
      if (stdout.includes("✓ is done") || stdout.includes("first › is done")) printed.resolve();
    }
    printed.resolve();
    assertEquals([(await child.status).code, await stderr], [0, ""], stdout);
  });
});

async function prove(claim: Claim, url: string, servers: Record<string, string>): Promise<void> {
  if (claim.provenBy) {
    const [file, title] = claim.provenBy;
    const text = await Deno.readTextFile(`${CHECKOUT}${file}`);
    assertStringIncludes(text, JSON.stringify(title), `${file} has no such test`);
    return;
  }
  const put = (text: string) => text.replaceAll("URL", url);
  const indent = (text: string) => text.replace(/^/gm, "      ");
  const flow = claim.steps === undefined
    ? claim.flow
    : `name: n\njobs:\n  - name: j\n    steps:\n${indent(claim.steps)}\n`;
  const files = Object.entries({
    ...claim.files,
    ...flow === undefined ? {} : { "flow.yml": flow },
  });
  await withFiles(
    Object.fromEntries(files.map(([name, text]) => [name, put(text)])),
    async (cwd) => {
      const env = Object.entries(claim.env ?? {}).map(([name, value]) => [name, put(value)]);
      const { code, stdout, stderr } = await runMain(claim.args ?? ["--no-check", "flow.yml"], {
        cwd,
        env: { ...claim.needs ? servers : {}, ...Object.fromEntries(env) },
      });
      const output = stdout + stderr;
      assertEquals(code, claim.code ?? 0, output);
      for (const text of claim.shows ?? []) assertStringIncludes(output, text);
      if (claim.gone) {
        const [path] = claim.gone.exec(stdout) ?? [];
        assert(path !== undefined, output);
        await assertRejects(() => Deno.stat(path), Deno.errors.NotFound);
      }
      for (const text of claim.hides ?? []) assert(!output.includes(text), output);
    },
  );
}

/** A server that says what it got, and answers in the ways that the rows are about. */
async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const typed = (body: string, type: string) =>
    new Response(body, { headers: { "content-type": type } });
  switch (pathname) {
    case "/never":
      return await new Promise((resolve) =>
        request.signal.addEventListener("abort", () => resolve(new Response()))
      );
    case "/redirect":
      return new Response(null, { status: 302, headers: { location: "/echo" } });
    case "/number":
      return typed("42", "application/json");
    case "/broken":
      return typed("{broken}", "application/json");
    case "/problem":
      return typed('{"title": "no"}', "application/problem+json");
    case "/svg":
      return typed("<svg/>", "image/svg+xml");
    case "/yaml":
      return typed("a: 1", "application/yaml");
    case "/binary":
      return new Response(new Uint8Array([255, 0, 254]), {
        headers: { "content-type": "application/octet-stream" },
      });
    default:
      return Response.json({
        path: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
  }
}
