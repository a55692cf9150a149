import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { RepeatedRun } from "../support/run/repeated_run.ts";
import { runHere } from "../support/run/run_main.ts";
import { freePort } from "../support/servers/free_port.ts";
import { withFiles } from "../support/temp_dir.ts";

const MINUTE = 60_000;

/** Its one step passes if the status is 0. */
function workflow(status = 0, name = "W"): string {
  return `name: ${JSON.stringify(name)}
jobs:
  - name: Shop
    steps:
      - { id: hi, name: say hi, uses: hello, test: res.status == ${status} }
`;
}

/**
 * Serves runs of `w.yml`, each with another text, and calls a function in the pause after each; it
 * ends after the last one.
 */
async function withServed(
  texts: readonly string[],
  onPause: (count: number, run: RepeatedRun, cwd: string) => unknown,
  ...args: string[]
) {
  return await withFiles({ "w.yml": texts[0]! }, async (cwd) => {
    // An error in a pause is thrown at the end.
    let problem: unknown;
    const run = new RepeatedRun(async (count, run) => {
      try {
        await onPause(count, run, cwd);
      } catch (error) {
        problem ??= error;
      }
      if (count >= texts.length || problem) run.send("SIGTERM");
      else await Deno.writeTextFile(`${cwd}/w.yml`, texts[count]!);
    });
    const result = await run.run(cwd, "--serve", "0", ...args);
    if (problem) throw problem;
    return { run, result, cwd };
  });
}

Deno.test("--serve shows each job's runs, its availability, and its last failure with a report", async () => {
  const pages: string[] = [];
  await withServed([workflow(), workflow(1), workflow()], async (_, run) => {
    const { status, body } = await run.get("/");
    assertEquals(status, 200);
    pages.push(body);
  });
  const [first, second, third] = pages as [string, string, string];
  assertStringIncludes(first, "<title>✓ W</title>");
  assertStringIncludes(first, 'aria-label="The last 1 run: 1 passed"');
  assertStringIncludes(first, "<td>100 %</td><td>100 %</td><td>100 %</td>");
  assert(!first.includes("last failure"));
  assertStringIncludes(second, "<title>✗ W</title>");
  assertMatch(
    second,
    /failed for 1m\d*s?, since <time datetime="2026-01-31T00:01:[^>]*>[^<]*<\/time>, 1 run in/,
  );
  assertMatch(
    second,
    /Shop › say hi<\/a> has failed for 1m\d*s?: test is false: res\.status is 0/,
  );
  assertMatch(second, /last failure <time.*w\.yml:\d+:\d+.*"report\?last=failed"/);
  assertStringIncludes(third, "<title>✓ W</title>");
  assertStringIncludes(third, 'aria-label="The last 3 runs: 2 passed, 1 failed"');
  assertStringIncludes(third, "<td>66.66 %</td>");
  assertStringIncludes(third, "Shop › say hi: test is false");
  assert(!third.includes("has failed for"));
});

Deno.test("--serve has the reports of the last run and of the last failed one", async () => {
  const seen: unknown[] = [];
  await withServed([workflow(), workflow(1), workflow()], async (_, run) => {
    for (const path of ["/report", "/report?last=failed", "/report?last=week"]) {
      const { status, headers, body } = await run.get(path);
      const [, title] = /<title>(.*)<\/title>/.exec(body) ?? [];
      seen.push([status, title]);
      if (status === 200) assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
    }
  });
  const none = [404, undefined];
  assertEquals(seen, [
    ...[[200, "✓ W"], none, none],
    ...[[200, "✗ W"], [200, "✗ W"], none],
    ...[[200, "✓ W"], [200, "✗ W"], none],
  ]);
});

/** The samples of a text of Prometheus, which is checked on the way. */
function readMetrics(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  const families = new Map<string, string>();
  let family = "";
  assert(text.endsWith("\n"));
  for (const line of text.trimEnd().split("\n")) {
    const [, keyword, name, rest] = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      assert(!families.has(name!), `${name} is there once`);
      families.set(family = name!, "");
    } else if (keyword === "TYPE") {
      assertEquals(name, family);
      assertMatch(rest!, /^(?:counter|gauge|histogram|summary)$/);
      families.set(name!, rest!);
    } else {
      const [, key, sample, value] =
        /^(([a-z_]+)\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*\}) (-?[\d.]+(?:e-?\d+)?)$/.exec(
          line,
        ) ??
          [];
      assert(key, `a sample: ${line}`);
      assertEquals(sample!.replace(/_(?:bucket|sum|count)$/, ""), family);
      assert(!samples.has(key), `${key} is there once`);
      samples.set(key, Number(value));
    }
  }
  return samples;
}

Deno.test("--serve has metrics of the last run and of all runs for Prometheus", async () => {
  const name = 'a "b" \\ c';
  const labels = String.raw`workflow="a \"b\" \\ c",file="w.yml"`;
  const texts = [workflow(0, name), workflow(1, name), workflow(1, name)];
  const { run } = await withServed(texts, async (count, run) => {
    if (count < 3) return;
    const { headers, body } = await run.get("/metrics");
    assertEquals(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    const samples = readMetrics(body);
    assertEquals(samples.get(`runner_run_passed{${labels}}`), 0);
    assertEquals(samples.get(`runner_runs_total{${labels},state="passed"}`), 1);
    assertEquals(samples.get(`runner_runs_total{${labels},state="failed"}`), 2);
    assertEquals(samples.get(`runner_streak{${labels}}`), 2);
    assert(samples.has(`runner_run_duration_seconds{${labels}}`));
    const step = `${labels},job_name="Shop",step="say hi"`;
    assertEquals(samples.get(`runner_step_seconds_bucket{${step},le="+Inf"}`), 3);
    assertEquals(samples.get(`runner_step_seconds_count{${step}}`), 3);
    const buckets = [...samples].filter(([key]) => key.startsWith("runner_step_seconds_bucket"));
    assertEquals(
      buckets.map(([, count]) => count).toSorted((a, b) => a - b),
      buckets.map(([, n]) => n),
    );
  });
  assertEquals(run.pauses.length, 3);
});

Deno.test("--serve is healthy until the next run is late by more than an interval", async () => {
  const seen: unknown[] = [];
  await withServed([workflow(), workflow()], async (_, run) => {
    for (const late of [0, 0.8, 0.3]) {
      run.now += late * MINUTE;
      const { status, body } = await run.get("/health");
      seen.push([status, body]);
    }
  });
  const [well, late] = [[200, "ok\n"], [503, "the next run is late\n"]];
  // A pause is longer than the interval by up to 10 %.
  assertEquals(seen, [well, well, late, well, well, late]);
});

Deno.test("--serve answers GET and HEAD of its paths alone, and allows no script", async () => {
  await withServed([workflow()], async (_, run) => {
    for (const path of ["/", "/metrics", "/health", "/report"]) {
      const got = await run.get(path);
      const head = await run.get(path, "HEAD");
      assertEquals([head.status, head.body], [200, ""]);
      assertEquals(head.headers.get("content-type"), got.headers.get("content-type"));
      assertEquals(got.headers.get("x-content-type-options"), "nosniff");
      assertEquals(got.headers.get("cache-control"), "no-store");
    }
    const { headers, body } = await run.get("/");
    assertMatch(headers.get("content-security-policy")!, /^default-src 'none'; style-src 'sha256-/);
    assert(!/<script|\son\w+=|script-src/.test(body + headers.get("content-security-policy")));
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PURGE"]) {
      const { status, headers } = await run.get("/", method);
      assertEquals([method, status, headers.get("allow")], [method, 405, "GET, HEAD"]);
    }
    for (const path of ["/x", "/x//", "/report/", "/%2e%2e/etc/passwd", "/index.html"]) {
      assertEquals([path, (await run.get(path)).status], [path, 404]);
    }
  });
});

Deno.test("--serve hides secrets as reports do", async () => {
  const secret = "s3cr3t-word";
  const text = `name: W
vars: { password: ${secret} }
jobs:
  - name: Shop
    steps:
      - uses: echo
        with: { message: "{{vars.password}}" }
        test: res.message == vars.password + "x"
`;
  await withServed([text], async (_, run) => {
    for (const path of ["/", "/metrics", "/report", "/report?last=failed"]) {
      const { status, body } = await run.get(path);
      assertEquals(status, 200);
      assert(!body.includes(secret), path);
    }
  });
});

Deno.test("--serve shows text of a workflow as text", async () => {
  const { result } = await withServed([workflow(1, "<b>&</b>")], async (_, run) => {
    const { body } = await run.get("/");
    assert(!body.includes("<b>"));
    assertStringIncludes(body, "&lt;b&gt;&amp;&lt;/b&gt;");
  });
  assertEquals(result.code, 0);
});

Deno.test("--serve has its past from --history and --state after a restart", () =>
  withFiles({ "w.yml": workflow() }, async (cwd) => {
    let page = "";
    for (const count of [3, 2]) {
      const run = new RepeatedRun(async (pauses, run) => {
        page = (await run.get("/")).body;
        if (pauses === count) run.send("SIGTERM");
      });
      // A run of the second process is after those of the first one.
      run.now += (3 - count) * 5 * MINUTE;
      const args = ["--serve", "0", "--history", "h/", "--state", "s.json"];
      assertEquals((await run.run(cwd, ...args)).code, 0);
    }
    assertEquals(page.split('aria-label="The last 5 runs: 5 passed"').length, 3);
    assertEquals(page.split("2026-01-31 00:00:00 UTC</time>, 5 runs in a row").length, 3);
  }));

Deno.test("--serve knows the last failure of a history", () =>
  withFiles({ "w.yml": workflow(1) }, async (cwd) => {
    const pages: string[] = [];
    for (const status of [1, 0]) {
      await Deno.writeTextFile(`${cwd}/w.yml`, workflow(status));
      const run = new RepeatedRun(async (_, run) => {
        pages.push((await run.get("/")).body);
        run.send("SIGTERM");
      });
      run.now += (1 - status) * 5 * MINUTE;
      assertEquals((await run.run(cwd, "--serve", "0", "--history", "h")).code, 0);
    }
    const [, page] = pages;
    assertStringIncludes(page!, 'aria-label="The last 2 runs: 1 passed, 1 failed"');
    assertMatch(page!, /last failure <time[^>]*T00:00:00.*w\.yml:\d.*Shop › say hi: test is false/);
    // Its report was in the memory of the first process.
    assert(!page!.includes("last=failed"));
  }));

Deno.test("--serve keeps the last 90 runs, and forgets jobs that are no longer in the file", async () => {
  const other = workflow().replace("Shop", "Store");
  const texts = [...Array.from({ length: 99 }, () => workflow()), other];
  await withServed(texts, async (count, run) => {
    if (count < 99) return;
    const { body } = await run.get("/");
    const { body: metrics } = await run.get("/metrics");
    assertStringIncludes(body, 'aria-label="The last 90 runs: 90 passed"');
    assertEquals([body.includes("Shop"), metrics.includes("Shop")], [count === 99, count === 99]);
  });
});

Deno.test("--serve needs --every, an address, and a port that is free", async () => {
  await withFiles({ "w.yml": workflow() }, async (cwd) => {
    const every = ["--every", "1m"];
    const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = server.addr;
    try {
      for (
        const [args, message] of [
          [["--serve", "8080"], "option --serve requires --every"],
          [[...every, "--serve", "99999"], "option --serve needs a port"],
          [[...every, "--serve", "http://x:1"], "option --serve needs a port"],
          [[...every, "--serve", ""], "--serve"],
          [
            [...every, "--serve", `:${port}`],
            `cannot serve at 127.0.0.1 port ${port}: the port is in use (EADDRINUSE)`,
          ],
        ] as const
      ) {
        const { code, stdout, stderr } = await runHere([...args, "w.yml"], { cwd });
        assertEquals([code, stdout], [1, ""]);
        assertStringIncludes(stderr, message);
      }
    } finally {
      server.close();
    }
  });
});

Deno.test("--serve takes an address as a port, with a host or without", async () => {
  for (const host of ["", ":", "127.0.0.1:", "localhost:", "0.0.0.0:"]) {
    await withFiles({ "w.yml": workflow() }, async (cwd) => {
      const port = freePort();
      const run = new RepeatedRun(async (_, run) => {
        const { status } = await run.get("/health");
        assertEquals(status, 200);
        run.send("SIGTERM");
      });
      const { stderr } = await run.run(cwd, "--serve", `${host}${port}`);
      assertMatch(stderr, new RegExp(`^serving http://(?:127\\.0\\.0\\.1|localhost):${port}/\n$`));
    });
  }
});

/** Sends a text, and reads until the server closes the connection. */
async function exchange(connection: Deno.Conn, text: string): Promise<string> {
  let answer = "";
  try {
    await connection.write(new TextEncoder().encode(text));
    const buffer = new Uint8Array(65_536);
    for (let size; (size = await connection.read(buffer)) !== null;) {
      answer += new TextDecoder().decode(buffer.subarray(0, size));
    }
  } catch (error) {
    const isGone = error instanceof Deno.errors.ConnectionReset ||
      error instanceof Deno.errors.BrokenPipe;
    if (!isGone) throw error;
  }
  return answer;
}

const HEALTH = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";

Deno.test("clients that send anything, or read nothing, do not disturb --serve", async () => {
  let port = 0;
  const open: Deno.Conn[] = [];
  const { result } = await withServed([workflow(), workflow()], async (count, run) => {
    port = Number(new URL(run.address).port);
    const connect = () => Deno.connect({ hostname: "127.0.0.1", port });
    if (count > 1) {
      // There is a place again as soon as the server has seen that the others are gone.
      while (!/^HTTP.1.1 200/.test(await exchange(await connect(), HEALTH)));
      return;
    }
    for (
      const [text, answer] of [
        ["\x16\x03\x01\x02\x00\x01\r\n\r\n", /^(?:HTTP\/1.1 400 |$)/],
        [`GET / HTTP/1.1\r\nA: ${"x".repeat(100_000)}\r\n\r\n`, /^(?:HTTP\/1.1 4\d\d |$)/],
        ["POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", /^HTTP\/1.1 405 /],
        ["GET http://x/health HTTP/1.1\r\nHost: x\r\n\r\n", /^HTTP\/1.1 404 /],
        [
          HEALTH.replace("\r\n\r\n", "\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
          /^(?:HTTP|$)/,
        ],
      ] as const
    ) {
      using connection = await connect();
      assertMatch(await exchange(connection, text), answer);
    }
    // The first 64 may wait, and the others are closed.
    for (let index = 0; index < 80; index++) open.push(await connect());
    for (const one of open.splice(64)) assertEquals(await exchange(one, ""), "");
    for (const one of open.splice(0)) one.close();
  });
  assertEquals(result.code, 0);
  const refused = await Deno.connect({ hostname: "127.0.0.1", port }).catch((error) => error);
  assert(refused instanceof Deno.errors.ConnectionRefused);
});

Deno.test("--serve sends a large report as it is read, and ends although a client does not read", async () => {
  const text = `name: W
jobs:
  - name: Shop
    steps:
      - name: page
        uses: echo
        with: { message: "{{repeat('x', 2000)}}{{vars.n}}" }
        iteration: [${Array.from({ length: 3000 }, (_, n) => `{ n: ${n} }`).join(", ")}]
`;
  const open: Deno.Conn[] = [];
  const { result } = await withServed([text], async (_, run) => {
    const lazy = await Deno.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(run.address).port),
    });
    open.push(lazy);
    await lazy.write(new TextEncoder().encode(HEALTH.replace("/health", "/report")));
    const { status, body } = await run.get("/report");
    assertEquals([status, body.endsWith("</html>\n")], [200, true]);
    assert(body.length > 6_000_000);
  });
  assertEquals(result.code, 0);
  for (const one of open) one.close();
});
