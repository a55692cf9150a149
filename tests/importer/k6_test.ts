import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertPlaces, importCase } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

/** The keys of the only job of a script with these options. */
async function loadOf(options: string, more = ""): Promise<string> {
  const script = `import http from "k6/http";
import { check, sleep } from "k6";
export const options = ${options};
export default function () {
  http.get("http://127.0.0.1:1/");
  ${more}
}
`;
  return await withFiles({ "s.js": script }, async (cwd) => {
    const { stdout, stderr, code } = await runMain(["new", "s.js"], { cwd });
    assertEquals(code, 0, stderr);
    await Deno.writeTextFile(`${cwd}/made.yml`, stdout);
    const checked = await runMain(["check", "made.yml"], { cwd });
    assertEquals([checked.code, checked.stderr], [0, ""], `${stdout}\n${checked.stdout}`);
    const [, jobs = ""] = /jobs:\n([^]*?) {4}steps:\n/.exec(stdout) ?? [];
    return jobs.replace(/^ {4}/gm, "");
  });
}

Deno.test("new --from k6 translates requests, checks, values and pauses", async () => {
  await importCase({
    args: ["k6", "s.js"],
    files: {
      "s.js": `import http from 'k6/http';
import { check, sleep, group } from 'k6';
import { Trend } from 'k6/metrics';

const BASE_URL = __ENV.BASE_URL || 'URL';
const ordering = new Trend('ordering_time');
const headers = { 'Content-Type': 'application/json', 'X-Shop': 'tea' };

export const options = {
  vus: 2,
  iterations: 4,
  thresholds: { checks: ['rate>0.9'], http_req_duration: ['p(95)<30000'] },
};

export default function () {
  const payload = JSON.stringify({ name: 'ann', tags: ['a', \`round-\${__ITER}\`], count: 2 });
  const login = http.post(\`\${BASE_URL}/login\`, payload, { headers, timeout: '20s' });
  check(login, {
    'signed in': (r) => r.status === 200,
    'has a token': (r) => r.json('token') !== '' && r.json().token.length > 3,
    'is json': (r) => r.headers['Content-Type'].includes('json'),
    'in time': (r) => r.timings.duration < 20000,
  });
  const token = login.json('token');
  sleep(0.01);
  group('orders', () => {
    const list = http.get(BASE_URL + '/orders?page=' + 2, {
      headers: { ...headers, Authorization: \`Bearer \${token}\` },
      tags: { name: 'list orders' },
    });
    check(list, { '200 or 201': (r) => [200, 201].includes(r.status), 'body': (r) => r.body.includes('items') });
    ordering.add(list.timings.waiting);
    http.del(\`\${BASE_URL}/orders/\${list.json().id}\`, null, { headers });
  });
  sleep(0.02);
}
`,
    },
    notes: ["the metric ordering, a Trend"],
    lines: [
      `base_url: "{{BASE_URL ?? 'URL'}}"`,
      "users: 2",
      "count: 4",
      "think_time: 20ms",
      "- stats.failed / stats.count < 0.1",
      "- stats.steps.list_orders_id.p95 < 30",
      "- \"stats.steps['orders: DELETE /orders/{id}'].p95 < 30\"",
      "wait: 10ms",
      "&& rt.sec * 1000 < 20000",
      "res.code in [200, 201]",
      'name: "orders: DELETE /orders/{id}"',
    ],
    seen: (requests) => {
      assertEquals(requests.length, 12);
      const posted = requests.filter(({ method }) => method === "POST");
      const tags = posted.map(({ body }) => JSON.parse(body).tags[1]).toSorted();
      assertEquals(tags, ["round-0", "round-1", "round-2", "round-3"]);
      assertEquals(posted[0]!.headers.get("x-shop"), "tea");
      const list = requests.find(({ method }) => method === "GET")!;
      assertEquals(list.path, "/orders?page=2");
      assertEquals(list.headers.get("authorization"), "Bearer issued-token-1");
      assertEquals(requests.find(({ method }) => method === "DELETE")!.path, "/orders/7");
    },
  });
});

Deno.test("new --from k6: setup is a job that others need, teardown is finally", async () => {
  await importCase({
    args: ["k6", "s.js"],
    files: {
      "s.js": `import http from 'k6/http';
import { check } from 'k6';
export function setup() {
  const res = http.post('URL/login', { user: 'ann', shop: 'tea' });
  return { token: res.json().token, size: 3 };
}
export default function ({ token, size }) {
  const params = authorized(token);
  const res = http.get(\`URL/items/\${size}\`, params);
  check(res, { 'ok': ({ status }) => status == 200, 'three': (r) => { const all = r.json(); return all.items.length === 2; } }) || lost.add(1);
}
function authorized(token) { return { headers: { Authorization: 'Bearer ' + token } }; }
export function teardown(data) {
  http.post('URL/logout', JSON.stringify({ token: data.token }));
}
`,
    },
    lines: ["id: setup", "needs:\n      - setup", "\nfinally:\n", "form:\n            user: ann"],
    seen: (requests) => {
      assertEquals(requests.map(({ path }) => path), ["/login", "/items/3", "/logout"]);
      assertEquals(requests[1]!.headers.get("authorization"), "Bearer issued-token-1");
      assertEquals(JSON.parse(requests[2]!.body), { token: "issued-token-1" });
    },
  });
});

Deno.test("new --from k6: scenarios are jobs with their functions and variables", async () => {
  await importCase({
    args: ["k6", "s.js"],
    files: {
      "s.js": `import http from 'k6/http';
export let options = {
  scenarios: {
    browse: { executor: 'per-vu-iterations', vus: 2, iterations: 2, exec: 'browse', maxDuration: '1m' },
    buyAll: {
      executor: 'constant-arrival-rate', rate: 600, timeUnit: '1m', duration: '200ms', preAllocatedVUs: 5, maxVUs: 9,
      exec: 'buy', env: { KIND: 'all' }, gracefulStop: '5s',
    },
  },
  thresholds: {
    'http_req_duration{scenario:browse}': ['max<60000'],
    'http_req_failed{scenario:buyAll}': ['rate==0'],
    'http_req_duration{name:cart}': [{ threshold: 'avg<60000', abortOnFail: true, delayAbortEval: '10s' }],
  },
};
export const browse = () => { http.get('URL/browse'); };
export function buy() {
  const responses = http.batch([
    ['GET', 'URL/cart', null, { tags: { name: 'cart' } }],
    { method: 'PUT', url: \`URL/kind/\${__ENV.KIND}\`, body: 'x=1', params: { headers: { 'Content-Type': 'text/plain' } } },
  ]);
}
`,
    },
    notes: [
      "the threshold http_req_duration{name:cart}: avg<60000",
      "http.batch: its requests are sent one after another",
    ],
    lines: [
      "id: browse",
      "count: 4\n      for: 1m",
      "expect: stats.max < 60",
      "id: buy_all",
      "rate: 600/m",
      "max_in_flight: 9",
      "- stats.failed == 0",
      "- stats.steps.cart.mean < 60",
      "stop_if: stats.elapsed > 10 && not (stats.steps.cart.mean < 60)",
    ],
    seen: (requests) => {
      const count = (path: string) => requests.filter((one) => one.path === path).length;
      assertEquals([count("/browse"), count("/cart"), count("/kind/all")], [4, 2, 2]);
    },
  });
});

Deno.test("new --from k6: files of rows are the data of the load", async () => {
  const script = (rows: string, use: string) =>
    `import http from 'k6/http';
import { SharedArray } from 'k6/data';
import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
import exec from 'k6/execution';
const users = ${rows};
export const options = { vus: 1, iterations: 3 };
export default function () {
  const user = ${use};
  http.post('URL/users', JSON.stringify({ name: user.name }), { headers: { 'Content-Type': 'application/json' } });
}
`;
  const csv =
    "new SharedArray('users', function () { return papaparse.parse(open('./users.csv'), { header: true }).data; })";
  const json = "new SharedArray('users', () => JSON.parse(open('users.json')))";
  const rows = [{ name: "ann" }, { name: "bob" }];
  const cases = [
    [csv, "users[exec.scenario.iterationInTest % users.length]", "file: users.csv", []],
    [json, "users[Math.floor(Math.random() * users.length)]", "file: users.json", [
      "users[Math.floor(Math.random() * users.length)]: each round takes the next row",
    ]],
    ["JSON.parse(open('users.json'))", "users[__ITER % users.length]", "file: users.json", []],
  ] as const;
  for (const [made, use, line, notes] of cases) {
    await importCase({
      args: ["k6", "s.js"],
      files: {
        "s.js": script(made, use),
        "users.csv": "name,age\nann,1\nbob,2\n",
        "users.json": JSON.stringify(rows),
      },
      notes,
      lines: [line, 'name: "{{vars.name}}"'],
      seen: (requests) =>
        assertEquals(requests.map(({ body }) => JSON.parse(body).name), ["ann", "bob", "ann"]),
    });
  }
});

Deno.test("new --from k6: conditions, loops and random values become comments", async () => {
  await importCase({
    args: ["k6", "s.js"],
    files: {
      "s.js": `import http from 'k6/http';
import { check } from 'k6';
import { randomString } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
let size = 'small';
export default function () {
  const mail = \`\${randomString(8)}@example.com\`;
  const res = http.post('URL/register', JSON.stringify({ mail, password: __ENV.NEW_WORD }));
  if (!check(res, { ok: (r) => r.status === 200 })) return;
  for (let i = 1; i < 3; i++) {
    size += i;
    http.get(\`URL/mails/\${mail}?try=\${i}\`);
  }
  const kind = __ENV.KIND || 'tea';
  if (kind === 'tea') http.get('URL/tea');
  const next = size ? http.get('URL/a') : http.get('URL/b');
  http.get(http.url\`URL/\${kind}/\${size}\`);
}
`,
    },
    env: { NEW_WORD: "tea-for-two-42", RANDOM_STRING_8: "ann", SIZE: "large" },
    notes: [
      "randomString(8): it is read from RANDOM_STRING_8",
      "the script: if (!check(res, { ok: (r) => r.status === 200 })) return",
      "the script: for (let i = 1; i < 3; i++)",
      "the script: if (kind === 'tea') http.get('URL/tea')",
      "the script: const next = size ? http.get('URL/a')",
      "size: it is read from SIZE",
    ],
    lines: ["test: res.code == 200"],
    seen: (requests) => {
      const { mail, password } = JSON.parse(requests[0]!.body);
      assertEquals([mail, password], ["ann@example.com", "tea-for-two-42"]);
      assertEquals(requests.slice(1).map(({ path }) => path), ["/tea/large"]);
    },
  });
});

Deno.test("new --from k6: files that are read, and values that are not known", async () => {
  await importCase({
    args: ["k6", "scripts/s.js"],
    files: {
      "scripts/s.js": `import http from 'k6/http';
const config = JSON.parse(open('../config.json'));
const ids = '1,2,3'.split(',').map(Number);
export default function () {
  const id = ids[2];
  http.post(\`\${config.test.url}/items/\${id}\`, JSON.stringify({ size: ids.reduce((a, b) => a + b), kind: 'x' }));
}
`,
      "config.json": '{ "test": { "url": "URL" } }',
    },
    env: { IDS_2: "3", IDS_REDUCE_A_B_A_B: "6" },
    notes: [
      "ids[2]: it is read from IDS_2",
      "ids.reduce((a, b) => a + b): it is read from IDS_REDUCE_A_B_A_B",
    ],
    lines: ["{{read_json('config.json').test.url}}/items/{{vars.ids_2}}"],
    seen: ([one]) => assertEquals([one!.path, JSON.parse(one!.body).size], ["/items/3", "6"]),
  });
});

Deno.test("new --from k6: batches, spreads, patterns and other functions", async () => {
  await importCase({
    args: ["k6", "s.js"],
    files: {
      "s.js": `import http from 'k6/http';
import { check } from 'k6';
import { SHARED } from './shared.js';
const tag = \`a-\${SHARED.tag}\`;
const OWN = { 'X-Shop': 'tea' };
const isOk = (r) => r && r.status === 200;
function find(id, extra = 'none') {
  const headers = { ...OWN, 'X-Extra': extra };
  const res = http.get(\`URL/items/\${id}\`, { headers });
  check(res, { ok: isOk, 'a path': (r) => r.json('path').includes('/items'), 'no error': (r) => !r.json().error });
  return res.json();
}
export default function () {
  const [front, css] = http.batch(['URL/', { method: 'GET', url: 'URL/a.css' }]);
  http.batch({ front: 'URL/never' });
  check(css, { both: () => css.status === 200 });
  http.get('URL/shared?' + tag, { headers: { ...SHARED, 'X-Extra': 'none' } });
  const item = find(1);
  const { id, items: [first] } = find(item.id, 'more');
  http.post('URL/text', id + ':' + first);
  http.post('URL/json', '{"id": "' + id + '"}', { headers: { 'Content-Type': 'application/json' } });
}
`,
    },
    env: { SHARED_TAG: "b" },
    notes: [
      "the import of ./shared.js",
      "SHARED.tag: it is read from SHARED_TAG",
      "http.batch: its requests are sent one after another",
      "the script: http.batch({ front:",
      "headers of the request: { ...SHARED, 'X-Extra': 'none' }",
    ],
    lines: ["X-Shop: tea", "not (not (res.body.error in [nil, false"],
    seen: (requests) => {
      assertEquals(requests.map(({ path }) => path), [
        "/",
        "/a.css",
        "/shared?a-b",
        "/items/1",
        "/items/7",
        "/text",
        "/json",
      ]);
      assertEquals(JSON.parse(requests[6]!.body), { id: "7" });
      assertEquals(requests[4]!.headers.get("x-extra"), "more");
      assertEquals(requests[5]!.body, "7:1");
    },
  });
});

Deno.test("new --from k6 notes what it does not translate, at its place", async () => {
  await importCase({
    args: ["k6", "s.js"],
    files: {
      "s.js": `import http from 'k6/http';
import { check, sleep } from 'k6';
import ws from 'k6/ws';
import { login } from './login.js';
export const options = { iterations: 1, hosts: { 'a.example.com': '1.2.3.4' }, summaryTrendStats: ['avg'] };
export default function () {
  ws.connect('ws://127.0.0.1', {}, (socket) => { socket.close(); });
  const res = http.get('URL/a', { jar: new http.CookieJar(), responseType: 'none' });
  check(res, { 'there': (r) => r && r.json().id === 7, 'title': (r) => r.html('title').size() === 1, 'ok': (r) => r.status === 200 });
  while (true) { http.get('URL/never'); }
  console.log(res.status);
  sleep(Math.random() * 0.02);
}
export function handleSummary(data) { return { 'a.json': JSON.stringify(data) }; }
`,
    },
    notes: [
      "the import of ./login.js",
      "handleSummary",
      'the option hosts: {"a.example.com":"1.2.3.4"}',
      "the script: while (true)",
      "the script: sleep(Math.random() * 0.02)",
      "the script: ws.connect('ws://127.0.0.1'",
      "jar of the request: new http.CookieJar()",
      "the check \"title\": (r) => r.html('title').size() === 1",
    ],
    lines: [
      "test: |-\n          res.body.id == 7\n          && res.code == 200",
    ],
    seen: (requests) => assertEquals(requests.map(({ path }) => path), ["/a"]),
  });
});

Deno.test("new --from k6 translates the executors and their thresholds", async () => {
  const cases = [
    ["{ vus: 10, duration: '30s' }", "load:\n  users: 10\n  for: 30s\n"],
    ["{ vus: 5 }", "load:\n  users: 5\n  count: 5\n"],
    [
      "{ stages: [{ duration: '1m30s', target: 20 }, { duration: '2m', target: 20 }, { duration: 500, target: 0 }] }",
      "- users: 20\n      for: 1m30s\n      ramp: true\n    - users: 20\n      for: 2m\n    - users: 0\n      for: 500ms\n      ramp: true\n",
    ],
    [
      "{ scenarios: { s: { executor: 'ramping-vus', startVUs: 10, stages: [{ duration: '10s', target: 20 }] } } }",
      "- users: 10\n      for: 1ms\n    - users: 20\n      for: 10s\n      ramp: true\n",
    ],
    [
      "{ scenarios: { s: { executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s', preAllocatedVUs: 50, stages: [{ duration: '10s', target: 200 }, { duration: '0s', target: 10 }, { duration: '5s', target: 10 }] } } }",
      "- rate: 200/s\n      for: 10s\n      ramp: true\n    - rate: 10/s\n      for: 5s\n  max_in_flight: 50\n",
    ],
    [
      "{ thresholds: { http_req_duration: ['p(99.9) < 1500', 'med<=200'], http_req_failed: ['rate<0.01'], http_reqs: ['rate>100'], iteration_duration: ['max<2000'], dropped_iterations: ['count==0'], my_metric: ['p(95)<1'], vus_max: ['value>1'] } }",
      "expect:\n    - stats.p999 < 1.5\n    - stats.p50 <= 0.2\n    - stats.failed / stats.count < 0.01\n    - stats.rate > 100\n    - stats.max < 2\n    - stats.dropped == 0\n",
    ],
    [
      "{ scenarios: { s: { executor: 'constant-arrival-rate', rate: Number(__ENV.RATE), duration: '1s' } } }",
      "rate: 1/s\n  for: 1s\n",
    ],
    [
      "{ vus: __ENV.VUS || 3, duration: '1s', thresholds: { checks: [{ threshold: 'rate>0.95', abortOnFail: true }] } }",
      "expect: stats.failed / stats.count < 0.05\n  stop_if: not (stats.failed / stats.count < 0.05)\n",
    ],
  ] as const;
  for (const [options, lines] of cases) assertStringIncludes(await loadOf(options), lines);
  const open =
    "{ scenarios: { s: { executor: 'constant-arrival-rate', rate: 3, timeUnit: '2s', duration: '1s' } } }";
  const keys = await loadOf(open, "sleep(1);");
  assertStringIncludes(keys, "rate: 1.5/s\n");
  assertEquals(keys.includes("think_time"), false);
});

Deno.test("new --from k6: a start time is noted, credentials become auth", async () => {
  await withFiles({
    "s.js": `import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true, scenarios: {
  warm: { executor: 'constant-vus', vus: 1, duration: '30s' },
  main: { executor: 'constant-vus', vus: 9, duration: '1m', startTime: '30s' },
  odd: { executor: 'constant-vus', vus: 9, duration: '1m', startTime: '7s' },
} };
export default () => http.get('https://user:pass-word-7@shop.example.com/a');
`,
  }, async (cwd) => {
    const { stdout } = await runMain(["new", "s.js"], { cwd });
    assertStringIncludes(stdout, "# Not translated: startTime: 30s\n");
    assertStringIncludes(stdout, "# Not translated: startTime: 7s\n");
    assertStringIncludes(stdout, "verify: false");
    assertStringIncludes(stdout, "username: user");
    assertEquals(stdout.includes("pass-word-7"), false);
  });
});

Deno.test("new --from k6 reports the position of a mistake", async () => {
  await assertPlaces("k6", {
    "broken.js": [
      "export default function () {\n  http.get(;\n}\n",
      "broken.js:2:12: error: invalid JavaScript: Unexpected token",
    ],
    "none.js": [
      "export const options = {};\n",
      'none.js:1:1: error: there is no function "default" to run',
    ],
    "empty.js": [
      "export default function () {}\n",
      "empty.js:1:1: error: no request of this script",
    ],
  });
});
