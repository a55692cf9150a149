import { assertEquals, assertStringIncludes } from "@std/assert";
import { findIn } from "../../support/check_text.ts";
import { runHere } from "../../support/run/run_main.ts";
import { freePort } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { withFiles } from "../../support/temp_dir.ts";

async function run(flow: string, args: readonly string[] = [], others = {}) {
  return await withFiles(
    { "flow.yml": flow, ...others },
    (cwd) => runHere(["flow.yml", ...args], { cwd, env: { NO_COLOR: "1" } }),
  );
}

async function assertPasses(flow: string, args: readonly string[] = [], others = {}) {
  const { code, stdout, stderr } = await run(flow, args, others);
  assertEquals([code, stderr], [0, ""], stdout);
  return stdout;
}

const MOCK = `name: Mock
vars: { who: world, key: k3y-of-the-shop }
jobs:
  - name: a
    defaults: { http: { url: "{{outputs.hooks.url}}" } }
    steps:
      - id: hooks
        uses: listen
        with:
          routes:
            - on: POST /hooks/:shop
              respond: { code: 202, json: { id: "{{request.params.shop}}", who: "{{vars.who}}" } }
            - on: GET /rates
              respond:
                - { code: 503, headers: { Retry-After: 1, X-A: [a, b] } }
                - { json: { eur: 1.1 }, delay: 5ms }
            - { on: GET /nothing }
            - { on: GET /file, respond: { file: page.html } }
            - { on: GET /text, respond: { body: "hello {{request.query.name}}" } }
        test: res.host == "127.0.0.1" && res.port > 0
        outputs: { url: res.url }
`;

Deno.test("listen answers by routes, in turn, with templates over the request", async () => {
  await assertPasses(
    `${MOCK}      - uses: http
        with: { post: "/hooks/t%20ea?a=1&a=2&b=", json: { order: 7 } }
        test: res.code == 202 && res.body.id == "t ea" && res.body.who == "world"
      - uses: receive
        with: { from: hooks, where: message.body.order == 7 }
        test:
          - message.method == "POST" && message.path == "/hooks/t ea"
          - message.query.a == ["1", "2"] && message.query.b == ""
          - message.headers["content-type"] == "application/json"
          - message.raw == '{"order":7}' && message.params.shop == "t ea"
          - message.route == "POST /hooks/:shop"
      - uses: http
        with: { get: /rates }
        test: res.code == 503 && res.headers["Retry-After"] == "1" && res.headers["X-A"] == "a, b"
      - uses: http
        with: { get: /rates }
        retry: { max_attempts: 2 }
        test: res.body.eur == 1.1
      - uses: http
        with: { get: /rates }
        test: res.body.eur == 1.1
      - uses: http
        with: { get: /nothing }
        test: res.code == 204 && res.body == ""
      - uses: http
        with: { get: /file }
        test: res.body == "<p>" && res.headers["Content-Type"] == "text/html"
      - uses: http
        with: { get: "/text?name=bob" }
        test: res.body == "hello bob"
      - uses: http
        with: { post: /text, body: { base64: "AAEC" } }
        test: res.code == 404
      - uses: receive
        with: { from: hooks, where: message.route == nil }
        test: message.path == "/text" && message.method == "POST"
      - uses: receive
        with: { from: hooks, where: message.path == "/hooks/t ea", none: 1ms }
`.replace('body: { base64: "AAEC" }', "body: xyz"),
    [],
    { "page.html": "<p>" },
  );
});

Deno.test("a template of a route that fails answers 500, and fails the run with its place", async () => {
  const { code, stdout, stderr } = await run(`name: Mock
jobs:
  - name: a
    steps:
      - id: hooks
        uses: listen
        with: { routes: [{ on: GET /bad, respond: { json: "{{request.query.n + 1}}" } }] }
        outputs: { url: res.url }
      - uses: http
        with: { get: "{{outputs.hooks.url}}/bad" }
        test: res.code == 500
`);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "Reason     flow.yml:7:");
  assertStringIncludes(stderr, 'request.query has no "n"');
});

const HOOKS = (params: string, rest = "") =>
  `name: Hooks
jobs:
  - name: a
    steps:
      - { id: hooks, uses: listen, with: { ${params} }, outputs: { url: res.url } }
${rest}`;

Deno.test("listen speaks https, and answers 204 without routes", async () => {
  const [cert, key] = ["localhost.pem", "localhost_key.pem"].map(tlsPath);
  await assertPasses(HOOKS(
    `host: localhost, cert: "${cert}", key: "${key}"`,
    `      - uses: http
        with: { put: "{{outputs.hooks.url}}/x", body: hello, tls: { verify: false } }
        test: res.code == 204 && res.url startsWith "https:"
      - { uses: receive, with: { from: hooks }, test: message.body == "hello" }
`,
  ));
});

Deno.test("listen says why it cannot listen, and what the run may not do", async () => {
  const port = freePort();
  const busy = Deno.listen({ hostname: "127.0.0.1", port });
  try {
    const { stdout } = await run(HOOKS(`port: ${port}`));
    assertStringIncludes(stdout, `cannot listen at 127.0.0.1 port ${port}: the port is in use`);
  } finally {
    busy.close();
  }
  const { stdout } = await run(HOOKS("host: 192.0.2.1"));
  assertStringIncludes(stdout, "it is not an address of this machine (E");
  const free = HOOKS("");
  for (
    const [allow, isAllowed] of [
      ["--allow-net=example.com", false],
      ["--allow-listen=127.0.0.1:9", false],
      ["--allow-listen=none", false],
      ["--allow-listen=127.0.0.1", true],
      ["--allow-read=.", true],
    ] as const
  ) {
    const { code, stdout } = await run(free, [allow]);
    assertEquals(code === 0, isAllowed, stdout);
    if (!isAllowed) assertStringIncludes(stdout, "--allow-listen does not name 127.0.0.1");
  }
  const net = ["--allow-net=127.0.0.1", "--allow-listen=127.0.0.1"];
  await assertPasses(free, net);
});

Deno.test("listen bounds bodies, and nothing is left when the run ends", async () => {
  const port = freePort();
  const { code, stdout, stderr } = await run(
    HOOKS(
      `port: ${port}`,
      `      - uses: http
        with: { post: "{{outputs.hooks.url}}/a", file: big.txt }
        test: res.code == 413
      - uses: http
        with: { post: "{{outputs.hooks.url}}/b", file: good.txt }
        test: res.code == 204
      - uses: receive
        with: { from: hooks }
        test: message.path == "/b" && len(message.raw) == 16 * 1024 * 1024
`,
    ),
    [],
    { "big.txt": "x".repeat(2 ** 24 + 1), "good.txt": "x".repeat(2 ** 24) },
  );
  assertEquals(code, 0, stdout);
  assertEquals(stderr, 'warning: a › listen: a request to "hooks" is too large: it got 413\n');
  Deno.listen({ hostname: "127.0.0.1", port }).close();
});

Deno.test("check reads the routes, and what their templates see", async () => {
  const found = await findIn(HOOKS(
    'routes: [{ on: /x }, { on: GET /y, respond: { jsn: 1 } }, { on: GET /z, respond: { code: 99, json: "{{requst.x}}" } }], cert: a',
    "      - { uses: receive, with: { from: hooks, where: message.bdy == 1 } }\n",
  ));
  assertEquals(found.map((line) => line.replace(/^\d+:\d+ /, "").replace(/ \(.*/, "")), [
    'error parameter: invalid route "/x"',
    'error parameter: unknown key "jsn" in "routes[1].respond"',
    'error parameter: "routes[2].respond.code" must be at least 200, not 99',
    'error unknown-name: unknown name "requst" in "routes"',
    'error parameter: "cert" needs "key"',
    'hint unused-output: nothing reads the output "url"',
    'error unknown-field: unknown field "bdy" of a message of listen: it is always nil',
  ]);
});

Deno.test("1,000 webhooks in flight at once all arrive while a load job runs", async () => {
  await assertPasses(`name: Load
jobs:
  - id: open
    name: open
    steps:
      - id: hooks
        uses: listen
        with: { routes: [{ on: POST /late, respond: { delay: 200ms } }, { on: POST /now }] }
        outputs: { url: res.url }
  - name: late
    needs: [open]
    load: { users: 900, count: 1000 }
    steps:
      - uses: http
        with: { post: "{{outputs.hooks.url}}/late", json: { n: "{{round.index}}" } }
        test: res.code == 204
  - name: busy
    needs: [open]
    load: { users: 20, count: 500 }
    steps:
      - uses: http
        with: { post: "{{outputs.hooks.url}}/now", json: { n: "{{round.index}}" } }
        test: res.code == 204
      - uses: receive
        with: { from: hooks, where: message.path == "/now" && message.body.n == round.index }
  - name: all of them
    needs: [open]
    steps:
      - uses: receive
        with: { from: hooks, where: message.path == "/late", count: 1000 }
        test: len(uniq(map(res.messages, .body.n))) == 1000
`);
});

Deno.test("an open step of a load job belongs to its user, between his rounds, too", async () => {
  await assertPasses(`name: Load
jobs:
  - name: load
    load: { users: 3, count: 12 }
    steps:
      - { id: mine, uses: listen, outputs: { url: res.url } }
      - uses: http
        with: { post: "{{outputs.mine.url}}", json: { user: "{{round.user}}" } }
        test: res.code == 204
      - { uses: receive, with: { from: mine, timeout: 5s }, test: message.body.user == round.user }
      - { uses: receive, with: { from: mine, none: 1ms } }
`);
});
