import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

/** What a server with sign-in saw. */
interface Seen {
  signIns: number;
  /** The user by whom each request was sent, as its parts say: token, cookie and row. */
  readonly users: Set<string>;
  opened: number;
  closed: number;
  messages: number;
}

async function runLoad(workflow: string, ...args: string[]) {
  const seen: Seen = { signIns: 0, users: new Set(), opened: 0, closed: 0, messages: 0 };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/chat") {
      const { socket, response } = Deno.upgradeWebSocket(request);
      seen.opened++;
      socket.onmessage = ({ data }) => {
        seen.messages++;
        socket.send(data);
      };
      socket.onclose = () => seen.closed++;
      return response;
    }
    if (pathname === "/login") {
      seen.signIns++;
      const { user } = await request.json();
      const status = user.startsWith("bad") ? 401 : 200;
      return Response.json({ token: user }, { status, headers: { "set-cookie": `sid=${user}` } });
    }
    const { authorization, cookie, "x-row": row } = Object.fromEntries(request.headers);
    seen.users.add(`${authorization} ${cookie} ${row}`);
    return new Response("", { status: pathname === "/limited" ? 429 : 200 });
  });
  try {
    return await withFiles({ "w.yml": workflow }, async (cwd) => {
      const url = `127.0.0.1:${server.addr.port}`;
      const result = await runMain(["--var", `host=${url}`, ...args, "w.yml"], { cwd });
      return { ...result, seen };
    });
  } finally {
    await server.shutdown();
  }
}

const SETUP = `
        - id: login
          uses: http
          with: { post: /login, json: { user: "{{vars.user}}" } }
          test: res.code == 200
          outputs: { token: res.body.token }`;

const STEP = `
      - id: get
        uses: http
        with: { get: /x, headers: { authorization: "{{outputs.login.token}}", x-row: "{{vars.user}}" } }`;

function workflow(load: string, { setup = SETUP, step = STEP } = {}): string {
  return `name: Load
vars: { host: "" }
jobs:
  - name: load
    defaults: { http: { url: "http://{{vars.host}}" } }
    load:
      ${load}
      setup: ${setup}
    steps: ${step}
`;
}

const USERS = `data: { list: "{{map(1..50, 'user ' + string(#))}}" }`.replaceAll(
  "'user ' + string(#)",
  "({user: 'u' + string(#)})",
);

/** Each user sends with what he got when he was set up. */
function assertOwn({ users }: Seen): void {
  for (const one of users) {
    const [token, cookie, row] = one.split(" ");
    assertEquals([cookie, row], [`sid=${token}`, token]);
  }
}

for (const processes of ["1", "2"]) {
  Deno.test(`50 users sign in once each, in ${processes} processes`, async () => {
    const text = workflow(`users: 50\n      count: 300\n      ${USERS}
      expect: [stats.count == 300, stats.setup.passed == 50, stats.steps.login.count == 50]`);
    const { code, stdout, seen } = await runLoad(text, "--processes", processes);
    assertEquals(code, 0, stdout);
    assertEquals(seen.signIns, 50);
    assertOwn(seen);
  });
}

Deno.test("cleanup reads why rounds failed, in 1 and in 2 processes", async () => {
  const text = workflow("users: 2\n      count: 4", {
    setup: "[{ uses: hello }]",
    step: "[{ uses: http, with: { get: /limited }, test: res.code == 200 }]",
  }) + `finally: [{ uses: hello, echo: "said: {{run.failures[0].message}}" }]\n`;
  for (const processes of ["1", "2"]) {
    const { stdout } = await runLoad(text, "--processes", processes);
    assertStringIncludes(stdout, "said: test is false: res.code is 429 (int)");
  }
});

Deno.test("at a rate, each slot in flight signs in once", async () => {
  const text = workflow(`rate: 200/s\n      count: 60\n      max_in_flight: 5\n      ${USERS}
      expect: stats.failed == 0`);
  const { code, stdout, seen } = await runLoad(text);
  assertEquals(code, 0, stdout);
  assertEquals(seen.signIns <= 5 && seen.signIns > 0, true, `${seen.signIns}`);
  assertEquals(seen.users.size <= seen.signIns, true);
  assertOwn(seen);
});

Deno.test("a user whose setup failed runs no rounds, and fails the job", async () => {
  const load = "users: 3\n      count: 30\n      data: [{ user: a }, { user: bad }, { user: c }]";
  const failed = await runLoad(workflow(load));
  assertEquals(failed.code, 1);
  assertEquals([failed.seen.signIns, [...failed.seen.users].sort()], [3, [
    "a sid=a a",
    "c sid=c c",
  ]]);
  assertStringIncludes(failed.stdout, "30 rounds");
  assertStringIncludes(failed.stdout, "login failed once");
  const allowed = await runLoad(workflow(`${load}\n      expect: stats.setup.failed < 2`));
  assertEquals(allowed.code, 0, allowed.stdout);
  const other = await runLoad(workflow(`${load}\n      expect: stats.p95 < 60`));
  assertEquals(other.code, 1);
});

Deno.test("a job ends at once if the setup of every user failed", async () => {
  for (const pace of ["users: 4\n      for: 1h", "rate: 50/s\n      for: 1h"]) {
    const { code, stdout, seen } = await runLoad(
      workflow(`${pace}\n      data: [{ user: bad }]\n      expect: stats.setup.failed < 100`),
    );
    assertEquals([code, seen.users.size], [1, 0]);
    assertStringIncludes(stdout, "ended early: the setup of every user failed");
    assertStringIncludes(stdout, "no round was measured: the setup of every user failed");
  }
});

Deno.test("what a user opens in his setup stays open through his rounds", async () => {
  const text = workflow("users: 3\n      count: 12", {
    setup: `
        - id: chat
          uses: websocket
          with: { url: "ws://{{vars.host}}/chat", background: true }`,
    step: `
      - uses: websocket
        with: { on: chat, send: "{{round.user}}", expect: "{{round.user}}" }`,
  });
  const { code, stdout, seen } = await runLoad(text);
  assertEquals(code, 0, stdout);
  assertEquals([seen.opened, seen.messages, seen.closed], [3, 12, 3]);
});

Deno.test("statistics have each status code", async () => {
  const text = `name: Load
vars: { host: "" }
jobs:
  - name: load
    load:
      users: 2
      count: 10
      expect:
        - stats.steps.get.codes["429"] == 10
        - stats.steps.get.codes["4xx"] == 10
        - stats.steps.get.codes["503"] == 0
    steps:
      - id: get
        uses: http
        with: { get: "http://{{vars.host}}/limited" }
        test: res.code == 429
`;
  for (const processes of ["1", "2"]) {
    const { code, stdout } = await runLoad(text, "--processes", processes);
    assertEquals(code, 0, stdout);
  }
  const { code, stderr } = await runLoad(text.replace("503", "50x"));
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'unknown field "50x" of stats.steps.get.codes');
});

Deno.test("without load, the setup comes before the only round", async () => {
  const text = workflow("users: 50\n      for: 1h\n      data: [{ user: a }]");
  const { code, stdout, seen } = await runLoad(text, "--load", "off");
  assertEquals([code, seen.signIns, [...seen.users]], [0, 1, ["a sid=a a"]], stdout);
  assertStringIncludes(stdout, "setup: http");
});
