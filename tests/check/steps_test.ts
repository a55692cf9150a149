import { check, steps } from "./workflows.ts";

Deno.test("a result that nothing tests is a hint", () =>
  check(["untested-result"], [
    [
      steps(["uses: ¦http, with: { get: 'http://x' }"]),
      "hint untested-result: nothing tests the result of this step (add a test, like test: res.code == 200)",
    ],
    [
      steps(["uses: ¦shell, with: { cmd: ls }"]),
      "hint untested-result: nothing tests the result of this step (add a test, like test: res.code == 0)",
    ],
    [
      steps(["uses: ¦shell, with: { cmd: ls }, retry: { max_attempts: 3 }"]),
      "hint untested-result: nothing tests the result of this step: after the last attempt it passes anyway (add a test, like test: res.code == 0)",
    ],
    [
      steps([
        "uses: ¦shell, id: a, with: { cmd: ls }, outputs: { x: res.stdout }",
        "echo: '{{outputs.a.x}}'",
      ]),
      "hint untested-result: nothing tests the result of this step (add a test, like test: res.code == 0)",
    ],
    [steps(["uses: shell, with: { cmd: ls }, test: res.code == 0"])],
    [steps(["uses: shell, with: { cmd: ls, background: true }"])],
    [steps(["uses: hello", "uses: echo, with: { message: a }"])],
    // A later test looks at what it has published.
    [steps([
      "uses: shell, id: a, with: { cmd: ls }, outputs: { x: res.code }",
      "test: outputs.a.x == 0",
    ])],
    [steps([
      "uses: shell, id: a, with: { cmd: ls }, outputs: { x: res.code }",
      "skipif: outputs.x == 0",
    ])],
    // Its test may be what is wrong.
    [steps(["uses: shell, with: { cmd: ls }, test: res.code = 0"])],
    [steps(["uses: shell, with: { cmd: ls }, tets: res.code == 0"])],
    [steps(["uses: shell, with: { cmd: ls }, test: "])],
  ]));

Deno.test("a retry of what cannot fail is a warning", () =>
  check(["pointless-retry"], [
    [
      steps(["¦retry: { max_attempts: 3 }"]),
      "warning pointless-retry: hello cannot fail, so that nothing is ever tried again (add a test, or leave the retry out)",
    ],
    [
      steps(["uses: echo, with: { message: a }, ¦retry: { max_attempts: 3 }"]),
      "warning pointless-retry: echo cannot fail, so that nothing is ever tried again (add a test, or leave the retry out)",
    ],
    [
      steps(["test: true, ¦retry: { max_attempts: 3 }"]),
      "warning pointless-retry: hello cannot fail, so that nothing is ever tried again (test what may be otherwise)",
    ],
    [steps(["test: random_int(2) == 0, retry: { max_attempts: 3 }"])],
    [steps(["test: false, retry: { max_attempts: 3 }"])],
    [steps(["uses: shell, with: { cmd: ls }, retry: { max_attempts: 3 }"])],
    [steps(["uses: http, with: { get: 'http://x' }, retry: { max_attempts: 3 }"])],
    [steps(["tset: res.a, retry: { max_attempts: 3 }"])],
  ]));
