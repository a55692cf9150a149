import { assertEquals, assertThrows } from "@std/assert";
import { ExpressionError } from "../../src/base/errors.ts";
import { loadAllFunctions } from "../../src/expr/functions/registry.ts";
import { explained } from "../../src/expr/hints.ts";
import { parseData, parseTemplate, templatesIn } from "../../src/expr/parse_expression.ts";
import { isTemplate, renderData, renderText } from "../../src/expr/template.ts";

await loadAllFunctions();

const scope = {
  names: { n: 7, s: "hi", list: [1, 2.5, "a"], map: { b: null, a: 1 }, nothing: null, f: 1.5 },
  strict: true,
};

Deno.test("a text that is one template keeps the type of its value", () => {
  const cases: [string, unknown][] = [
    ["{{n}}", 7],
    ["  {{ n }}\n", 7],
    ["{{list}}", scope.names.list],
    ["{{ map }}", scope.names.map],
    ["{{ nothing }}", null],
    ["{{ n == 7 }}", true],
    ["{{n}}{{n}}", "77"],
    ["{{n}} {{s}}", "7 hi"],
    ["no template", "no template"],
    ["", ""],
  ];
  for (const [source, value] of cases) {
    assertEquals(parseTemplate(source).render(scope), value, source);
  }
});

Deno.test("parseTemplate() leaves it to the grammar where an expression ends", () => {
  const cases: [string, unknown][] = [
    ['{{ "}}" }}', "}}"],
    ["a{{ '{x}' }}b", "a{x}b"],
    ["{{ {a: {b: 1}}.a.b }}", 1],
    ['{"a":{"b":{{n}}}}', '{"a":{"b":7}}'],
    ["{{ filter(list, {type(#) == 'int'}) }}", [1]],
    ["{{ n /* }} */ }}", 7],
    ["{{ n\n + 1 }}", 8],
    ["${{ n }}", "$7"],
    ["{ {{n}} }", "{ 7 }"],
    ['{{ "{{.Names}}" }}', "{{.Names}}"],
    ["{{ unclosed", "{{ unclosed"],
    ["}} stray", "}} stray"],
    ["{{n}} and {{ open", "7 and {{ open"],
    ["{ { n } }", "{ { n } }"],
    ["{{n}}}}", "7}}"],
  ];
  for (const [source, value] of cases) {
    assertEquals(parseTemplate(source).render(scope), value, source);
  }
});

Deno.test("parseTemplate() refuses invalid expressions", () => {
  for (const source of ["{{}}", "a {{ }} b", "{{ n n }}", "{{ n } }}", "{{{n}}}", "{{.Names}}"]) {
    assertThrows(() => parseTemplate(source), ExpressionError);
  }
});

Deno.test("renderText() writes values so that they can be read back", () => {
  const cases: [expression: string, text: string][] = [
    ["s", "hi"],
    ["true", "true"],
    ["42", "42"],
    ["42.0", "42"],
    ["1234567.0", "1234567"],
    ["0.00001", "0.00001"],
    ["9007199254740991", "9007199254740991"],
    ["-0.0", "0"],
    ["1.0 / 0", "+Inf"],
    ["-1.0 / 0", "-Inf"],
    ["0.0 / 0", "NaN"],
    ["list", '[1,2.5,"a"]'],
    ["map", '{"a":1,"b":null}'],
    ["[]", "[]"],
    ["{}", "{}"],
    ['["<&>\\u{1F600}"]', '["<&>\u{1F600}"]'],
  ];
  for (const [expression, text] of cases) {
    assertEquals(
      renderText(parseTemplate(`<{{ ${expression} }}>`), scope),
      `<${text}>`,
    );
    assertEquals(renderText(parseTemplate(`{{ ${expression} }}`), scope), text);
  }
});

Deno.test("renderText() refuses nil, and writes it where people alone read", () => {
  const cases = [
    ["/users/{{ nothing }}", "nothing", 'if that is right, add ?? ""'],
    ["{{ nothing }}", "nothing", 'if that is right, add ?? ""'],
    ["{{ map.zz }}", "map.zz", 'map has no "zz"; there is "b", "a"'],
    ["/{{ n > 0 ? nil : 2 }}", "this", 'if that is right, add ?? ""'],
  ] as const;
  for (const [source, what, hint] of cases) {
    const template = parseTemplate(source);
    const error = assertThrows(() => renderText(template, scope), ExpressionError);
    assertEquals(error.message, `${what} is nil, and would leave a gap in the text`);
    assertEquals(explained(error).hint, hint);
    assertEquals(
      renderText(template, scope, { display: true }),
      source.replace(/\{\{.*\}\}/, "nil"),
    );
  }
  assertEquals(renderText(parseTemplate('a{{ nothing ?? "" }}b'), scope), "ab");
});

Deno.test("renderText() places an error in the whole text", () => {
  const source = "first\nsecond {{ n + s }}";
  const error = assertThrows(() => renderText(parseTemplate(source), scope), ExpressionError);
  assertEquals(source.slice(error.start, error.end), "n + s");
});

Deno.test("renderText() does not expand its own output", () => {
  const names = { ...scope.names, s: "{{ n }}" };
  assertEquals(renderText(parseTemplate("a {{ s }}"), { names, strict: true }), "a {{ n }}");
});

Deno.test("renderText() refuses to make a huge text", () => {
  const template = parseTemplate(`{{ repeat("a", 600000) }} `.repeat(3));
  assertThrows(() => renderText(template, scope), ExpressionError, "longer than 1000000");
});

Deno.test("isTemplate() knows text with a template from other values", () => {
  assertEquals([isTemplate("a {{b}}"), isTemplate("a { b"), isTemplate(1)], [true, false, false]);
});

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
      body: { items: [[1, 2.5, "a"], true, null, 1.5], plain: { deep: ["x"] } },
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
