import { assertEquals } from "@std/assert";
import { httpExplainer } from "../../../src/action/http/explain_http.ts";

const { describe, testHint } = httpExplainer;

Deno.test("http shows its first lines in place of their fields, and marks minor fields", () => {
  const req = {
    method: "GET",
    url: "http://localhost/",
    headers: { Accept: "*/*", "X-Id": "1" },
    body: "",
  };
  const res = { code: 404, status: "404 Not Found", headers: { date: "today" }, body: "text" };
  assertEquals(describe!(req, res), {
    request: {
      title: "GET http://localhost/",
      covered: ["method", "url", "body"],
      asJson: ["body"],
      minor: [["headers", "Accept"]],
    },
    response: {
      kept: res,
      title: "404 Not Found",
      covered: ["code", "status"],
      asJson: ["body"],
      minor: [["headers", "date"]],
    },
  });
  assertEquals(describe!(req, null).response, undefined);
});

Deno.test("http adds the code to a status line that lacks it", () => {
  const titleOf = (status: string) => describe!({}, { code: 500, status }).response?.title;
  assertEquals(titleOf("Oops"), "500 Oops");
  assertEquals(titleOf("HTTP/1.1 500 Oops"), "HTTP/1.1 500 Oops");
});

Deno.test("http keeps the raw text of a body for reports only where it was not parsed", () => {
  const keptOf = (res: Record<string, never>) => describe!({}, res).response?.kept;
  const text = { body: "text", rawbody: "raw" };
  assertEquals(keptOf(text as never), text);
  assertEquals(keptOf({ body: { a: 1 }, rawbody: '{"a":1}' } as never), { body: { a: 1 } });
});

Deno.test("http explains status and code if a test reads status", () => {
  assertEquals(testHint!(["status", "200"], {})?.endsWith("the code is res.code"), true);
  assertEquals(testHint!(["status"], { errors: [] })?.endsWith("the code is res.code"), true);
  assertEquals(testHint!(["status"], { errors: [{}] })?.endsWith("res.errors has them"), true);
  assertEquals(testHint!(["res.code"], {}), undefined);
});
