import type { Claims } from "./claim.ts";

const WHOLE = "name: n\njobs: [{ name: j, steps: [{ uses: hello, test: status == 0 }] }]\n";
const inFlow = (vars: string, steps: string) =>
  `name: n\nvars: ${vars}\njobs:\n  - name: j\n    steps:\n${steps.replace(/^/gm, "      ")}\n`;
const test = (expression: string) => ({ steps: `- uses: hello\n  test: |\n    ${expression}` });
const text = (template: string, result: string) => ({
  steps: `- uses: hello\n  with: { text: ${
    JSON.stringify(template)
  } }\n  test: |\n    res.text == ${JSON.stringify(result)}`,
});

/** Rows about what is not supported, about vars, outputs and expressions. */
export const VALUES: Claims = {
  "`now()` and `date()` are times with methods, `duration()` too": test(
    'date_parts(now()).year > 2000 && duration("1h") / 60 == 60',
  ),
  "`timezone()`, the zone of `date(text, layout, zone)`": test(
    'format_date(date("2026-01-02 03:04", "2006-01-02 15:04", "Asia/Tokyo"), "15:04", "UTC") == "18:04"',
  ),
  "`$env` members by their Go names, `report`": {
    steps: "- { uses: hello, test: $env.Status == 0 }",
    code: 1,
    shows: ["$env.Status is nil"],
  },
  "shorthands `connect:` and `trace:`": {
    steps: `- { uses: http, with: { url: URL/echo, method: TRACE } }`,
    code: 0,
  },
  "proxies by `HTTP_PROXY`": {
    steps: '- { uses: http, with: { get: "http://shop.invalid/x" }, test: res.code == 200 }',
    env: { HTTP_PROXY: "URL", http_proxy: "URL" },
  },
  "the files of a directory or a pattern are one workflow": [
    {
      files: {
        "a.yml": "name: a\nvars: { x: 1 }\n",
        "b.yml": "jobs: [{ name: j, steps: [{ uses: hello, test: vars.x == 1 }] }]\n",
      },
      args: ["a.yml,b.yml"],
    },
    { files: { "sub/a.yml": WHOLE, "sub/b.yml": WHOLE }, args: ["sub"], shows: ["2 passed (2)"] },
    { files: { "a.yml": WHOLE, "b.yml": WHOLE }, args: ["[ab].yml"], shows: ["2 passed (2)"] },
  ],
  "`res.report`, `res.error` and `dump: false` of actions": {
    steps: "- { uses: hello, with: { dump: false, a: 1 }, test: res.a == 2 }",
    code: 1,
    shows: ["res.a is 1"],
  },

  "a top-level var with a template is always a string": {
    flow: inFlow(
      `{ port: "{{PORT ?? 3306}}" }`,
      "- { uses: hello, test: vars.port + 1 == 3307 }",
    ),
  },
  "templates in a list at the top of `vars` are not evaluated": {
    flow: inFlow(`{ list: ["{{1 + 1}}"] }`, "- { uses: hello, test: 'vars.list == [2]' }"),
  },
  "`iteration: []` runs the step once": {
    steps: "- { uses: hello, iteration: [], test: 1 == 2 }",
    shows: ["warning"],
  },
  "templates in `iteration` are not evaluated": {
    steps: '- { uses: hello, iteration: [{ n: "{{1 + 1}}" }], test: vars.n == 2 }',
  },
  "an environment variable that is not set is `<nil>` text": {
    flow: inFlow(`{ x: "{{NOT_SET_AT_ALL}}" }`, "- { uses: hello, test: vars.x == nil }"),
  },
  "a step without `id` publishes as `outputs.step_0`": {
    steps: `- { uses: hello, outputs: { n: "1" }, test: status == 0 }
- { uses: hello, test: "outputs.step_0 == nil" }`,
    shows: ["outputs of a step without id are lost"],
  },
  "a flat name keeps the value of the first iteration": {
    steps: `- { id: a, uses: hello, iteration: [{ n: 1 }, { n: 2 }], outputs: { n: vars.n } }
- { uses: hello, test: outputs.n == 2 }`,
  },
  "a flat name that equals a step id hides the step": {
    steps: `- { id: a, uses: hello, outputs: { b: "1" } }
- { id: b, uses: hello, outputs: { c: "2" } }
- { uses: hello, test: outputs.b.c == 2 }`,
  },

  "braces cannot be in a template inside of other text": text("a {{ {'b': 1}.b }} c", "a 1 c"),
  "`1234567` from JSON prints as `1.234567e+06`": text(
    "{{parse_json('{\"n\": 1234567}').n}}!",
    "1234567!",
  ),
  "maps and lists print as `map[a:1]`, `[a b]`": text(
    "{{ {'a': 1} }} {{ ['a', 'b'] }}",
    '{"a":1} ["a","b"]',
  ),
  "nil prints as `<nil>`": [
    { steps: '- { uses: hello, name: "x {{nil}}", test: status == 0 }', shows: ["x nil"] },
    {
      steps: '- { uses: hello, with: { t: "x {{vars.no}}" } }',
      code: 1,
      shows: ["vars.no is nil"],
    },
  ],
  "maps are equal only with the same Go types": test("{a: 1} == {a: 1.0}"),
  "`x \\| upper()`": test('("a" | upper) == "A" && ("a" | upper()) == "A"'),
  "`5 && true` is `true`": {
    steps: `- { uses: hello, with: { n: 5 }, test: res.n && true }`,
    code: 1,
    shows: ["expected true or false, got int"],
  },
  "`text[0]` is a number": test('"日本"[0] == "日"'),
  "`ceil`, `floor`, `round` and `2 ** 3` give floats": test(
    'type(ceil(1.5)) == type(1) && 2 ** 3 == 8 && string(floor(2.5)) == "2"',
  ),
  "`diff_json` reports any one difference": test(
    'diff_json({b: 1, a: 1}, {b: 2, a: 2}) contains "b"',
  ),
  "text with `env.path`, `env.home` … is refused": text("see env.path", "see env.path"),
};
