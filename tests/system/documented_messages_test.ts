/**
 * Runs the workflows of the documents that need a server of messages, as they are there.
 *
 * @module
 */
import { assertRuns } from "../support/documented_workflow.ts";
import { withFiles } from "../support/temp_dir.ts";
import { postgresServer } from "./servers/database_servers.ts";
import { natsServer } from "./servers/nats_server.ts";
import { rabbitServer } from "./servers/rabbit_server.ts";
import { redisServer } from "./servers/redis_server.ts";

Deno.test("the consumer and the request of the cookbook work with RabbitMQ", () =>
  withFiles({}, async (dir) => {
    await using server = await rabbitServer(dir);
    const env = { RABBIT_URL: `amqp://ann:open-sesame-42@127.0.0.1:${server.port}` };
    await assertRuns("cookbook/messages", "Queue consumer", env);
    await assertRuns("cookbook/messages", "Request over RabbitMQ", env);
  }));

Deno.test("the request and its reply in the cookbook work with NATS", () =>
  withFiles({}, async (dir) => {
    await using server = await natsServer(dir);
    const env = { NATS_URL: `nats://ann:open-sesame-42@127.0.0.1:${server.port}` };
    await assertRuns("cookbook/messages", "Request and reply", env);
  }));

Deno.test("the workflows of the page of redis work", () =>
  withFiles({}, async (dir) => {
    await using server = await redisServer(dir);
    const env = { REDIS_URL: `redis://:open-sesame-42@127.0.0.1:${server.port}` };
    await assertRuns("reference/actions/redis", "Orders", env);
    await assertRuns("reference/actions/redis", "Queue", env);
  }));

Deno.test("the notifications of the page of db come from PostgreSQL", async () => {
  await using server = await postgresServer("open-sesame-42");
  const url = `postgres://app:open-sesame-42@127.0.0.1:${server.port}/postgres`;
  await assertRuns("reference/actions/db", "Notifications", { DATABASE_URL: url });
});
