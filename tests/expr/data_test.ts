import { assertEquals, assertThrows } from "@std/assert";
import { parseData, templatesIn } from "../../src/expr/parse/parse_data.ts";
import { renderData } from "../../src/expr/template/template_data.ts";
import { ExpressionError } from "../../src/base/errors.ts";

const scope = { names: { n: 7, list: [1] }, strict: true };

Deno.test("renderData() renders strings and keeps everything else", () => {
  const data = {
    url: "/users/{{ n }}",
    body: { items: ["{{ list }}", true, null, 1.5], plain: { deep: ["x"] } },
    "{{ n }}": "{{ n }}",
  };
  const { template, errors } = parseData(data);
  assertEquals(errors, []);
  assertEquals(
    JSON.stringify(renderData(template, scope)),
    JSON.stringify({
      url: "/users/7",
      body: { items: [[1], true, null, 1.5], plain: { deep: ["x"] } },
      "{{ n }}": 7,
    }),
  );
});

Deno.test("renderData() keeps the key __proto__ as data", () => {
  const data = JSON.parse('{"__proto__": {"x": "{{ n }}"}}');
  const rendered = renderData(parseData(data).template, scope) as object;
  assertEquals(Object.keys(rendered), ["__proto__"]);
  assertEquals(JSON.stringify(rendered), '{"__proto__":{"x":7}}');
});

Deno.test("parseData() makes one constant of data without a template", () => {
  const value = { a: [1, "text", { b: "{{ unclosed" }], c: null };
  const { template } = parseData({ value, other: "{{ n }}" });
  assertEquals(template.kind, "map");
  const entries = template.kind === "map" ? template.entries : [];
  assertEquals(entries[0], ["value", { kind: "constant", value }]);
  assertEquals(renderData(parseData(value).template, scope) === value, true);
});

Deno.test("parseData() reports every invalid string with its path", () => {
  const { errors } = parseData({ a: "{{ n + }}", b: [{ c: "ok" }, { c: "x {{}}" }], d: "{{ n }}" });
  assertEquals(errors.map(({ path }) => path), [["a"], ["b", 1, "c"]]);
  assertEquals(errors.map(({ start }) => start), [7, 2]);
});

Deno.test("renderData() says in an error which string it was", () => {
  const { template } = parseData({ a: { b: ["{{ n }}", "x {{ nope }}"] } });
  const error = assertThrows(() => renderData(template, scope), ExpressionError);
  assertEquals(error.path, ["a", "b", 1]);
  assertEquals([error.message, error.start, error.end], ['unknown name "nope"', 5, 9]);
});

Deno.test("templatesIn() gives every template with its path", () => {
  const { template } = parseData({ a: "{{ n }}", b: ["x", "{{ list }} {{ n }}"], c: { d: 1 } });
  assertEquals(
    [...templatesIn(template)].map(({ path, template }) => [path, template.source]),
    [[["a"], "{{ n }}"], [["b", 1], "{{ list }} {{ n }}"]],
  );
});
