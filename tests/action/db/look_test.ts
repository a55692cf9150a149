import { assertRejects } from "@std/assert";
import { lookAtMysql, lookAtPostgres } from "../../../src/action/db/look.ts";
import { rawServer } from "../../support/servers/raw_server.ts";

Deno.test("a look at a certificate ends when the server closes the connection", async () => {
  await using server = rawServer((connection) => Promise.resolve(connection.close()));
  const place = { host: "127.0.0.1", port: server.port };
  await assertRejects(() => lookAtPostgres(place), Error);
  await assertRejects(() => lookAtMysql(place), Error);
});
