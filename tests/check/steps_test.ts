import { type Case, check, jobs, steps } from "./workflows.ts";

Deno.test("a retry of a step that cannot fail is a warning", () =>
  check(["pointless-retry"], [
    [
      steps(["¦retry: { max_attempts: 3 }"]),
      "warning pointless-retry: hello cannot fail, so this retry never repeats it (add a test, or remove the retry)",
    ],
    [
      steps(["uses: echo, with: { message: a }, ¦retry: { max_attempts: 3 }"]),
      "warning pointless-retry: echo cannot fail, so this retry never repeats it (add a test, or remove the retry)",
    ],
    [
      steps(["test: true, ¦retry: { max_attempts: 3 }"]),
      "warning pointless-retry: hello cannot fail, so this retry never repeats it (test something that may be false)",
    ],
    [steps(["test: random_int(2) == 0, retry: { max_attempts: 3 }"])],
    [steps(["test: false, retry: { max_attempts: 3 }"])],
    [steps(["uses: shell, with: { cmd: ls }, retry: { max_attempts: 3 }"])],
    [steps(["uses: http, with: { get: 'http://x' }, retry: { max_attempts: 3 }"])],
  ]));

Deno.test("a field that a result never has is an error, unless it may be nil", () =>
  check(["unknown-field"], [
    [
      steps(["uses: http, with: { get: 'http://x' }, test: res.¦bdy == 'x'"]),
      'error unknown-field: unknown field "bdy" of the result of http: it is always nil (did you mean "body"?)',
    ],
    [
      steps(["uses: http, with: { get: 'http://x' }, test: res.¦json.a != 'x'"]),
      'error unknown-field: unknown field "json" of the result of http: it is always nil (did you mean "body"?)',
    ],
    [
      steps(["uses: embedded, with: { path: job.yml }, test: res.¦out.x == 1"]),
      'error unknown-field: unknown field "out" of the result of embedded: it is always nil (embedded gives code, outputs)',
    ],
    [
      steps(["uses: echo, with: { message: tea }, test: res.¦mesage == 'tea'"]),
      'error unknown-field: unknown field "mesage" of the result of echo: it is always nil (did you mean "message"?)',
    ],
    [
      steps(["test: true"]) +
      "    finally: [{ uses: hello, test: job.state != 'x' && run.¦faild == 0 }]\n",
      'error unknown-field: unknown field "faild" of run: it is always nil (did you mean "failed"?)',
    ],
    [
      steps(["test: rt.¦ms < 1"]),
      'error unknown-field: unknown field "ms" of rt: it is always nil (rt has duration, sec)',
    ],
    ...["¦bdy == nil", "not ¦bdy"].map((test): Case => [
      steps([`uses: http, with: { get: 'http://x' }, test: ${test.replace(/¦?bdy/, "res.¦bdy")}`]),
      'error unknown-field: unknown field "bdy" of the result of http: it is always nil (did you mean "body"?)',
    ]),
    [steps(["uses: http, with: { get: 'http://x' }, test: res.body.bdy == (res.bdy ?? 1)"])],
    [steps(["test: res.anything == 1"])],
  ]));

const OPEN = "uses: listen, id: hooks, test: res.port > 0";

Deno.test("a comparison with an impossible value is a warning", () =>
  check(["impossible-comparison"], [
    [
      steps(["uses: http, with: { get: 'http://x' }, test: ¦res.status == 200"]),
      "warning impossible-comparison: res.status is string, this is int: it is never true (it is the status line; the number is res.code)",
    ],
    ...[
      "retry: { max_attempts: 2, until: ¦res.status == 200 }",
      "retry: { max_attempts: 2, stop: ¦res.status == 200 }",
      "iteration: { max: 2, until: ¦res.status == 200 }",
    ].map((line): [string, string] => [
      steps([`uses: http, with: { get: 'http://x' }, ${line}`]),
      "warning impossible-comparison: res.status is string, this is int: it is never true (it is the status line; the number is res.code)",
    ]),
    [
      steps(["uses: shell, with: { cmd: ls, background: true }, test: ¦status == -1"]),
      "warning impossible-comparison: status is 0 or 1, so that this is never true (0 is success, 1 anything else)",
    ],
    [
      steps([OPEN, "uses: receive, with: { from: hooks, where: '¦message.params == 3' }"]),
      "warning impossible-comparison: message.params is map, this is int: it is never true",
    ],
    [
      steps([OPEN, "uses: receive, with: { from: hooks }, test: ¦message.method != 1"]),
      "warning impossible-comparison: message.method is string, this is int: it is always true",
    ],
    [steps([OPEN, "uses: receive, with: { from: hooks, where: 'message.body == 3' }"])],
    [steps([OPEN, "uses: receive, with: { from: hooks, where: 'message.params.n == 3' }"])],
    [steps(["uses: http, with: { get: 'http://x' }, test: res.code == 200 && status == 0"])],
    [steps(["test: res.status == 200"])],
  ]));

Deno.test("a limit in seconds that looks like milliseconds is a warning", () =>
  check(["milliseconds-limit"], [
    [
      steps(["uses: http, with: { get: 'http://x' }, test: res.code == 200 && ¦rt.sec < 300"]),
      "warning milliseconds-limit: rt.sec is in seconds: 300 is 5m (for milliseconds write 0.3)",
    ],
    [
      steps(["uses: http, with: { get: 'http://x' }, test: ¦250 > res.timing.first_byte"]),
      "warning milliseconds-limit: res.timing.first_byte is in seconds: 250 is 4m10s (for milliseconds write 0.25)",
    ],
    [
      jobs([["load: { users: 1, count: 2, expect: ¦stats.p95 < 200 }", "test: status == 0"]]),
      "warning milliseconds-limit: stats.p95 is in seconds: 200 is 3m20s (for milliseconds write 0.2)",
    ],
    [
      jobs([[
        "load: { users: 2, for: 1s, expect: ¦stats.steps.hello.p99 < 200 }",
        "test: status == 0",
      ]]),
      "warning milliseconds-limit: stats.steps.hello.p99 is in seconds: 200 is 3m20s (for milliseconds write 0.2)",
    ],
    [jobs([[
      "load: { users: 1, count: 2, expect: stats.p95 < 0.2 && stats.passed > 200 }",
      "test: 1 < 2",
    ]])],
    [steps(["uses: http, with: { get: 'http://x' }, test: rt.sec * 1000 < 300 && rt.sec < 10"])],
    [steps(["uses: shell, with: { cmd: make }, test: rt.sec < 300"])],
    [
      steps(["timeout: ¦5000, retry: { max_attempts: 2, interval: ¦1500 }"]),
      "warning milliseconds-limit: a number is one of seconds: 5000 is 1h23m20s (for milliseconds write 5000ms)",
      "warning milliseconds-limit: a number is one of seconds: 1500 is 25m (for milliseconds write 1500ms)",
    ],
    [
      steps(["uses: http, with: { get: 'http://x', timeout: ¦2000 }"]),
      "warning milliseconds-limit: a number is one of seconds: 2000 is 33m20s (for milliseconds write 2000ms)",
    ],
    [steps(["with: { timeout: 2000 }"])],
    [steps([
      "timeout: 3600, max_time: 900, wait: 1000ms, retry: { max_attempts: 2, interval: 30 }",
    ])],
  ]));

Deno.test("a test that depends on nothing is a warning, and so is a job without rounds", () =>
  check(["constant-test", "no-rounds"], [
    [
      steps(["uses: shell, with: { cmd: ls }, test: ¦true"]),
      "warning constant-test: this test is always true (test the result, like res.code == 0)",
    ],
    [
      steps(["uses: shell, with: { cmd: ls }, test: ¦nil == nil"]),
      "warning constant-test: this test is always true (test the result, like res.code == 0)",
    ],
    [steps(["uses: shell, with: { cmd: ls }, test: random_int(2) == 0", "test: 1 + 1 == 2"])],
    [steps(["uses: shell, with: { cmd: ls }, test: now() < date('2030-01-01')"])],
    [
      "name: x\njobs:\n- name: a\n  repeat: { count: ¦0 }\n  steps: [{ uses: hello }]\n",
      "warning no-rounds: with a count of 0 the job never runs (to skip a job on purpose, use skipif: true)",
    ],
  ]));

Deno.test("a test that is not a key of its step is a warning", () => {
  const found = (where: string) =>
    `warning misplaced-test: "test" ${where} is not evaluated (make it a key of the step, beside uses)`;
  return check(["misplaced-test"], [
    [steps(["with: { ¦test: res.a == 1 }"]), found("in with")],
    [steps(["id: a, outputs: { ¦test: res.a == 1 }"]), found("in outputs")],
    [steps(["vars: { ¦test: status == 0 }"]), found("in vars")],
    [steps(["iteration: [{ ¦test: status == 0 }]"]), found("in iteration")],
    [steps(["name: a"], "¦test: res.code == 200"), found("at the top level")],
    [
      "name: x\njobs:\n- name: a\n  defaults: { hello: { ¦test: res.a == 1 } }\n  steps: [{ uses: hello }]\n",
      found("in defaults"),
    ],
    [steps(["with: { test: res.a == 1 }, test: res.test != nil", "vars: { test: unit }"])],
  ]);
});

Deno.test("a file to send that does not exist is a warning", () =>
  check(["missing-file"], [
    [
      steps(["uses: http, with: { put: 'http://x', file: ¦no.tgz }, test: status == 0"]),
      'warning missing-file: the file "no.tgz" does not exist (the path is relative to the file that names it)',
    ],
    [
      steps([
        "uses: http, with: { post: 'http://x', multipart: { a: [1, { file: ¦no.tgz }] } }, test: status == 0",
      ]),
      'warning missing-file: the file "no.tgz" does not exist (the path is relative to the file that names it)',
    ],
    [
      steps([
        "uses: grpc, with: { addr: 'x:1', service: S, method: M, proto: [¦no.proto] }, test: status == 0",
      ]),
      'warning missing-file: the file "no.proto" does not exist (the path is relative to the file that names it)',
    ],
    // A computed name that is constant in fact.
    [
      steps([
        `uses: http, with: { put: 'http://x', file: ¦"{{'no' + '.tgz'}}" }, test: status == 0`,
      ]),
      'warning missing-file: the file "no.tgz" does not exist (the path is relative to the file that names it)',
    ],
    [
      "vars: { f: no.tgz }\n" +
      steps(["uses: http, with: { put: 'http://x', file: ¦'dir/{{vars.f}}' }, test: status == 0"]),
      'warning missing-file: the file "dir/no.tgz" does not exist (the path is relative to the file that names it)',
    ],
    [
      steps(["uses: hello, iteration: { file: ¦no.csv }"]),
      'warning missing-file: the file "no.csv" does not exist (the path is relative to the file that names it)',
    ],
    [
      "vars: { f: no, file: other.csv }\n" +
      steps([
        "uses: hello, iteration: { file: ¦'{{vars.f}}.csv' }",
        "uses: echo, with: { a: '{{vars.file}}' }",
      ]),
      'warning missing-file: the file "no.csv" does not exist (the path is relative to the file that names it)',
    ],
    [
      "name: x\njobs: [{ load: { users: 1, count: 1, data: ¦no.csv }, steps: [{ uses: hello }] }]\n",
      'warning missing-file: the file "no.csv" does not exist (the path is relative to the file that names it)',
    ],
    [
      "vars: { dir: specs }\n" + steps([
        "uses: http, with: { get: 'http://x', openapi: ¦'{{vars.dir}}/no.yml' }, test: res.code == 200",
      ]),
      'warning missing-file: the file "specs/no.yml" does not exist (the path is relative to the file that names it)',
    ],
    // The run decides, or another step may create it.
    [
      "vars: { f: no.tgz }\n" + steps([
        "vars: { f: a }, uses: http, with: { put: 'http://x', file: '{{vars.f}}' }, test: status == 0",
      ]),
    ],
    [
      "vars: { f: '{{HOME}}' }\n" + steps([
        `uses: http, with: { put: 'http://x', file: "{{vars.f ?? 'no.tgz'}}" }, test: status == 0`,
      ]),
    ],
    [
      "vars: { f: no.tgz }\n" + steps([
        "uses: shell, with: { cmd: 'make {{vars.f}}' }, test: status == 0",
        "uses: http, with: { put: 'http://x', file: '{{vars.f}}' }, test: status == 0",
      ]),
    ],
    [steps([
      "uses: shell, with: { cmd: make no.tgz }, test: status == 0",
      `uses: http, with: { put: 'http://x', file: "{{'no' + '.tgz'}}" }, test: status == 0`,
    ])],
    // Another step may create it.
    [steps([
      "uses: http, with: { get: 'http://x', save: no.tgz }, test: status == 0",
      "uses: http, with: { put: 'http://x', file: no.tgz }, test: status == 0",
    ])],
    [steps([
      "uses: shell, with: { cmd: make out/no.tgz }, test: status == 0",
      "uses: http, with: { put: 'http://x', file: out/no.tgz }, test: status == 0",
    ])],
    [steps(["uses: http, with: { put: 'http://x', file: '{{vars.f}}' }, test: status == 0"])],
  ]));

Deno.test("a rate that the waits of its rounds keep out of reach is a warning", () =>
  check(["load-rate"], [
    [
      jobs([["load: { rate: ¦200/s, for: 1m, max_in_flight: 100 }", "wait: 2s"]]),
      "warning load-rate: at most 50/s can start: each round waits for 2s, and at most 100 are under way (raise max_in_flight to 400, or lower the rate)",
    ],
    [jobs([["load: { rate: 200/s, for: 1m, max_in_flight: 400 }", "wait: 2s"]])],
    [jobs([["load: { users: 200, for: 1m }", "wait: 2s"]])],
  ]));

Deno.test("a command that deploys after a test that may have failed is a warning", () => {
  const deploy = "uses: shell, with: { cmd: ./deploy }";
  return check(["runs-after-failure"], [
    [
      steps(["test: vars.a", `name: ¦Deploy the shop, ${deploy}`]),
      "warning runs-after-failure: this would deploy although a test before it failed (a failed step does not stop its job: add on_failure: stop to the job)",
    ],
    [steps([`name: deploy, ${deploy}`, "test: vars.a"])],
    [steps(["test: vars.a, allow_failure: true", `name: deploy, ${deploy}`])],
    [steps(["test: vars.a", `name: deploy, skipif: "run.failed", ${deploy}`])],
    [steps(["test: vars.a", "name: delete it, uses: http, with: { delete: 'http://x' }"])],
    [steps(["test: vars.a", `name: undeploy, ${deploy}`])],
    [
      steps(["test: vars.a", `name: deploy, ${deploy}`])
        .replace("- name: a\n", "- name: a\n    on_failure: stop\n"),
    ],
  ]);
});
