/**
 * Servers that send small messages without a pause: the step ends at its timeout, and memory stays
 * bounded.
 *
 * @module
 */
import { assert, assertStringIncludes } from "@std/assert";
import { theProgram } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

/** Sends `head` after the request, and `part` again and again. */
const SERVER = `
const [protocol, json] = Deno.args;
const part = JSON.parse(json);
if (protocol === "grpc") {
  const { createServer } = await import("node:http2");
  const server = createServer();
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    const flood = new Uint8Array(65536 - 65536 % part.length).map((_, at) => part.charCodeAt(at % part.length));
    const write = () => {
      while (stream.write(flood));
      stream.once("drain", write);
    };
    write();
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  await new Promise(() => {});
}
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
console.log(listener.addr.port);
const encode = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const flood = encode(part.repeat(Math.ceil(65536 / part.length)));
for await (const connection of listener) serve(connection).catch(() => {});
async function serve(connection) {
  const request = new Uint8Array(4096);
  if (protocol !== "tcp") await connection.read(request);
  await connection.write(encode(await headOf(new TextDecoder().decode(request))));
  for (;;) await connection.write(flood);
}
async function headOf(request) {
  if (protocol === "sse") return "HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n\\r\\n";
  if (protocol === "redis") return "+PONG\\r\\n*100000000\\r\\n";
  if (protocol === "tcp") return "";
  const key = /sec-websocket-key: *(\\S+)/i.exec(request)[1];
  const text = encode(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  const accept = new Uint8Array(await crypto.subtle.digest("SHA-1", text)).toBase64();
  return "HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n" +
    "Sec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n";
}
`;

const GRPC =
  "{ uses: grpc, with: { addr: '127.0.0.1:PORT', service: S, method: M, proto: s.proto } }";

/** A step against the server at PORT, by the message that the server repeats. */
const FLOODS: readonly (readonly [protocol: string, part: string, step: string])[] = [
  [
    "websocket",
    "\x81\x02hi",
    "{ uses: websocket, with: { url: 'ws://127.0.0.1:PORT/', until: \"message == 'zzz'\" } }",
  ],
  [
    "websocket",
    "\x81\x00",
    "{ uses: websocket, with: { url: 'ws://127.0.0.1:PORT/', expect: zzz } }",
  ],
  [
    "sse",
    "data: 1\n\n",
    "{ uses: sse, with: { url: 'http://127.0.0.1:PORT/', until: \"message.data == 2\" } }",
  ],
  ["tcp", "hi\n", "{ uses: tcp, with: { host: 127.0.0.1, port: PORT, expect: zzz } }"],
  ["grpc", "\0\0\0\0\0", GRPC],
  ["grpc", "\0\0\0\0\x03\n\x01a", GRPC],
  ["redis", ":1\r\n", "{ uses: redis, with: { url: 'redis://127.0.0.1:PORT', command: GET a } }"],
];

/** Seconds that the step may take, and megabytes. */
const [TIMEOUT, LONGEST] = [2, 5];
const MAX_MEMORY = 300;

for (const [protocol, part, step] of FLOODS) {
  Deno.test(`a flood of ${JSON.stringify(part)} by ${protocol} ends in time and in bounds`, async () => {
    const proto = 'syntax = "proto3"; message T { string text = 1; } ' +
      "service S { rpc M(T) returns (stream T); }";
    await withFiles({ "server.ts": SERVER, "s.proto": proto }, async (cwd) => {
      const server = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-config", "server.ts", protocol, JSON.stringify(part)],
        cwd,
        stdout: "piped",
      }).spawn();
      const reader = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
      const port = (await reader.read()).value!.trim();
      const job = `name: n\njobs:\n- name: j\n  steps:\n  - ${step.replace("PORT", port)}\n`;
      await Deno.writeTextFile(`${cwd}/w.yml`, job.replace(" } }", `, timeout: ${TIMEOUT}s } }`));
      const [program, args] = theProgram();
      const began = performance.now();
      const child = await new Deno.Command("/usr/bin/time", {
        args: ["-f", "%M", program, ...args, "w.yml"],
        cwd,
      }).output();
      const seconds = (performance.now() - began) / 1000;
      server.kill("SIGKILL");
      await server.status;
      await reader.cancel();
      const [stdout, stderr] = [child.stdout, child.stderr].map((bytes) =>
        new TextDecoder().decode(bytes)
      );
      assertStringIncludes(stdout!, "1 failed (1)");
      const megabytes = Number(stderr!.trim().split("\n").at(-1)) / 1024;
      assert(seconds < LONGEST, `${seconds} s: ${stdout}`);
      assert(megabytes < MAX_MEMORY, `${megabytes} MB: ${stdout}`);
    });
  });
}
