import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { theProgram } from "../support/run/run_cli.ts";
import { freePort } from "../support/servers/free_port.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

/** Lines of a stream, as they come. */
class Lines {
  readonly #lines: AsyncIterator<string>;
  text = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    const texts = stream.pipeThrough(new TextDecoderStream());
    this.#lines = splitLines(texts);
  }

  /** Resolves after so many lines that match. */
  async next(pattern: RegExp, count = 1): Promise<void> {
    for (let found = 0; found < count;) {
      const { value, done } = await this.#lines.next();
      assert(!done, `no line like ${pattern} in:\n${this.text}`);
      this.text += `${value}\n`;
      if (pattern.test(value)) found++;
    }
  }

  /** Reads to the end. */
  async rest(): Promise<void> {
    for (let line; !(line = await this.#lines.next()).done;) this.text += `${line.value}\n`;
  }
}

async function* splitLines(texts: ReadableStream<string>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const text of texts) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}

/** A real nginx on a port, with a directory of its own; resolves when it accepts connections. */
async function startNginx(directory: string, port: number) {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${directory}/${name};`);
  await Deno.writeTextFile(
    `${directory}/nginx.conf`,
    `daemon off; pid ${directory}/nginx.pid; error_log stderr notice; worker_processes 1;
events {}
http {
  access_log off; ${temporary.join(" ")}
  server { listen 127.0.0.1:${port}; location / { return 200 "teas"; } }
}
`,
  );
  const nginx = new Deno.Command("nginx", {
    args: ["-c", `${directory}/nginx.conf`, "-e", "stderr"],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log = new Lines(nginx.stderr);
  await log.next(/start worker process \d+/);
  let stopped: Promise<unknown> | undefined;
  return () => {
    if (!stopped) nginx.kill("SIGTERM");
    return stopped ??= Promise.all([nginx.status, log.rest()]);
  };
}

const WORKFLOW = `name: Watch
vars: { shop: "{{SHOP_URL}}", alerts: "{{ALERT_URL}}" }
jobs:
  - name: Shop
    steps:
      - name: teas are listed
        uses: http
        with: { get: "{{vars.shop}}/teas" }
        test: res.code == 200 && res.body == "teas"
finally:
  - name: call the team after three failures in a row
    skipif: run.state != "failed" || run.streak != 3
    uses: http
    with:
      post: "{{vars.alerts}}"
      json: { text: "Shop is down: {{run.failures[0].step}}: {{run.failures[0].message}}" }
  - name: say that it is well again
    skipif: run.state != "passed" || run.previous?.state != "failed" || run.previous.streak < 3
    uses: http
    with: { post: "{{vars.alerts}}", json: { text: "Shop works again" } }
`;

Deno.test("a monitor of nginx alerts after three failures, and when it is well again", () =>
  withFiles({ "w.yml": WORKFLOW }, async (cwd) => {
    const alerts: string[] = [];
    await using inbox = withServer(async (request) => {
      alerts.push((await request.json()).text);
      return new Response(null, { status: 201 });
    });
    const port = freePort();
    let stopNginx = await startNginx(cwd, port);
    const [program, args] = theProgram();
    const monitor = new Deno.Command(program, {
      args: [...args, "--every", "500ms", "--state", "s.json", "--serve", "0", "w.yml"],
      cwd,
      env: { SHOP_URL: `http://127.0.0.1:${port}`, ALERT_URL: inbox.url },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const serving = new Lines(monitor.stderr);
    await serving.next(/^serving http/);
    const url = /serving (\S+)/.exec(serving.text)![1]!;
    const get = async (path: string) => {
      const response = await fetch(new URL(path, url));
      return { status: response.status, body: await response.text() };
    };
    const metric = async (name: string) => {
      const { body } = await get("metrics");
      return new RegExp(`^${name}\\S* (\\S+)$`, "m").exec(body)?.[1];
    };
    const runs = new Lines(monitor.stdout);
    try {
      await runs.next(/Z {2}passed {2}/, 2);
      assertEquals((await get("health")).body, "ok\n");
      assertEquals(await metric("runner_run_passed"), "1");
      assertEquals((await get("report?last=failed")).status, 404);

      await stopNginx();
      await runs.next(/Z {2}failed {2}/, 2);
      assertEquals(alerts, []);
      await runs.next(/Z {2}failed {2}/, 3);
      const [alert] = alerts;
      assertMatch(
        alert!,
        /^Shop is down: teas are listed: .*refused the connection \(ECONNREFUSED\)/,
      );
      assertEquals(alerts, [alert]);
      assertEquals(await metric("runner_run_passed"), "0");
      assert(Number(await metric("runner_streak")) >= 5);
      const { body: page } = await get("");
      assertStringIncludes(page, "<title>✗ Watch</title>");
      assertMatch(page, /Shop › teas are listed<\/a> has failed for .*ECONNREFUSED/);
      assertStringIncludes((await get("report?last=failed")).body, "ECONNREFUSED");
      // That what it watches is down is no reason to restart the monitor.
      assertEquals((await get("health")).status, 200);

      stopNginx = await startNginx(cwd, port);
      await runs.next(/Z {2}passed {2}/, 2);
      assertEquals(alerts, [alert, "Shop works again"]);
      assertEquals(await metric("runner_run_passed"), "1");
      const { body: after } = await get("");
      assertStringIncludes(after, "<title>✓ Watch</title>");
      assert(!after.includes("has failed for"));
      assertMatch(after, /last failure <time.*its report<\/a>/);
      assertStringIncludes((await get("report")).body, "<title>✓ Watch</title>");
      assertStringIncludes((await get("report?last=failed")).body, "<title>✗ Watch</title>");
    } finally {
      monitor.kill("SIGTERM");
      await stopNginx();
      await Promise.all([runs.rest(), serving.rest()]);
    }
    assertEquals((await monitor.status).code, 0);
    assertEquals(
      JSON.parse(await Deno.readTextFile(`${cwd}/s.json`)).runs["w.yml"].state,
      "passed",
    );
  }));
