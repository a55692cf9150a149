import { check, jobs, steps } from "./workflows.ts";

const PUBLISHER = "id: a, outputs: { x: '1' }, test: true";
const MARKED = "id: a, outputs: { ¦x: '1' }";
const USED = "test: outputs.a.x == 1 && outputs.x == 1";

Deno.test("an output that no step publishes is an error, unless it may be missing", () =>
  check(["unpublished-output"], [
    [
      steps([PUBLISHER, "test: outputs.¦b.x == 1"]),
      'error unpublished-output: no step publishes "b"',
    ],
    [
      steps(["id: session, outputs: { token: '1' }", "test: outputs.¦sesion.token == 1"]),
      'error unpublished-output: no step publishes "sesion" (did you mean "session"?)',
    ],
    [
      steps(["id: session, outputs: { token: '1' }", "test: outputs.session.¦tokn == 1"]),
      'error unpublished-output: the step "session" publishes no "tokn" (did you mean "token"?)',
    ],
    [
      steps(["id: a", "test: outputs.a.¦x == 1"]),
      'error unpublished-output: the step "a" publishes no "x" (it has no outputs)',
    ],
    [
      steps(["id: a, outputs: { one: '1', two: '2' }", "test: outputs.a.¦other == 1"]),
      'error unpublished-output: the step "a" publishes no "other" (it publishes one, two)',
    ],
    [
      steps(["id: my-step, outputs: { x: '1' }", `test: 'outputs[¦"my-stop"].x == 1'`]),
      'error unpublished-output: no step publishes "my-stop" (did you mean "my-step"?)',
    ],
    [
      steps([`test: $env.outputs.¦b.x == 1`]),
      'error unpublished-output: no step publishes "b"',
    ],
    [
      jobs([["id: build", "test: true"], ["id: b, needs: [build]", "test: outputs.¦build.x == 1"]]),
      'error unpublished-output: no step publishes "build" ("build" is a job: outputs are read by the id of a step)',
    ],
    [
      steps([`with: { to: "{{outputs.¦nope}} and {{outputs.¦nope}}" }`]),
      'error unpublished-output: no step publishes "nope"',
      'error unpublished-output: no step publishes "nope"',
    ],
    [
      steps(['name: "{{outputs.¦nope}}"']),
      'error unpublished-output: no step publishes "nope"',
    ],
    [
      steps(['echo: "{{outputs.¦nope.x}}"']),
      'error unpublished-output: no step publishes "nope"',
    ],
    [
      steps(["test: outputs.¦nope == nil"]),
      'error unpublished-output: no step publishes "nope"',
    ],
    // What says that it may be missing is always nil.
    [
      steps(["test: outputs.¦nope?.x == nil"]),
      'hint unpublished-output: no step publishes "nope": this is always nil',
    ],
    // ?? does not help, for reading on from nil fails before.
    [
      steps(["test: (outputs.¦nope.x ?? 1) == 1"]),
      'error unpublished-output: no step publishes "nope"',
    ],
  ]));

Deno.test("an output that may exist is not reported", () =>
  check(["unpublished-output", "output-order", "maybe-skipped-output"], [
    [steps([PUBLISHER, USED])],
    [steps([PUBLISHER, "test: outputs[res.name].x == 1"])],
    [steps([PUBLISHER, "test: outputs.a[res.name] == 1"])],
    [steps([PUBLISHER, "test: len(outputs) == 1 || keys(outputs.a) == ['x']"])],
    [steps([PUBLISHER, "test: outputs.a == {x: 1}"])],
    [steps([PUBLISHER, "test: outputs.a.x.deep.er == 1"])],
    [steps([PUBLISHER, "test: 'let o = outputs; o.b.y == 1'"])],
    [steps([PUBLISHER, "test: 'let outputs2 = 1; outputs2 == 1'"])],
    [steps(["id: my-step, outputs: { x: '1' }", `test: 'outputs["my-step"].x == 1'`])],
    // An output of the step itself is there once it has run.
    [steps(["id: a, outputs: { x: '1' }, test: outputs.a.x == 1, echo: '{{outputs.x}}'"])],
    // A part with an error may define the missing name.
    [steps(["id: a, output: { x: '1' }", "test: outputs.a.x == 1"])],
    [steps(["id: a, outputs: { x: '1 +' }", "test: outputs.a.x == 1"])],
    [steps(["id: a, outputs: [x]", "test: outputs.a.x == 1"])],
    [steps(["id: my-step, outputs: { x: '1' }", "test: outputs.my-step.x == 1"])],
    ["name: x\njobs:\n- {name: a, steps: {id: s, outputs: {x: 1}}}\n- {name: b, steps: [{uses: hello, test: outputs.s.x == 1}]}\n"],
  ]));

Deno.test("an output is read after the step that publishes it", () =>
  check(["output-order"], [
    [
      steps(["test: outputs.¦a.x == 1", PUBLISHER]),
      'error output-order: the step "a" runs after this',
    ],
    [
      steps(["test: outputs.¦x == 1", PUBLISHER]),
      'error output-order: the step "a" runs after this',
    ],
    [
      steps(["id: a, outputs: { x: '1' }, with: { y: '{{outputs.¦a.x}}' }"]),
      "error output-order: a step has no outputs of its own before it has run",
    ],
    [
      jobs([["id: one", PUBLISHER], ["id: two", "test: outputs.¦a.x == 1 && outputs.¦x == 1"]]),
      'warning output-order: the job "one" with the step "a" may not have run before this (add it to the needs of this job: needs: [one])',
      'warning output-order: the job "one" with the step "a" may not have run before this (add it to the needs of this job: needs: [one])',
    ],
    [
      jobs([["id: one", "test: outputs.¦a.x == 1"], [
        "id: two, needs: [one]",
        PUBLISHER,
      ]]),
      'error output-order: the step "a" of the job "two" runs after this',
    ],
    [
      jobs([["id: one, skipif: outputs.¦a.x == 1", PUBLISHER]]),
      'error output-order: the step "a" runs after this',
    ],
    // Entries of an iteration see those before.
    [steps([
      "id: a, iteration: [{ n: 1 }, { n: 2 }], skipif: vars.n > 1 && outputs.a.x == nil, outputs: { x: vars.n }",
    ])],
    [
      steps([
        "id: a, iteration: [{ n: 1 }], skipif: vars.n > 1 && outputs.¦a.x == nil, outputs: { x: vars.n }",
      ]),
      "warning output-order: a step has no outputs of its own before it has run",
    ],
    // Rounds do not see each other.
    [
      jobs([[
        "id: one, repeat: {count: 3}",
        "id: a, outputs: { x: repeat_index }, with: { y: '{{outputs.¦a.x}}' }",
      ]]),
      "error output-order: a step has no outputs of its own before it has run",
    ],
    // A step may look whether it has run already.
    [steps(["test: outputs.a == nil", PUBLISHER])],
    [steps(["test: (outputs.a?.x ?? 0) == 0", PUBLISHER])],
    [steps(["test: (outputs.x ?? 0) == 0", PUBLISHER])],
    [steps([`test: "not ('a' in outputs) || outputs.a.x == 1"`, PUBLISHER])],
    [steps(["skipif: outputs.a == nil, with: { y: '{{outputs.a.x}}' }", PUBLISHER])],
    [jobs([["id: one", PUBLISHER], ["id: two, needs: [one]", USED]])],
    [jobs([["id: one", PUBLISHER], ["id: two, needs: [one]", "test: true"], [
      "id: three, needs: [two]",
      USED,
    ]])],
    // Of two that publish a flat name one is enough.
    [jobs([["id: one", PUBLISHER], ["id: two", "id: b, outputs: { x: '2' }"], [
      "needs: [two]",
      "test: outputs.x == 2",
    ]])],
    // Entries that run at once do not see outputs of each other.
    [
      steps([
        "id: a, iteration: { list: [1, 2], parallel: 2 }, outputs: { x: outputs.¦a?.x ?? 1 }",
      ]),
      "error output-order: entries that run in parallel do not see outputs of each other (leave parallel out; a later step reads all of them in outputs.a.all)",
    ],
    [
      steps([
        "id: a, iteration: [1, 2], outputs: { x: vars.item }, test: len(outputs.¦a.all) == 1",
        "test: len(outputs.a.all) == 2",
      ]),
      "error output-order: outputs.a.all is known once all entries of the step have run",
    ],
    [steps(["id: a, iteration: [1, 2], outputs: { all: vars.item }, test: outputs.a.all > 0"])],
    [steps(["id: a, iteration: { list: [1, 2] }, outputs: { x: outputs.a?.x ?? 1 }"])],
    [
      steps([
        "id: a, iteration: { list: [1, 2], parallel: 2 }, outputs: { x: vars.item }, test: outputs.a.x > 0",
      ]),
    ],
    // Later entries and attempts see what earlier ones have published.
    [steps(["id: a, outputs: { x: vars.n }, iteration: [{ n: 1 }, { n: '{{outputs.a.x}}' }]"])],
    [steps([
      "id: a, outputs: { x: '1' }, test: 'false', retry: { max_attempts: 2, interval: '{{outputs.a.x}}s' }",
    ])],
    // Needs that are in doubt say nothing about the order.
    [jobs([["id: one", PUBLISHER], ["id: two, needs: [oen]", USED]])],
    [jobs([["id: one", PUBLISHER], ["id: two, need: [one]", USED]])],
    [jobs([["id: one", PUBLISHER], ["id: two, needs: one", USED]])],
    [jobs([["id: one", PUBLISHER], ["id: two, needs: [oen]", "test: true"], [
      "needs: [two]",
      USED,
    ]])],
  ]));

Deno.test("an output of a step that may be skipped is at most a hint", () =>
  check(["output-order", "maybe-skipped-output"], [
    [
      steps([`${PUBLISHER}, skipif: vars.x`, "test: outputs.¦a.x == 1"], "vars: { x: true }"),
      'hint maybe-skipped-output: the step "a" may be skipped; then there is no "a" (read from it with ?.)',
    ],
    [
      steps([`${PUBLISHER}, skipif: vars.x`, "test: outputs.¦x == 1"], "vars: { x: true }"),
      'hint maybe-skipped-output: the step "a" may be skipped; then there is no "x" (add ?? and a default)',
    ],
    [
      jobs([["id: one, skipif: 1 == 1", PUBLISHER], [
        "id: two, needs: [one]",
        "test: outputs.¦a.x == 1",
      ]]),
      'hint maybe-skipped-output: the job "one" may be skipped; then there is no "a" (read from it with ?.)',
    ],
    [steps([`${PUBLISHER}, skipif: 1 == 1`, "test: (outputs.a?.x ?? 1) == 1"])],
    [steps([`${PUBLISHER}, skipif: 1 == 1`, "test: (outputs.x ?? 1) == 1"])],
    // A step with its own condition is intentional.
    [steps([`${PUBLISHER}, skipif: 1 == 1`, "skipif: 1 == 1, test: outputs.a.x == 1"])],
    [jobs([["id: one, skipif: 1 == 1", PUBLISHER], [
      "needs: [one], skipif: 1 == 1",
      "test: outputs.a.x == 1",
    ]])],
    // It does not skip all rounds, and not all entries.
    [steps([`${PUBLISHER}, skipif: repeat_index > 1`, "test: outputs.a.x == 1"])],
    [steps([
      `${PUBLISHER}, skipif: vars.n > 1, iteration: [{n: 1}, {n: 2}]`,
      "test: outputs.a.x == 1",
    ])],
    // In the same job its skipif skips both.
    [
      "name: x\njobs:\n- name: a\n  skipif: 1 == 1\n  steps:\n  - {uses: hello, " + PUBLISHER +
      "}\n  - {uses: hello, test: outputs.a.x == 1}\n",
    ],
    // Another that is not skipped publishes the name too.
    [steps([PUBLISHER, "id: b, skipif: 1 == 1, outputs: { x: '2' }", "test: outputs.x == 1"])],
  ]));

Deno.test("an output that nothing reads is a hint", () =>
  check(["unused-output"], [
    [steps([MARKED]), 'hint unused-output: nothing reads the output "x"'],
    [
      steps(["id: a, outputs: { x: '1', ¦y: '2' }", "test: outputs.a.x == 1"]),
      'hint unused-output: nothing reads the output "y"',
    ],
    // A flat name that is the id of a step is that step.
    [
      steps([
        "id: a, outputs: { ¦b: '1' }",
        "id: b, outputs: { c: '1' }",
        "test: outputs.b.c == 1",
      ]),
      'hint unused-output: nothing reads the output "b"',
    ],
    // A name that let brings in is another.
    [
      steps([MARKED, "test: 'let a = {x: 1}; a.x == 1'"]),
      'hint unused-output: nothing reads the output "x"',
    ],
    [steps([PUBLISHER, "test: outputs.a.x == 1"])],
    [steps([PUBLISHER, "test: outputs.x == 1"])],
    [steps([PUBLISHER, "echo: 'x is {{outputs.x}}'"])],
    [steps([PUBLISHER, `test: 'outputs["a"]["x"] == 1'`])],
    [steps([PUBLISHER, "test: outputs[res.name].x == 1"])],
    [steps([PUBLISHER, "test: outputs.a[res.name] == 1"])],
    [steps([PUBLISHER, "test: len(outputs.a) == 1"])],
    [steps([PUBLISHER, "test: outputs | keys() | len() == 1"])],
    [steps([PUBLISHER, "test: len($env) == 1"])],
    [steps([PUBLISHER, "test: any([1], outputs.a.x == #)"])],
    [steps([PUBLISHER, "iteration: [{ n: '{{outputs.a.x}}' }], test: vars.n == 1"])],
    [steps([PUBLISHER, "wait: '{{outputs.a.x}}s'"])],
    [jobs([["id: one", PUBLISHER], ["needs: [one], skipif: outputs.a.x == 1", "test: true"]])],
    [jobs([["id: one", PUBLISHER], [
      "needs: [one], repeat: { count: 2, interval: '{{outputs.x}}s' }",
      "test: true",
    ]])],
    // In defaults, whether a step takes them or not.
    [jobs([["id: one", PUBLISHER], [
      "needs: [one], defaults: {http: {url: '{{outputs.x}}'}}",
      "test: true",
    ]])],
    [jobs([["id: one", PUBLISHER], [
      "needs: [one], defaults: {hello: {url: '{{outputs.a.x}}'}}",
      "test: true",
    ]])],
    // It may be used in what could not be read.
    [steps([PUBLISHER, "test: outputs.a.x = 1"])],
    [steps([PUBLISHER, "tets: outputs.a.x == 1"])],
    [steps([PUBLISHER, "with: { y: {{ outputs.a.x }} }"])],
    [steps([PUBLISHER, "with: 'is {{outputs.a.x}}'"])],
    // Without an id they are lost, which is reported already.
    [steps(["outputs: { x: '1' }"])],
  ]));

Deno.test("reading the state of a job that is not in needs is an error", () =>
  check(["unknown-need-state"], [
    [
      jobs([["id: a", "test: true"], ["id: b", "test: needs.¦a.state == 'passed'"]]),
      'error unknown-need-state: "a" is not in the needs of this job (add it to the needs of this job: needs: [a])',
    ],
    [
      jobs([["id: build", "test: true"], [
        "id: b, needs: [build]",
        "test: needs.¦biuld.state == 'passed'",
      ]]),
      'error unknown-need-state: "biuld" is not in the needs of this job (did you mean "build"?)',
    ],
    [jobs([["id: a", "test: true"], ["id: b, needs: [a]", "test: needs.a.state == 'passed'"]])],
  ]));

Deno.test("a cleanup step may read missing outputs", () =>
  check(["maybe-skipped-output"], [
    [
      "name: n\njobs:\n  - name: j\n    steps: [{ uses: hello, id: a, outputs: { x: '1' } }]\n" +
      "    finally: [{ uses: hello, test: outputs.¦a.x == 1 }]\n",
      'hint maybe-skipped-output: the step "a" may have failed or not have run; then there is no "a" (read from it with ?.)',
    ],
    [
      "name: n\njobs:\n  - name: j\n    steps: [{ uses: hello, id: a, outputs: { x: '1' } }]\n" +
      "finally: [{ uses: hello, test: outputs.a?.x == 1 }]\n",
    ],
  ]));

Deno.test("an output of a load job is a warning in another job", () =>
  check(["load-output", "unpublished-output"], [[
    `name: x
jobs:
  - name: a
    id: a
    load: { users: 1, count: 1 }
    steps:
      - { id: s, uses: hello, outputs: { x: status }, test: status == 0 }
      - { uses: hello, test: outputs.s.x == 0 }
  - name: b
    needs: [a]
    steps: [{ uses: hello, test: outputs.¦s.x == 0 }]
`,
    'warning load-output: this is nil: the job "a" runs under load, and publishes nothing (publish it in a job of its own)',
  ], [
    `name: x
jobs:
  - name: Shop
    load: { users: 1, count: 1 }
    steps: [{ id: s, uses: hello, outputs: { x: status }, test: status == 0 }]
  - name: b
    steps: [{ uses: hello, test: outputs.¦s.x == 0 }]
`,
    'warning load-output: this is nil: the job "Shop" runs under load, and publishes nothing (publish it in a job of its own)',
  ]]));
