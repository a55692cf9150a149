import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import {
  type RawConnection,
  type RawServer,
  rawServer,
  response,
} from "../../support/servers/raw_server.ts";
import { withRig } from "../../support/run/rig.ts";
import { runCli, startCli, theProgram } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const MEGABYTE = new Uint8Array(1_000_000).fill(97);

async function gzipped(text: string): Promise<Uint8Array> {
  const zipped = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(zipped).arrayBuffer());
}

/** The responses of a broken server, by the requested path. */
const ANSWERS: Readonly<Record<string, (connection: RawConnection) => Promise<void>>> = {
  nothing: () => Promise.resolve(),
  silence: (connection) => connection.closed(),
  garbage: (connection) => connection.send("\x00\x01\xff garbage\r\n\r\n"),
  head: (connection) => connection.send("HTTP/1.1 200 OK\r\nContent-Le"),
  short: (connection) => connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
  chunk: (connection) =>
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc"),
  headers: (connection) => connection.send(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`),
  async large(connection) {
    await connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (let count = 0; count < 200; count++) await connection.send(MEGABYTE);
  },
  async gzip(connection) {
    const body = (await gzipped("hello ".repeat(1000))).slice(0, -10);
    const head =
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    await connection.send(head);
    await connection.send(body);
  },
  async bomb(connection) {
    const body = await gzipped("a".repeat(100_000_000));
    const head =
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    await connection.send(head);
    await connection.send(body);
  },
  loop: (connection) =>
    connection.send(response("302 Found", "", ["Location: /loop", "Connection: close"])),
  scheme: (connection) =>
    connection.send(response("302 Found", "", ["Location: file:///etc/passwd"])),
  bytes: (connection) =>
    connection.send(response("200 OK", "a\xff\xfeb", ["Content-Type: text/plain"])),
  json: (connection) =>
    connection.send(response("200 OK", '{"a": ', ["Content-Type: application/json"])),
};

function brokenServer(): RawServer {
  return rawServer(async (connection) => {
    const path = /^GET \/(\w+)/.exec(await connection.request() ?? "")?.[1] ?? "";
    await ANSWERS[path]?.(connection);
  });
}

/** The message for each invalid response. */
const MESSAGES: Readonly<Record<string, string>> = {
  nothing: "closed the connection without an answer",
  silence: "timed out after 300ms while waiting for the answer of 127.0.0.1",
  garbage: "is not HTTP (HPE_",
  head: "closed the connection without an answer",
  short: "closed the connection after 3 bytes of the body, before its end",
  chunk: "sent is not valid HTTP",
  headers: "are larger than 16 KB",
  large: "the body of the response is larger than the limit of 64 MiB",
  gzip: "the body of the response is not complete gzip data",
  bomb: "the body of the response is larger than the limit of 64 MiB",
  loop: "was redirected more than 10 times",
  scheme: 'the scheme "file://" of "file:///etc/passwd" is not supported',
};

/** A step that prints the peak memory of the program, if the system reports it. */
const PEAK = Deno.build.os !== "linux" ? "" : `  - name: peak
    uses: shell
    with:
      cmd: awk '/VmHWM/ {print $2}' /proc/$PPID/status
    test: int(trim(res.stdout)) < 400 * 1024
    echo: "{{ res.stdout }}"
`;

Deno.test("an error of a server fails its step, with the reason, and nothing else", async () => {
  await using server = brokenServer();
  const step = (path: string) =>
    `  - name: ${path}\n    uses: http\n    timeout: ${path === "silence" ? "300ms" : "1m"}\n` +
    `    with: {get: "${server.url}/${path}"}\n`;
  const yaml = `name: n\njobs:\n- name: j\n  steps:\n${Object.keys(MESSAGES).map(step).join("")}` +
    `${step("bytes")}    test: res.code == 200 && res.size == 4 && res.filepath != nil\n` +
    `${step("json")}    test: |\n      res.code == 200 && res.body == '{"a": '\n${PEAK}`;
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runCli(["w.yml"], { cwd }));
  assertEquals([result.code, result.stderr], [1, ""]);
  const blocks = result.stdout.split(/^ +\d+\. (?=[✓✗○])/m).slice(1);
  assertEquals(blocks.length, Object.keys(ANSWERS).length + (PEAK === "" ? 0 : 1));
  Object.values(MESSAGES).forEach((shown, index) => {
    const block = blocks[index]!.replaceAll(/\n +/g, " ");
    assertStringIncludes(block, "✗");
    assertStringIncludes(block, shown);
  });
  const others = blocks.slice(Object.keys(MESSAGES).length).map((block) => block.slice(0, 1));
  assertEquals(others.join(""), "✓".repeat(others.length), result.stdout);
});

/** Jobs one after the other: one that is done at once, one that waits for `/meet`, one for long. */
function jobsAt(url: string): string {
  const job = (id: string, step: string, needs = "") =>
    `- {name: ${id}, id: ${id}, needs: [${needs}], steps: [${step}]}\n`;
  return "name: n\njobs:\n" + job("a", "{uses: hello}") +
    job("b", `{uses: http, with: {get: "${url}/meet/x/2"}}`, "a") +
    job("c", "{uses: hello, wait: 1h}", "b");
}

Deno.test("a run ends with 1 soon after the reader of its report has gone", async () => {
  await withRig((rig) =>
    withFiles({ "w.yml": jobsAt(rig.url) }, async (cwd) => {
      const child = startCli(["w.yml"], { cwd });
      const reader = child.stdout.getReader();
      await reader.read();
      // A program that ends before it asks would be waited for in vain.
      await Promise.race([rig.untilSeen("/meet/x/2"), child.status]);
      await reader.cancel();
      assertEquals(rig.seen, ["/meet/x/2"]);
      await fetch(`${rig.url}/meet/x/2`).then((answer) => answer.body?.cancel());
      const stderr = await new Response(child.stderr).text();
      assertEquals([(await child.status).code, stderr], [1, ""]);
    })
  );
});

Deno.test({
  name: "a report that is piped into head ends with 1 and no words",
  ignore: Deno.build.os === "windows",
  async fn() {
    const [program, before] = theProgram();
    const steps = "  - {uses: hello, echo: text}\n".repeat(20_000);
    const yaml = `name: n\njobs:\n- name: j\n  steps:\n${steps}`;
    await withFiles({ "w.yml": yaml }, async (cwd) => {
      const line = '"$@" w.yml 2>err | head -n 1; echo "${PIPESTATUS[0]}"';
      const { stdout } = await new Deno.Command("bash", {
        args: ["-c", line, "bash", program, ...before],
        cwd,
      }).output();
      assertEquals(new TextDecoder().decode(stdout), "n\n1\n");
      assertEquals(await Deno.readTextFile(`${cwd}/err`), "");
    });
  },
});

Deno.test({
  name: "an output that cannot be written is reported in one line",
  ignore: Deno.build.os !== "linux",
  async fn(test) {
    const [program, before] = theProgram();
    const yaml = "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n";
    const shown = (what: string) => `runner: error: ${what}: No space left on device\n`;
    const table: [args: string, stderr: string][] = [
      ["w.yml", shown("cannot write to standard output")],
      ["--list w.yml", shown("cannot write to standard output")],
      ["--dry-run w.yml", shown("cannot write to standard output")],
      ["--report json=- w.yml", shown("cannot write to standard output")],
      ["dag w.yml", shown("cannot write to standard output")],
      ["check w.yml", shown("cannot write to standard output")],
      ["schema", shown("cannot write to standard output")],
      ["--help", shown("cannot write to standard output")],
    ];
    await withFiles({ "w.yml": yaml }, async (cwd) => {
      for (const [args, stderr] of table) {
        await test.step(args, async () => {
          const result = await new Deno.Command("sh", {
            args: ["-c", `"$@" ${args} > /dev/full`, "sh", program, ...before],
            cwd,
          }).output();
          assertEquals([result.code, new TextDecoder().decode(result.stderr)], [1, stderr]);
        });
      }
    });
  },
});

Deno.test("a duration that a template gives wrongly fails its step before anything is done", async () => {
  const forms = 'must be a duration like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds';
  const steps: readonly (readonly [yaml: string, shown: string])[] = [
    ['wait: "{{ vars.soon }}"', `"wait" ${forms}, not "soon"`],
    ['timeout: "{{ vars.negative }}"', '"timeout" must not be negative, not "-5s"'],
    ['wait: "{{ vars.missing }}"', `"wait" ${forms}, not nil`],
    [
      'retry: {max_attempts: 2, initial_delay: "{{ vars.list }}"}',
      `"initial_delay" ${forms}, not [1]`,
    ],
  ];
  const yaml = `name: n
vars: {soon: soon, negative: -5s, list: [1]}
jobs:
- name: j
  steps:
${steps.map(([fields]) => `  - {uses: shell, with: {cmd: touch ran}, ${fields}}\n`).join("")}
  - {uses: shell, with: {cmd: touch ran, timeout: "{{ vars.soon }}"}}
  - {uses: http, with: {get: "http://127.0.0.1:1", timeout: "{{ vars.soon }}"}}
- {name: k, repeat: {count: 2, interval: "{{ vars.soon }}"}, steps: [{uses: shell, with: {cmd: touch ran}}]}
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const result = await runMain(["--no-check", "w.yml"], { cwd });
    assertNoTrace(result);
    assertEquals(result.code, 1);
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), ["w.yml"]);
    const shown = result.stdout.replaceAll(/\n +/g, " ");
    for (const [, message] of steps) assertStringIncludes(shown, message);
    assertStringIncludes(shown, `cannot run shell: "timeout" ${forms}, not "soon"`);
    assertStringIncludes(shown, `cannot run http: "timeout" ${forms}, not "soon"`);
    assert(/"interval" must be a duration/.test(shown));
  });
});
