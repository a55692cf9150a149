import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertPlaces, importCase } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { STEPCI } from "./inputs.ts";

Deno.test("new --from stepci translates tests, captures and checks", async () => {
  await importCase({
    args: ["stepci", "w.yml"],
    files: { "w.yml": STEPCI },
    env: { TEA: "Assam", PASSWORD: "tea-for-two-42" },
    notes: [
      'the check "schema"',
      'the capture "odd": {"xpath":"//a"}',
      'the step "Call": its kind is grpc',
    ],
    lines: [
      "name: Tea shop",
      'password: "{{PASSWORD}}"',
      'post: "{{vars.host}}/orders"',
      "order: res.body.id",
      "string(res.code) matches '^20'",
      "&& rt.sec * 1000 <= 30000",
      "wait: 1ms",
      "test: |-",
    ],
    seen: ([create, read, form]) => {
      assertEquals(create!.path, "/orders?page=2");
      assertEquals(JSON.parse(create!.body), { tea: "Assam", list: [1] });
      assertEquals(create!.headers.get("authorization"), `Basic ${btoa("ann:tea-for-two-42")}`);
      assertEquals(read!.path, "/orders/7");
      assertEquals(form!.body, "a=1");
    },
  });
});

Deno.test("new --from stepci reports the position of a mistake in YAML", async () => {
  await withFiles({ "broken.yml": "tests:\n  a: [\n" }, async (cwd) => {
    const { stderr } = await runMain(["new", "--from", "stepci", "broken.yml"], { cwd });
    assertStringIncludes(stderr, "broken.yml:2:");
  });
});

Deno.test("new --from stepci reports the position of a part that is missing in a workflow", async () => {
  const steps = (text: string) => `tests:\n  a:\n    steps:\n${text}`;
  await assertPlaces("stepci", {
    "other.yml": ["name: x\n", 'other.yml:1:1: error: "tests" is missing'],
    "none.yml": [
      "tests: { a: { name: x } }\n",
      'none.yml:1:13: error: "tests.a.steps" is missing',
    ],
    "list.yml": ["- a\n", "list.yml:1:1: error: the file must be a map, not a list"],
    "tests.yml": ["name: x\ntests: []\n", 'tests.yml:2:8: error: "tests" must be a map'],
    "empty.yml": ["tests:\n  a: { steps: [] }\n", "empty.yml:2:3: error: no test has steps"],
    "before.yml": ["before: x\ntests: {}\n", 'before.yml:1:9: error: "before" must be a map'],
    "step.yml": [
      steps("      - http: { url: /a }\n      - wait\n"),
      'step.yml:5:9: error: "tests.a.steps[1]" must be a map, not "wait"',
      "  5 |       - wait",
      "    |         ^^^^",
    ],
    "http.yml": [steps("      - http: GET /\n"), 'http.yml:4:15: error: "tests.a.steps[0].http"'],
    "url.yml": [
      steps("      - http:\n          method: GET\n"),
      'url.yml:5:11: error: "tests.a.steps[0].http.url" is missing',
    ],
  });
});

Deno.test("new --from stepci: variables belong to their test, and nothing is left out silently", async () => {
  const text = `version: "1.1"
name: Tea
env: { host: URL, base: "\${{env.host}}/v1", word: all }
config:
  http: { baseURL: "\${{env.base}}", http2: true }
tests:
  one:
    env: { word: one }
    steps:
      - name: first
        retries: { count: 2, interval: 1ms }
        ref: first
        http:
          url: /\${{env.word}}
          method: POST
          json: { name: "\${{env.word | capitalize}}", mail: "\${{ | fake: internet.email}}" }
          check:
            json:
              method: POST
              path: "/v1/\${{env.word}}"
              id: 7
              token: issued-token-1
              items: [1, 2]
            jsonpath:
              $.items[*]: [1, 2]
              $.token: /^ISSUED/i
              $.gone: [{ isDefined: false }]
            performance: { total: [{ lte: 30000 }], firstByte: [{ lte: 30000 }] }
  two:
    env: { word: two }
    steps:
      - name: second
        http: { url: "/\${{env.word}}", check: { status: 200 } }
`;
  await importCase({
    args: ["stepci", "w.yml"],
    files: { "w.yml": text },
    notes: [
      '"config.http.http2"',
      "the template ${{env.word | capitalize}}",
      "the template ${{ | fake: internet.email}}",
      '"ref" of the step',
      'the check of performance firstByte: [{"lte":30000}]',
    ],
    lines: [
      "&& json_path(res.body, '$.items[*]') == [1, 2]",
      "&& res.body.token matches '(?i)^ISSUED'",
      "&& not ('gone' in res.body)",
      "max_attempts: 3",
    ],
    seen: (requests) => assertEquals(requests.map(({ path }) => path), ["/v1/one", "/v1/two"]),
  });
});

Deno.test("new --from stepci: texts have no content type, and GraphQL is a POST", async () => {
  const step = (http: unknown) => ({ http });
  const steps = [
    step({ url: "URL/text", method: "POST", body: "tea" }),
    step({ url: "URL/graphql", method: "GET", graphql: { query: "{ teas }" } }),
  ];
  await importCase({
    args: ["stepci", "w.yml"],
    files: { "w.yml": JSON.stringify({ tests: { a: { steps } } }) },
    seen: ([text, graphql]) => {
      assertEquals([text!.body, text!.headers.get("content-type")], ["tea", null]);
      assertEquals([graphql!.method, JSON.parse(graphql!.body)], ["POST", { query: "{ teas }" }]);
    },
  });
});
