import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertHidden } from "../support/assert_hidden.ts";
import { grpcShop } from "../support/servers/grpc_shop.ts";
import { rawServer } from "../support/servers/raw_server.ts";
import { runCli, startCli } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

const SECRETS = ["b3arer-T0ken-x", "4pi-Key-Head", "b0dy-Passw0rd"];

const FLOW = `name: grpc
vars: { addr: "{{GRPC_ADDR}}" }
jobs:
  - name: shop
    defaults:
      grpc:
        addr: "{{vars.addr}}"
        service: Shop
        metadata: { authorization: Bearer b3arer-T0ken-x, x-api-key: 4pi-Key-Head, x-hint: readable }
    steps:
      - uses: grpc
        with: { method: EchoItem, body: { id: "7", extra: { password: b0dy-Passw0rd } } }
        test: res.body.id == "8"
      - uses: grpc
        with: { method: GetItem, body: { id: missing } }
        test: res.status_code == "NOT_FOUND" && status == 5
      - uses: grpc
        with: { method: GetItm }
`;

Deno.test("grpc shows its exchanges as JSON in all reports, and secrets nowhere", async () => {
  await using shop = await grpcShop();
  await withFiles({ "w.yml": FLOW }, async (cwd) => {
    const env = { GRPC_ADDR: shop.addr };
    const { stdout, stderr } = await runMain(["-v", "--report-dir", "reports", "w.yml"], {
      cwd,
      env,
    });
    const reports = readDirectory(`${cwd}/reports`);
    for (const name of ["report.json", "report.html"]) {
      assertStringIncludes(reports[name]!, "shop.v1.Shop/EchoItem");
    }
    for (const [name, text] of Object.entries({ ...reports, stdout, stderr })) {
      for (const secret of SECRETS) assertHidden(secret, text, name);
    }
    assertStringIncludes(stdout, `shop.v1.Shop/EchoItem at ${shop.addr}`);
    assertStringIncludes(stdout, 'body: {"id": "7", "extra": {"password": "***"}}');
    assertStringIncludes(stderr, "NOT_FOUND (5)");
    assertStringIncludes(stdout, "grpcurl -plaintext");
    assertStringIncludes(stdout, "-H 'x-hint: readable'");
    assertStringIncludes(stdout, 'did you mean "GetItem"?');
  });
});

Deno.test("grpc connects only where it may", async () => {
  await withFiles({ "w.yml": FLOW }, async (cwd) => {
    const env = { GRPC_ADDR: "127.0.0.1:1" };
    const { stdout } = await runMain(["--allow-net=example.com", "w.yml"], { cwd, env });
    assertMatch(stdout, /cannot connect to 127\.0\.0\.1 port 1: --allow-net does not/);
  });
});

Deno.test("an interrupted run cancels its gRPC call on the server", async () => {
  await using shop = await grpcShop();
  const flow = `name: n
jobs:
  - name: j
    steps: [{ uses: grpc, with: { addr: "${shop.addr}", service: Shop, method: Wait } }]
`;
  await withFiles({ "w.yml": flow }, async (cwd) => {
    const child = startCli(["w.yml"], { cwd });
    const output = child.output();
    await shop.untilSeen("Wait begins");
    child.kill("SIGINT");
    await shop.untilSeen("Wait ended 8");
    const { code, stdout } = await output;
    assertEquals(code === 0, false);
    assertStringIncludes(
      new TextDecoder().decode(stdout),
      "while waiting for the answer of shop.v1.Shop/Wait",
    );
  });
});

Deno.test("a server that sends something else before HTTP/2 fails the step, and not the program", async () => {
  await using server = rawServer(async (connection) => {
    await connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nno\n");
    await connection.closed();
  });
  // Its bytes come before the connection is ready, or after.
  const flow = `name: n
jobs:
  - name: j
    repeat: { count: 20 }
    steps: [{ uses: grpc, with: { addr: "127.0.0.1:${server.port}", service: Shop, method: Wait } }]
`;
  await withFiles({ "w.yml": flow }, async (cwd) => {
    const { stdout, stderr } = await runCli(["w.yml"], { cwd });
    assertStringIncludes(stdout, `the connection to 127.0.0.1 port ${server.port} was lost`);
    assertStringIncludes(stdout, "20 rounds, 20 failed", stderr);
  });
});
