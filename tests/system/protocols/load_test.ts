import { assertEquals } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { echoServer } from "../../support/servers/echo_sockets.ts";
import { grpcShop } from "../../support/servers/grpc_shop.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { postgresServer } from "../servers/database_servers.ts";
import { redisServer } from "../servers/redis_server.ts";

const FLOW = `
name: Load
vars:
  redis: "{{REDIS_URL}}"
  postgres: "{{POSTGRES_URL}}"
  grpc: "{{GRPC_ADDR}}"
  sockets: "{{SOCKETS_URL}}"
x-load: &load { users: 2, count: 10, expect: stats.failed == 0 && stats.count == 10 }
jobs:
  - name: each round has a connection
    id: fresh
    load: *load
    steps:
      - uses: redis
        with: { url: "{{vars.redis}}", command: PING }
        test: res.reply == "PONG"
      - uses: redis
        with: { url: "{{vars.redis}}", command: PING }
        test: res.reply == "PONG"
  - name: each user has a connection
    id: kept
    load: *load
    steps:
      - uses: redis
        with: { url: "{{vars.redis}}", command: PING, connection: "user {{round.user}}" }
        test: res.reply == "PONG"
  - name: connections
    needs: [fresh, kept]
    steps:
      - uses: redis
        with: { url: "{{vars.redis}}", command: INFO stats }
        test: res.reply contains "total_connections_received:13\\r"
  - name: postgres
    load: *load
    steps:
      - uses: db
        with: { dsn: "{{vars.postgres}}", query: "SELECT {{round.index}} AS round" }
        test: res.rows[0].round == round.index
  - name: sqlite
    load: *load
    steps:
      - uses: db
        with: { dsn: "sqlite:///shop.db", query: "SELECT 1 AS one" }
        test: res.rows[0].one == 1
  - name: grpc
    load: *load
    steps:
      - uses: grpc
        with:
          addr: "{{vars.grpc}}"
          service: shop.v1.Shop
          method: GetItem
          body: { id: b1 }
          connection: shop
        test: res.code == 0
  - name: websocket
    load: *load
    steps:
      - uses: websocket
        with: { url: "{{vars.sockets}}", send: hello, expect: hello }
        test: status == 0
  - name: shell
    load: *load
    steps:
      - uses: shell
        with: { cmd: "echo {{round.index}}" }
        test: trim(res.stdout) == string(round.index)
`;

Deno.test("steps that are not requests run under load, and share connections by their rules", async () => {
  await withFiles({ "flow.yml": FLOW }, async (dir) => {
    await using redis = await redisServer(dir);
    await using postgres = await postgresServer("open-sesame-42");
    await using grpc = await grpcShop();
    await using sockets = echoServer();
    const env = {
      REDIS_URL: `redis://:open-sesame-42@127.0.0.1:${redis.port}/0`,
      POSTGRES_URL: `postgres://app:open-sesame-42@127.0.0.1:${postgres.port}/postgres`,
      GRPC_ADDR: grpc.addr,
      SOCKETS_URL: sockets.url.replace("http", "ws"),
    };
    const { code, stdout, stderr } = await runMain(["flow.yml"], { cwd: dir, env });
    assertEquals([code, stderr], [0, ""], stdout);
    assertEquals(sockets.requests.length, 10);
    const count = (line: string) => grpc.seen.filter((one) => one === line).length;
    assertEquals([count("session"), count("GetItem begins")], [1, 10]);
  });
});
