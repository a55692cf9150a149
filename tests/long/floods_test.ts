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
const frame = (channel, payload) => "\\x01\\0" + channel + "\\0\\0\\0" +
  String.fromCharCode(payload.length) + payload + "\\xce";
// tune, connection.open-ok, channel.open-ok, qos-ok and consume-ok
const AMQP = [
  frame("\\0", "\\0\\x0a\\0\\x1e\\0\\x0a\\0\\0\\x20\\0\\0\\0"),
  frame("\\0", "\\0\\x0a\\0\\x29\\0"),
  frame("\\x01", "\\0\\x14\\0\\x0b\\0\\0\\0\\0"),
  frame("\\x01", "\\0\\x3c\\0\\x0b"),
  frame("\\x01", "\\0\\x3c\\0\\x15\\x01c"),
];
for await (const connection of listener) serve(connection).catch(() => {});
async function serve(connection) {
  const request = new Uint8Array(4096);
  if (protocol !== "tcp") await connection.read(request);
  await connection.write(encode(await headOf(new TextDecoder().decode(request))));
  for (const answer of protocol === "amqp" ? AMQP : []) {
    await connection.read(request);
    await connection.write(encode(answer));
  }
  for (;;) await connection.write(flood);
}
async function headOf(request) {
  if (protocol === "sse") return "HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n\\r\\n";
  if (protocol === "redis") return "+PONG\\r\\n*100000000\\r\\n";
  if (protocol === "tcp" || protocol === "kafka") return "";
  if (protocol === "amqp") return frame("\\0", "\\0\\x0a\\0\\x0a");
  const key = /sec-websocket-key: *(\\S+)/i.exec(request)[1];
  const text = encode(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  const accept = new Uint8Array(await crypto.subtle.digest("SHA-1", text)).toBase64();
  return "HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n" +
    "Sec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n";
}
`;

const GRPC =
  "{ uses: grpc, with: { addr: '127.0.0.1:PORT', service: S, method: M, proto: s.proto } }";

const KAFKA = "{ uses: kafka, with: { brokers: '127.0.0.1:PORT', publish: a, body: x } }";

const AMQP =
  "{ uses: amqp, with: { url: 'amqp://127.0.0.1:PORT', subscribe: q, until: \"message.body == 'zzz'\" } }";

/** A message for the consumer `c`: its method, its header and its content. */
const DELIVERY = "\x01\0\x01\0\0\0\x12\0\x3c\0\x3c\x01c\0\0\0\0\0\0\0\x01\0\0\x01q\xce" +
  "\x02\0\x01\0\0\0\x0e\0\x3c\0\0\0\0\0\0\0\0\0\x02\0\0\xce" +
  "\x03\0\x01\0\0\0\x02hi\xce";

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
  ["kafka", "\0\0\0\x04\0\0\0\x07", KAFKA],
  ["amqp", "\x08\0\0\0\0\0\0\xce", AMQP],
  ["amqp", DELIVERY, AMQP],
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
