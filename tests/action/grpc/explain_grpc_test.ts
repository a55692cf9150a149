import { assertEquals } from "@std/assert";
import { grpcExplainer } from "../../../src/action/grpc/explain_grpc.ts";

const { testHint } = grpcExplainer;

Deno.test("grpc explains status by the health of the service, or by the status of the call", () => {
  const unhealthy = { code: 0, status_code: "OK", body: { status: "NOT_SERVING" } };
  assertEquals(
    testHint!(["status"], unhealthy),
    "the health of the service is NOT_SERVING; status is 0 for SERVING",
  );
  const refused = { code: 5, status_code: "NOT_FOUND", body: null };
  assertEquals(testHint!(["status"], refused)?.startsWith("status is the number"), true);
  assertEquals(testHint!(["res.code"], refused), undefined);
});
