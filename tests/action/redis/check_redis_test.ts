import { assertEquals } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { checkParameters } from "../../../src/action/parameters.ts";
import { redis } from "../../../src/action/redis/redis.ts";

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
    assertEquals(checkParameters(redis, params)[0]?.message, problem);
  });
}
