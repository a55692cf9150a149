import { assertEquals, assertStringIncludes } from "@std/assert";
import { netRefusal, parseHostRule } from "../../../src/action/permissions/host_rule.ts";

/** Whether a rule lets a URL be reached; undefined if the rule is invalid. */
function reaches(rule: string, url: string): boolean | undefined {
  const parsed = parseHostRule(rule);
  return parsed && netRefusal({ net: [parsed] }, new URL(url)) === undefined;
}

Deno.test("a rule for hosts lets these be reached and no others", async (test) => {
  const table: [rule: string, reached: string[], refused: string[]][] = [
    [
      "example.com",
      ["http://example.com", "https://example.com", "http://EXAMPLE.com.:8080/x"],
      ["http://www.example.com", "http://example.com.evil.test", "http://badexample.com"],
    ],
    ["example.com:443", ["https://example.com"], ["http://example.com", "https://example.com:80"]],
    ["example.com:80", ["http://example.com"], ["https://example.com"]],
    ["example.com:0080", ["http://example.com"], ["http://example.com:8080"]],
    [
      "*.example.com",
      ["http://a.example.com", "http://a.b.example.com:99"],
      ["http://example.com", "http://a.badexample.com", "http://example.com.evil.test"],
    ],
    ["*.example.com:8443", ["https://a.example.com:8443"], ["https://a.example.com"]],
    ["Bücher.Example", ["http://bücher.example", "http://xn--bcher-kva.example"], []],
    [
      "127.0.0.1",
      ["http://127.0.0.1:9", "http://0x7f.1", "http://2130706433"],
      ["http://localhost", "http://127.0.0.2", "http://[::1]", "http://[::ffff:127.0.0.1]"],
    ],
    ["[::1]:80", ["http://[::1]", "http://[0:0::0:1]"], ["https://[::1]", "http://127.0.0.1"]],
    ["[::1]", ["https://[::1]:8443"], ["http://[::2]"]],
    ["::1", ["https://[::1]:8443"], ["http://[::2]"]],
    ["localhost", ["http://localhost:1"], ["http://127.0.0.1:1", "http://localhost.evil.test"]],
    ["example.com", ["http://user:pw@example.com"], ["http://example.com@evil.test"]],
  ];
  for (const [rule, reached, refused] of table) {
    await test.step(rule, () => {
      assertEquals(reached.filter((url) => !reaches(rule, url)), []);
      assertEquals(refused.filter((url) => reaches(rule, url) !== false), []);
    });
  }
});

Deno.test("an invalid host is not accepted as a rule", async (test) => {
  const table = [
    ...["", "*", "*.", "a*.example.com", "http://example.com", "example.com/", "exa mple.com"],
    ...["example.com:", "example.com:0", "example.com:65536", "example.com:x", "a:b:c", "[::1"],
    ...["[zz]", "me@example.com", "*.10.0.0.1", "*.[::1]", "example.com?x", "example.com#x"],
  ];
  for (const text of table) {
    await test.step(JSON.stringify(text), () => assertEquals(parseHostRule(text), undefined));
  }
});

Deno.test("without rules every host is reached, and with an empty list none is", () => {
  const url = new URL("https://example.com/path");
  assertEquals(netRefusal({}, url), undefined);
  const refusal = netRefusal({ net: [] }, url);
  assertEquals(refusal?.message, "--allow-net does not name example.com port 443");
  assertStringIncludes(refusal?.hint ?? "", "--allow-net=example.com:443");
});
