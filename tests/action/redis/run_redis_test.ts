import { assertEquals, assertRejects } from "@std/assert";
import { runRedis } from "../../../src/action/redis/run_redis.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";

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
