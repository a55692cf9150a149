import { assertEquals, assertStringIncludes } from "@std/assert";
import { netDenial, parseHostRule, pathDenial } from "../../../src/action/permissions/rules.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Whether a rule lets a URL be reached; undefined if the rule is invalid. */
function reaches(rule: string, url: string): boolean | undefined {
  const parsed = parseHostRule(rule);
  return parsed && netDenial({ net: [parsed] }, new URL(url)) === undefined;
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
  assertEquals(netDenial({}, url), undefined);
  const refusal = netDenial({ net: [] }, url);
  assertEquals(refusal?.message, "--allow-net does not name example.com port 443");
  assertStringIncludes(refusal?.hint ?? "", "--allow-net=example.com:443");
});

Deno.test({
  name: "a rule for paths covers what they lead to, and nothing beside",
  // It takes rights to make links there.
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFiles({ "in/a.txt": "", "in/deep/b.txt": "", "inside.txt": "" }, async (made) => {
      const directory = await Deno.realPath(made);
      await Deno.symlink(`${directory}/inside.txt`, `${directory}/in/out.txt`);
      await Deno.symlink(`${directory}/in/a.txt`, `${directory}/into.txt`);
      await Deno.symlink("../later.txt", `${directory}/in/dangling.txt`);
      await Deno.symlink("circle", `${directory}/in/circle`);
      await Deno.symlink("..", `${directory}/in/deep/up`);
      const permissions = {
        read: [{ path: `${directory}/in` }],
        write: [{ path: `${directory}/in` }],
      };
      const named = ["in", "in/", "in/a.txt", "in/deep/b.txt", "in/deep/../a.txt", "into.txt"]
        .concat("in/new/er.txt", "in/deep/up/a.txt", "in/new/./er.txt", "in/./deep/new.txt");
      const others = ["inside.txt", "in/../inside.txt", "in/out.txt", "in/dangling.txt", "inner"]
        .concat("in/circle", "", ".", "in/new/../../inside.txt", "in/deep/up/../inside.txt")
        .concat("in/a.txt/x/../../../inside.txt", "/", "in/new/deep/../../../in2");
      for (const kind of ["read", "write"] as const) {
        const refused = async (path: string) =>
          await pathDenial(permissions, kind, `${directory}/${path}`, denoHost()) !== undefined;
        for (const path of named) assertEquals([path, await refused(path)], [path, false]);
        for (const path of others) assertEquals([path, await refused(path)], [path, true]);
      }
      assertEquals(await pathDenial({}, "read", "/etc/passwd", denoHost()), undefined);
      const refusal = await pathDenial(
        permissions,
        "write",
        `${directory}/in/out.txt`,
        denoHost(),
      );
      assertEquals(
        refusal?.message,
        `--allow-write does not name '${directory}/in/out.txt', which leads to '${directory}/inside.txt'`,
      );
    }),
});
