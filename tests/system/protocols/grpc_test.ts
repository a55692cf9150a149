import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runCli, startCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { grpcServer } from "../servers/grpc_server.ts";

const FIXTURES = fromFileUrl(new URL("../../fixtures", import.meta.url));

/** Steps that call every kind of method, whatever says what the service is. */
const STEPS = `
      - uses: grpc
        with: { method: GetItem, body: { id: "7" }, metadata: { x-hint: here, x-more-bin: AQID } }
        test: >-
          res.body == {"id": "7", "name": "Ann's", "kind": "BOOK", "serial": "9007199254740993"} &&
          res.metadata["x-hint"] == "here" && res.trailers["x-bytes-bin"] == "AQID"
      - uses: grpc
        with:
          method: EchoItem
          body: { price: { currency: EUR, rates: [1, 2] }, stock: { a: 1 }, added_at: "2026-01-02T03:04:05Z", extra: { a: [nil] }, sizes: [1, 2], weight: 0, parts: [{ name: p }] }
        test: >-
          res.body.price.rates == [1, 2] && res.body.stock.a == 1 && res.body.weight == 0 &&
          res.body.addedAt == "2026-01-02T03:04:05Z" && res.body.sizes == [1, 2] && res.body.parts[0].name == "p"
      - uses: grpc
        with: { method: GetItem, body: { id: missing } }
        test: status == 5 && res.status_code == "NOT_FOUND" && res.status_message == 'there is no item "ü"'
      - uses: grpc
        with: { method: ListItems, body: { count: 1000 } }
        test: len(res.messages) == 1000 && res.body.id == "1000"
      - uses: grpc
        with: { method: AddItems, body: [{ id: a }, { id: b }] }
        test: res.body.count == 2
      - uses: grpc
        with: { method: Trade, body: [{ id: a }, { id: b }] }
        test: res.messages[0].id == "a!" && res.messages[1].id == "b!"
      - uses: grpc
        with: { method: GetItem, body: { id: large, count: 10000000 } }
        test: len(res.body.name) == 10000000
      - uses: grpc
        with: { health: true }
        test: res.status_code == "UNIMPLEMENTED"
`;

const WORKFLOW = `name: Interoperation
vars: { plain: "{{PLAIN}}", tls: "{{TLS}}", mutual: "{{MUTUAL}}" }
jobs:
  - name: reflection
    defaults: { grpc: { addr: "{{vars.plain}}", service: Shop } }
    steps:${STEPS}
  - name: files and TLS
    defaults:
      grpc:
        addr: "{{vars.tls}}"
        service: Shop
        proto: ${FIXTURES}/grpc/shop.proto
        import_paths: ${FIXTURES}/grpc
        tls: { ca: ${FIXTURES}/tls/authority.pem }
    steps:${STEPS}
  - name: a descriptor set and mutual TLS
    defaults:
      grpc:
        addr: "{{vars.mutual}}"
        service: shop.v1.Shop
        descriptor_set: shop.pb
        tls: true
        ca_file: ${FIXTURES}/tls/authority.pem
        cert_file: ${FIXTURES}/tls/good.pem
        key_file: ${FIXTURES}/tls/good_key.pem
    steps:${STEPS}
  - name: 100 in a row
    steps:
      - uses: grpc
        iteration: "{{ 1..100 }}"
        with: { addr: "{{vars.plain}}", service: Shop, method: AddItems, body: [{ id: "{{string(vars.item)}}" }] }
        test: res.body.count == 1
  - name: 20 at once
    repeat: { count: 20, async: true }
    steps:
      - uses: grpc
        with: { addr: "{{vars.plain}}", service: Shop, method: GetItem, body: { id: "1" }, connection: one }
        test: status == 0
  - name: no client certificate
    steps:
      - uses: grpc
        with: { addr: "{{vars.mutual}}", service: Shop, method: GetItem, tls: { ca: ${FIXTURES}/tls/authority.pem } }
`;

Deno.test("grpc speaks to a server of the library in C", async () => {
  await using server = await grpcServer();
  await withFiles({ "w.yml": WORKFLOW }, async (cwd) => {
    await Deno.copyFile(server.descriptorSet, `${cwd}/shop.pb`);
    const at = (port: number) => `127.0.0.1:${port}`;
    const env = { PLAIN: at(server.plain), TLS: at(server.tls), MUTUAL: at(server.mutualTls) };
    const { code, stdout, stderr } = await runCli(["w.yml"], { cwd, env });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "1 failed (", stdout + stderr);
    assertStringIncludes(stdout, " 1 failed", stdout);
    assertStringIncludes(stdout, "client certificate");
  });
});

/** Workflows, and what they print of a call that takes too long. */
const ENDS = [
  ["late.yml", "timed out after 300ms while waiting for the answer of shop.v1.Shop/Wait"],
  ["end.yml", "DEADLINE_EXCEEDED"],
] as const;

Deno.test("a server of the library in C sees that a call is cancelled", async () => {
  await using server = await grpcServer();
  const flow = (params: string) =>
    `name: n
jobs:
- name: j
  defaults: { grpc: { addr: "127.0.0.1:${server.plain}", service: Shop } }
  steps:
  - uses: grpc
    with: { method: GetItem, body: { id: "1" } }
    test: status == 0
  - uses: grpc
    with: { method: Wait${params} }
`;
  const files = {
    "w.yml": flow(""),
    "late.yml": flow(", timeout: 300ms"),
    "end.yml": flow(", deadline: 300ms"),
  };
  await withFiles(files, async (cwd) => {
    for (const [name, said] of ENDS) {
      const { stdout } = await runCli([name], { cwd });
      assertStringIncludes(stdout, said);
      assertEquals([await server.nextLine(), await server.nextLine()], ["waiting", "cancelled"]);
    }
    const child = startCli(["w.yml"], { cwd });
    const output = child.output();
    assertEquals(await server.nextLine(), "waiting");
    child.kill("SIGINT");
    assertEquals(await server.nextLine(), "cancelled");
    await output;
  });
});
