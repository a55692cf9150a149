import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertHidden } from "../support/assert_hidden.ts";
import { runCli, startCli } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory } from "../support/run/run_reports.ts";
import { digestServer } from "../support/servers/digest_server.ts";
import { grpcShop } from "../support/servers/grpc_shop.ts";
import { rawServer, response } from "../support/servers/raw_server.ts";
import { tlsCertificate, tlsPath, tlsText } from "../support/servers/tls_fixture.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

async function run(steps: string, args: readonly string[] = [], env = {}) {
  const workflow = `name: w\njobs:\n  - name: j\n    steps:\n${
    steps.replace(/^(?=.)/gm, "      ")
  }`;
  return await withFiles({ "w.yml": workflow }, (cwd) => runMain([...args, "w.yml"], { cwd, env }));
}

Deno.test("nothing of a sign-in is in reports, and the curl command signs in by itself", async () => {
  await using server = digestServer({ algorithm: "SHA-256", qop: "auth" }, "ann@example.com");
  const { code, stdout } = await run(
    `
- name: signed in
  uses: http
  with: { get: ${server.url}, auth: { digest: { username: ann@example.com, password: '${server.password}' } } }
  echo: "{{req}} {{res}}"
  test: res.code == 500
`,
    ["-v"],
  );
  assertEquals(code, 1);
  assertStringIncludes(stdout, "curl -L --digest -u '***:***'");
  for (const secret of [server.password, "ann@example.com", "response="]) {
    assertEquals(stdout.includes(secret), false, `${secret} is in ${stdout}`);
  }
});

Deno.test("a token endpoint that --allow-net does not name is not asked", async () => {
  let asked = 0;
  await using server = withServer(() => {
    asked++;
    return Response.json({ access_token: "access-token-1" });
  });
  const { code, stdout } = await run(
    `
- name: api
  uses: http
  with:
    get: http://localhost:${server.port}/
    auth: { oauth2: { token_url: "${server.url}/token", client_id: c, client_secret: secret-1 } }
  test: res.code == 200
`,
    ["--allow-net", "localhost"],
  );
  assertEquals([code, asked], [1, 0]);
  assertStringIncludes(stdout, `cannot send POST "${server.url}/token"`);
  assertStringIncludes(stdout, "--allow-net does not name");
});

Deno.test("check finds a sign-in of a wrong shape where it is", async () => {
  const workflow = `name: w
jobs:
  - name: j
    defaults: { http: { url: "http://localhost", auth: { basic: { username: a } } } }
    steps:
      - { name: s, uses: http, with: { get: / }, test: res.code == 200 }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["check", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout + stderr, '"auth.basic" needs "password"');
  });
});

async function runAt(args: readonly string[], params = "") {
  const certificate = tlsCertificate("good");
  await using server = withServer(() => new Response("in"), certificate);
  const workflow = `
name: TLS
jobs:
  - name: j
    steps:
      - uses: http
        with: { get: "${server.url}" ${params} }
        test: res.tls.certificate.days_left > 14 && "127.0.0.1" in res.tls.certificate.names
`;
  const files = { "flows/w.yml": workflow, "flows/ca.pem": tlsText("authority.pem") };
  return await withFiles(files, (cwd) => runMain([...args, "flows/w.yml"], { cwd }));
}

Deno.test("--cacert and --insecure hold for every step, and a step's verify: true wins", async () => {
  const refused = "is signed by an unknown certificate authority";
  const bare = await runAt([]);
  assertEquals(bare.code, 1);
  assertStringIncludes(bare.stdout, refused);
  const trusted = await runAt(["--cacert", tlsPath("authority.pem")]);
  assertEquals(trusted.code, 0, trusted.stdout);
  const insecure = await runAt(["--insecure"]);
  assertEquals(insecure.code, 0, insecure.stdout);
  const strict = await runAt(["--insecure"], ", tls: { verify: true }");
  assertStringIncludes(strict.stdout, refused);
});

Deno.test("paths of tls begin at the file that names them", async () => {
  const { code, stdout } = await runAt([], ", tls: { ca: ca.pem }");
  assertEquals(code, 0, stdout);
});

Deno.test("options of TLS name the file that they cannot use", async () => {
  const cases = [
    [["--cacert", "no.pem"], 'cannot read the file "no.pem" of --cacert: no such file (ENOENT)'],
    [["--cert", tlsPath("good.pem")], "holds no private key in PEM form"],
    [
      ["--cert", tlsPath("good.pem"), "--key", tlsPath("other_key.pem")],
      `file "${tlsPath("other_key.pem")}" of --key does not belong to`,
    ],
    [["--key", tlsPath("good_key.pem")], "--key requires --cert"],
  ] as const;
  for (const [args, message] of cases) {
    const { code, stderr } = await runAt(args);
    assertEquals(code, 1);
    assertStringIncludes(stderr, message);
  }
});

Deno.test("check finds what cannot be combined about connections", async () => {
  const workflow = `
name: TLS
jobs:
  - name: j
    steps:
      - uses: http
        with:
          get: https://localhost/
          insecure: true
          tls: { verify: true, min_version: 1.1, certt: x }
          proxy: http://localhost:1
          unix_socket: /run/x.sock
          version: 3
          resolve: { localhost: "10.0.0.1" }
`;
  const { stderr, stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["check", "w.yml"], { cwd }),
  );
  for (
    const message of [
      '"insecure" and "tls.verify" cannot be combined',
      'invalid value "1.1" for "tls.min_version"',
      'unknown key "certt" in "tls"',
      '"unix_socket" and "proxy" cannot be combined',
      'invalid value "3" for "version"',
      '"localhost" in "resolve" is not a host and a port',
    ]
  ) assertStringIncludes(stderr + stdout, message);
});

/** Counts the visits of a session in its cookie, and keeps what each request was sent. */
function counter(seen: string[]) {
  return withServer((request) => {
    const visits = Number(/visits=(\d+)/.exec(request.headers.get("cookie") ?? "")?.[1] ?? 0) + 1;
    seen.push(`${new URL(request.url).pathname.slice(1)} ${visits}`);
    return new Response("", { headers: { "set-cookie": `visits=${visits}; Path=/` } });
  });
}

async function runWithCookies(workflow: string, files: Readonly<Record<string, string>> = {}) {
  const seen: string[] = [];
  await using server = counter(seen);
  const all = { "w.yml": workflow.replaceAll("URL", server.url), ...files };
  await withFiles(all, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
    assertEquals([code, stderr], [0, ""], stdout);
  });
  return seen;
}

Deno.test("each job and each round of a repeat has cookies of its own", async () => {
  const seen = await runWithCookies(`
name: w
jobs:
  - name: rounds
    id: rounds
    repeat: { count: 2, interval: 0s }
    steps:
      - { uses: http, with: { get: "URL/a" }, test: res.code == 200 }
      - { uses: http, with: { get: "URL/b" }, test: res.code == 200 }
  - name: another job
    needs: [rounds]
    steps:
      - { uses: http, with: { get: "URL/c" }, test: res.code == 200 }
`);
  assertEquals(seen, ["a 1", "b 2", "a 1", "b 2", "c 1"]);
});

Deno.test("a job file shares the cookies of the job around it", async () => {
  const seen = await runWithCookies(
    `
name: w
jobs:
  - name: j
    steps:
      - { uses: http, with: { get: "URL/outer" }, test: res.code == 200 }
      - { uses: embedded, with: { path: inner.yml, vars: { url: URL } } }
      - { uses: http, with: { get: "URL/outer" }, test: res.code == 200 }
`,
    {
      "inner.yml": `
name: inner
steps:
  - { uses: http, with: { get: "{{vars.url}}/inner" }, test: res.code == 200 }
`,
    },
  );
  assertEquals(seen, ["outer 1", "inner 2", "outer 3"]);
});

Deno.test("a job in defaults can name the cookies that it shares, in the order of needs", async () => {
  const job = (id: string, needs: string) => `
  - name: ${id}
    id: ${id}
    needs: ${needs}
    defaults: { http: { cookies: shared } }
    steps: [{ uses: http, with: { get: "URL/${id}" }, test: res.code == 200 }]`;
  const seen = await runWithCookies(
    `name: w\njobs:${job("c", "[b]")}${job("b", "[a]")}${job("a", "[]")}\n`,
  );
  assertEquals(seen, ["a 1", "b 2", "c 3"]);
});

Deno.test("a cookie file is found beside the workflow that names it", async () => {
  const cookies = "127.0.0.1\tFALSE\t/\tFALSE\t0\tvisits\t41\n";
  const seen: string[] = [];
  await using server = counter(seen);
  const workflow = `
name: w
jobs:
  - name: j
    defaults: { http: { cookie_file: cookies.txt } }
    steps: [{ uses: http, with: { get: "${server.url}/file" }, test: res.code == 200 }]
`;
  await withFiles({ "flows/w.yml": workflow, "flows/cookies.txt": cookies }, async (cwd) => {
    const { code, stdout } = await runMain(["flows/w.yml"], { cwd });
    assertEquals(code, 0, stdout);
    const denied = await runMain([
      "--allow-net",
      "127.0.0.1",
      "--allow-read",
      "other",
      "flows/w.yml",
    ], {
      cwd,
    });
    assertEquals(denied.code, 1);
    assertEquals(denied.stdout.includes("--allow-read does not name"), true, denied.stdout);
  });
  assertEquals(seen, ["file 42"]);
});

Deno.test("each entry that runs at once has cookies of its own, and none of the job", async () => {
  const workflow = (parallel: number) => `
name: w
jobs:
  - name: j
    steps:
      - { uses: http, with: { get: "URL/before" }, test: res.code == 200 }
      - uses: http
        with: { get: "URL/{{vars.path}}" }
        iteration: { list: [{ path: a }, { path: b }, { path: c }], parallel: ${parallel} }
        test: res.code == 200
      - { uses: http, with: { get: "URL/after" }, test: res.code == 200 }
`;
  const apart = await runWithCookies(workflow(3));
  assertEquals(apart.toSorted(), ["a 1", "after 2", "b 1", "before 1", "c 1"]);
  assertEquals(await runWithCookies(workflow(1)), ["before 1", "a 2", "b 3", "c 4", "after 5"]);
});

Deno.test("--timing prints the phases of a request, and res.timing has them in seconds", async () => {
  await using server = withServer(() => new Response("in"));
  const workflow = `
name: Phases
jobs:
  - name: j
    steps:
      - uses: http
        with: { get: "http://localhost:${server.port}/" }
        test: |-
          res.timing.total > 0 && res.timing.tls == 0 && res.timing.first_byte > 0 &&
          res.timing.connect > 0 && res.timing.queue >= 0 && res.timing.dns >= 0 &&
          res.timing.download >= 0 &&
          res.timing.dns + res.timing.connect + res.timing.first_byte + res.timing.download <= rt.sec + 1e-5
`;
  const { code, stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["--timing", "w.yml"], { cwd }),
  );
  assertEquals(code, 0, stdout);
  assertMatch(stdout, /\(@[\d:.]+ \S+: .*connect \S+, first byte \S+, download \S+\)/);
});

Deno.test("a report names the size and the type of a binary body, which it does not show", async () => {
  const data = new Uint8Array(139).fill(255);
  await using server = withServer(() =>
    new Response(data, { headers: { "content-type": "application/octet-stream" } })
  );
  const steps = [{ uses: "http", with: { get: server.url }, test: "res.size == 1" }];
  const workflow = JSON.stringify({ name: "n", jobs: [{ name: "j", steps }] });
  const { code, stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["w.yml"], { cwd }),
  );
  assertEquals(code, 1);
  assertStringIncludes(stdout, "body: 139 bytes of application/octet-stream, not shown\n");
  assertStringIncludes(stdout, "sha256: ");
});

const SECRETS = ["b3arer-T0ken-x", "4pi-Key-Head", "b0dy-Passw0rd"];

const FLOW = `name: grpc
vars: { addr: "{{GRPC_ADDR}}" }
jobs:
  - name: shop
    defaults:
      grpc:
        addr: "{{vars.addr}}"
        service: Shop
        metadata: { authorization: Bearer b3arer-T0ken-x, x-api-key: 4pi-Key-Head, x-hint: readable }
    steps:
      - uses: grpc
        with: { method: EchoItem, body: { id: "7", extra: { password: b0dy-Passw0rd } } }
        test: res.body.id == "8"
      - uses: grpc
        with: { method: GetItem, body: { id: missing } }
        test: res.status_code == "NOT_FOUND" && status == 5
      - uses: grpc
        with: { method: GetItm }
`;

Deno.test("grpc shows its exchanges as JSON in all reports, and secrets nowhere", async () => {
  await using shop = await grpcShop();
  await withFiles({ "w.yml": FLOW }, async (cwd) => {
    const env = { GRPC_ADDR: shop.addr };
    const { stdout, stderr } = await runMain(["-v", "--report-dir", "reports", "w.yml"], {
      cwd,
      env,
    });
    const reports = readDirectory(`${cwd}/reports`);
    for (const name of ["report.json", "report.html"]) {
      assertStringIncludes(reports[name]!, "shop.v1.Shop/EchoItem");
    }
    for (const [name, text] of Object.entries({ ...reports, stdout, stderr })) {
      for (const secret of SECRETS) assertHidden(secret, text, name);
    }
    assertStringIncludes(stdout, `shop.v1.Shop/EchoItem at ${shop.addr}`);
    assertStringIncludes(stdout, 'body: {"id": "7", "extra": {"password": "***"}}');
    assertStringIncludes(stderr, "NOT_FOUND (5)");
    assertStringIncludes(stdout, "grpcurl -plaintext");
    assertStringIncludes(stdout, "-H 'x-hint: readable'");
    assertStringIncludes(stdout, 'did you mean "GetItem"?');
  });
});

Deno.test("grpc connects only where it may", async () => {
  await withFiles({ "w.yml": FLOW }, async (cwd) => {
    const env = { GRPC_ADDR: "127.0.0.1:1" };
    const { stdout } = await runMain(["--allow-net=example.com", "w.yml"], { cwd, env });
    assertMatch(stdout, /cannot connect to 127\.0\.0\.1 port 1: --allow-net does not/);
  });
});

Deno.test("an interrupted run cancels its gRPC call on the server", async () => {
  await using shop = await grpcShop();
  const flow = `name: n
jobs:
  - name: j
    steps: [{ uses: grpc, with: { addr: "${shop.addr}", service: Shop, method: Wait } }]
`;
  await withFiles({ "w.yml": flow }, async (cwd) => {
    const child = startCli(["w.yml"], { cwd });
    const output = child.output();
    await shop.untilSeen("Wait begins");
    child.kill("SIGINT");
    await shop.untilSeen("Wait ended 8");
    const { code, stdout } = await output;
    assertEquals(code === 0, false);
    assertStringIncludes(
      new TextDecoder().decode(stdout),
      "while waiting for the answer of shop.v1.Shop/Wait",
    );
  });
});

Deno.test("a server that sends something else before HTTP/2 fails the step, and not the program", async () => {
  await using server = rawServer(async (connection) => {
    await connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nno\n");
    await connection.closed();
  });
  // Its bytes come before the connection is ready, or after.
  const flow = `name: n
jobs:
  - name: j
    repeat: { count: 20 }
    steps: [{ uses: grpc, with: { addr: "127.0.0.1:${server.port}", service: Shop, method: Wait } }]
`;
  await withFiles({ "w.yml": flow }, async (cwd) => {
    const { stdout, stderr } = await runCli(["w.yml"], { cwd });
    assertStringIncludes(stdout, `the connection to 127.0.0.1 port ${server.port} was lost`);
    assertStringIncludes(stdout, "20 rounds, 20 failed", stderr);
  });
});

Deno.test("a thousand rounds at once may use what is loaded by the first of them", async () => {
  await using server = withServer(() => new Response("in"));
  const flow = `name: n
jobs:
  - name: j
    repeat: { count: 1000, async: true }
    steps:
      - { uses: http, with: { get: "${server.url}", save: out.txt }, test: res.code == 200 }
`;
  await withFiles({ "w.yml": flow }, async (cwd) => {
    const { code, stderr } = await runCli(["--cacert", tlsPath("authority.pem"), "w.yml"], { cwd });
    assertEquals([code, stderr], [0, ""]);
  });
});

Deno.test("a request that was sent again makes its step flaky, and the report says why", async () => {
  // Its first connection ends with the second request.
  await using server = rawServer(async (connection) => {
    for (let count = 0; await connection.request(); count++) {
      if (connection.index === 0 && count === 1) return;
      await connection.send(response("200 OK", "x"));
    }
  });
  const step = (name: string, method: string) =>
    `- { name: ${name}, uses: http, with: { ${method}: ${server.url} }, test: res.code == 200 }\n`;
  const steps = step("one", "post") + step("two", "get") + step("three", "get");
  const { code, stdout } = await run(steps, ["-v"]);
  assertEquals([code, server.requests.length], [0, 4]);
  const lines = stdout.split("\n").filter((line) => /\d\. ✓/.test(line))
    .map((line) => line.trim().replace(/ \([\d.]+m?s\).*$/, ""));
  assertEquals(lines, ["1. ✓ one", "2. ✓ two ↻ resent flaky", "3. ✓ three"]);
  assertStringIncludes(stdout, "3 passed, 1 flaky");
});

Deno.test("no test takes a body that is no text for an empty one", async () => {
  await using server = withServer(() => new Response(Uint8Array.of(1, 0, 2, 255, 3)));
  const tests = ['res.body == ""', "len(res.body) == 0", "res.body == nil"];
  const steps = tests.flatMap((test) =>
    ["", ", save: out.bin"].map((save) =>
      `- { name: s, uses: http, with: { get: "${server.url}"${save} }, test: '${test}' }\n`
    )
  );
  const { stdout } = await run(steps.join(""));
  const states = stdout.split("\n").flatMap((line) => /^ +\d\. ([✓✗])/.exec(line)?.[1] ?? []);
  assertEquals(states, ["✗", "✗", "✗", "✗", "✓", "✓"]);
});

Deno.test("a password that makes a URL invalid is masked everywhere, and the hint says how to write it", async () => {
  for (const password of ["se#cret99", "se?cret99"]) {
    const url = `http://user:${password}@localhost/x`;
    const step = (get: string) =>
      `- { name: s, uses: http, with: { get: "${get}" }, test: true }\n`;
    for (
      const steps of [
        step(url),
        `${step("{{vars.u}}").replace("with", `vars: { u: "${url}" }, with`)}`,
      ]
    ) {
      const { code, stdout, stderr } = await run(steps, ["-v"]);
      assertEquals([code, /cret99/.test(stdout + stderr)], [1, false]);
      assertStringIncludes(stdout + stderr, 'in a password, write "/" as %2F, "#" as %23');
    }
  }
});
