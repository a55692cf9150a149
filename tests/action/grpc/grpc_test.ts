import { assertEquals } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { grpc } from "../../../src/action/grpc/grpc.ts";
import { checkParameters } from "../../../src/action/parameters.ts";

const CALL = { addr: "localhost:1", service: "a.B", method: "C" };

/** Parameters with what is wrong with them. */
const CHECKS: readonly (readonly [params: Dict, ...messages: string[]])[] = [
  [CALL],
  [{ ...CALL, addr: "{{vars.addr}}" }],
  [{ ...CALL, addr: "[::1]:50051", body: [{}], tls: { ca: "ca.pem" }, max_messages: 1 }],
  [{ addr: "localhost:1", health: true }],
  [{ addr: "localhost:1", health: "", service: "from.Defaults" }],
  [{ addr: "localhost:1" }, 'grpc needs "service" and "method", or "health"'],
  [{ addr: "localhost:1", service: "a.B" }, 'grpc needs "method"'],
  [
    { addr: "localhost:1", service: "a.B/C" },
    'grpc needs "method" (write service: a.B, method: C)',
  ],
  [{ ...CALL, health: true }, '"health" and "method" cannot be combined'],
  [
    { ...CALL, addr: "http://localhost:1" },
    'invalid address "http://localhost:1" (write a host and a port: localhost:50051)',
  ],
  [
    { ...CALL, addr: "localhost" },
    'invalid address "localhost" (write a host and a port: localhost:50051)',
  ],
  [{ ...CALL, proto: "a", descriptor_set: "b" }, '"proto" and "descriptor_set" cannot be combined'],
  [{ ...CALL, import_paths: "a" }, '"import_paths" belongs to "proto", which is not there'],
  [{ ...CALL, ca_file: "a" }, '"ca_file" needs "tls: true"'],
  [{ ...CALL, tls: true, cert_file: "a" }],
  [{ ...CALL, tls: true, key_file: "a" }, '"key_file" needs "cert_file"'],
  [{ ...CALL, tls: {}, insecure: true }, '"tls" as a map and "insecure" cannot be combined'],
  [{ ...CALL, max_messages: 0 }, '"max_messages" must be at least 1'],
  [{ ...CALL, data: {} }, 'unknown parameter "data" of grpc (the key is "body")'],
  [{ ...CALL, headers: {} }, 'unknown parameter "headers" of grpc (the key is "metadata")'],
];

Deno.test("grpc checks its parameters before the run", () => {
  for (const [params, ...messages] of CHECKS) {
    const found = checkParameters(grpc, params).map(({ message, hint }) =>
      hint === undefined ? message : `${message} (${hint})`
    );
    assertEquals(found, messages);
  }
});
