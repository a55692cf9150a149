import { assertEquals, assertThrows } from "@std/assert";
import { ExpressionError } from "../../../src/base/errors.ts";
import { parseTemplate } from "../../../src/expr/parse/parse.ts";
import { renderTemplate, renderText } from "../../../src/expr/template/render.ts";

const scope = {
  names: { n: 7, s: "hi", list: [1, 2.5, "a"], map: { b: null, a: 1 }, nothing: null, f: 1.5 },
  strict: true,
};

Deno.test("renderTemplate() keeps the type of a text that is one template", () => {
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
    assertEquals(renderTemplate(parseTemplate(source), scope), value, source);
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
    assertEquals(renderTemplate(parseTemplate(source), scope), value, source);
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
    assertEquals(error.hint, hint);
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
