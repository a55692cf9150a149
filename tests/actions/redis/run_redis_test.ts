import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { redis, splitCommand } from "../../../src/actions/redis/redis.ts";
import { runnerOf } from "../../support/run_action.ts";
import { NoValue, Param } from "../../../src/action/rule.ts";
import { StepError } from "../../../src/base/errors.ts";
import type { Value } from "../../../src/base/value/value.ts";
import { actionContext } from "../../support/action_context.ts";

const runRedis = runnerOf(redis);

/** A server that answers what it receives with one reply after another, and then closes. */
function replyServer(replies: readonly string[]) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const serve = async (connection: Deno.Conn) => {
    for (const reply of [...replies, ""]) {
      await connection.read(new Uint8Array(1024));
      await connection.write(new TextEncoder().encode(reply));
    }
    connection.close();
  };
  const done = (async () => {
    for await (const connection of listener) await serve(connection).catch(() => {});
  })();
  return {
    port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await done;
    },
  };
}

Deno.test("redis reads replies of all types", async () => {
  const array = "*4\r\n:7\r\n$-1\r\n$2\r\nab\r\n*1\r\n:9007199254740993\r\n";
  await using server = replyServer(["+PONG\r\n", array, "$2\r\né\r\n", "-MY error\r\n"]);
  await using context = actionContext();
  const params = { url: `redis://127.0.0.1:${server.port}`, commands: ["a", "b", "c", "d"] };
  const { res, status } = await runRedis(params, context);
  assertEquals(status, 1);
  assertEquals(res.replies, [[7, null, "ab", [9007199254740993n]], "é"]);
  assertEquals([res.reply, res.error, res.error_code], [null, "MY error", "MY"]);
});

Deno.test("redis closes a connection on which replies come that no command awaits", async () => {
  await using server = replyServer(["+PONG\r\n", `+PONG\r\n${"+x\r\n".repeat(100_000)}`]);
  await using context = actionContext();
  const params = { url: `redis://127.0.0.1:${server.port}`, commands: ["PING", "PING"] };
  const { message } = await assertRejects(() => runRedis(params, context), StepError);
  assertStringIncludes(message, "closed the connection");
});

const FAILURES: readonly (readonly [replies: readonly string[], message: string])[] = [
  [["+PONG\r\n"], "cannot send GET to redis at PLACE: PLACE closed the connection"],
  [[], "cannot connect to redis at PLACE: PLACE closed the connection"],
  [["HTTP/1.1 400 Bad Request\r\n\r\n"], "at PLACE: it answers, but not as a Redis server"],
  [["* OK IMAP4rev1 ready\r\n"], "at PLACE: it answers, but not as a Redis server"],
  [["*1\r\n".repeat(200_000)], "at PLACE: it answers, but not as a Redis server"],
];

for (const [replies, message] of FAILURES) {
  Deno.test(`redis explains a server that replies ${JSON.stringify(replies).slice(0, 40)}`, async () => {
    await using server = replyServer(replies);
    await using context = actionContext();
    await assertRejects(
      () => runRedis({ url: `redis://127.0.0.1:${server.port}`, command: "GET a" }, context),
      StepError,
      message.replaceAll("PLACE", `127.0.0.1 port ${server.port}`),
    );
  });
}

const URL = "redis://127.0.0.1";

const PROBLEMS: readonly (readonly [params: Dict, problem: string | undefined])[] = [
  [{ url: URL, command: "PING" }, undefined],
  [{ url: "{{vars.url}}", command: '{{vars.a["b"]}} "' }, undefined],
  [{ url: URL, commands: ["PING", ["GET", "{{vars.key}}"]] }, undefined],
  [{ url: "rediss://127.0.0.1", command: "PING", tls: { verify: false } }, undefined],
  [{ url: "http://127.0.0.1", command: "PING" }, 'invalid URL "http://127.0.0.1"'],
  [{ url: `${URL}/a`, command: "PING" }, `invalid URL "${URL}/a"`],
  [{ url: URL, command: "PING", tls: { verify: false } }, 'a URL with redis:// takes no "tls"'],
  [{ url: URL, command: 'GET "a' }, 'the command "GET \\"a" has a quote that is not closed'],
  [
    { url: URL, commands: ["PING", "MONITOR"] },
    "MONITOR is not supported, because it waits for messages without end",
  ],
];

for (const [params, problem] of PROBLEMS) {
  Deno.test(`redis checks ${JSON.stringify(params)}`, () => {
    assertEquals(redis.problems!(params)[0]?.message, problem);
  });
}

const PARAM = new Param("redis");

const WORDS: readonly (readonly [command: string | readonly Value[], parts: readonly string[]])[] =
  [
    ["PING", ["PING"]],
    ["ping", ["PING"]],
    ["  SET a  b ", ["SET", "a", "b"]],
    [`SET a "b c\\n"`, ["SET", "a", "b c\n"]],
    [`SET a 'b "c"'`, ["SET", "a", 'b "c"']],
    [`SET a ""`, ["SET", "a", ""]],
    [["SET", "a b", 1, true, { x: 1 }], ["SET", "a b", "1", "true", '{"x":1}']],
  ];

Deno.test("splitCommand() splits at spaces outside quotes", () => {
  for (const [command, parts] of WORDS) assertEquals(splitCommand(command, PARAM), parts);
});

Deno.test("splitCommand() refuses a quote that is not closed and a command without words", () => {
  for (const command of [`SET a "b`, "", []]) {
    assertThrows(
      () => splitCommand(command, PARAM),
      NoValue,
      "the command",
    );
  }
});

Deno.test("splitCommand() refuses a command that receives without end", () => {
  for (const command of ["ssubscribe news", ["MONITOR"]]) {
    assertThrows(() => splitCommand(command, PARAM), NoValue, "is not supported");
  }
});
