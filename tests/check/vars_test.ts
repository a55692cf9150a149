import { check, jobs, steps } from "./workflows.ts";

const VARS = "vars: { shop: a, port: 80, service: { name: x, tags: [a] } }";

Deno.test("a var that nothing defines is an error where nil would be one", () =>
  check(["undefined-var"], [
    [
      steps(["test: vars.¦shpo == 1"], VARS),
      'error undefined-var: undefined variable "shpo" (did you mean "shop"?)',
    ],
    [
      steps(["test: vars.¦other == 1"]),
      'error undefined-var: undefined variable "other" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps(["vars: { own: 1 }, test: vars.own == 1", "test: vars.¦own == 1"]),
      'error undefined-var: undefined variable "own" (it is a var of another step, which only that step sees)',
    ],
    // Vars of a step do not see each other.
    [
      steps(["vars: { one: 1, two: '{{vars.¦one}}' }, test: vars.one == vars.two"]),
      'warning undefined-var: undefined variable "one" (it is a var of another step, which only that step sees)',
    ],
    [
      jobs([["skipif: vars.¦nope == 1", "test: true"]]),
      'warning undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps(['name: "{{vars.¦nope}}"'], VARS),
      'warning undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps([`test: '"a" == vars[¦"shopp"]'`], VARS),
      'error undefined-var: undefined variable "shopp" (did you mean "shop"?)',
    ],
    // A mistake elsewhere hides no warning: only keys below it may be the intended ones.
    [
      steps(["test: vars.¦nope == vars.mine"], "nam: x\nvarz: { mine: 1 }"),
      'warning undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps(["repeat: 3, test: vars.¦nope == 1"]),
      'error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    // A mistake in defaults is reported once, where it is written.
    [
      "name: x\njobs:\n- name: a\n  defaults: { hello: { to: '{{vars.¦nope}}' } }\n  steps: [{uses: hello}, {uses: hello}]\n",
      'warning undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [steps(["test: vars.shop == 'a'", "test: len(vars.service.tags) == 1"], VARS)],
    [steps(["test: (vars.nope ?? 1) == 1"], VARS)],
    [steps(["test: vars.nope?.at.all == nil"], VARS)],
    [steps(["test: vars.nope != nil && vars.nope.a == 1"], VARS)],
    [steps([`test: '"nope" in vars && vars.nope == 1'`], VARS)],
    [steps(["test: type(vars.nope) == 'nil'"], VARS)],
    [steps(["test: vars[res.name] == 1 && vars == {}"], VARS)],
    [steps(["skipif: vars.nope == nil, test: vars.nope == 1"], VARS)],
    [steps(["vars: { own: 1 }, test: vars.own == 1 && vars.shop == 'a'"], VARS)],
    [steps(["iteration: [{ n: 1 }, { m: 2 }], test: vars.n == 1 || vars.m == 2"], VARS)],
    [steps(["vars: { own: 1 }, iteration: [{ n: '{{vars.own}}' }], test: vars.n == 1"])],
    // The environment is seen in the vars of the workflow by any name.
    [steps(["test: vars.a == 1"], "vars: { a: '{{HOME}} {{HOME.b}}' }")],
    // The part that could not be read may define it.
    [steps(["test: vars.shop == 1"], "vars: [shop]")],
    [steps(["test: vars.shop == 1"], "var: { shop: 1 }")],
    [steps(["vars: [own], test: vars.own == 1"])],
    [steps(["var: { own: 1 }, test: vars.own == 1"])],
    [steps(["iteration: { own: 1 }, test: vars.own == 1"])],
  ]));

Deno.test("a key that a var does not have is a warning", () =>
  check(["undefined-key"], [
    [
      steps(["test: vars.service.¦nmae == 'x'"], VARS),
      'warning undefined-key: vars.service has no "nmae" (did you mean "name"?)',
    ],
    [
      steps(["test: vars.service.¦other == 'x'"], VARS),
      'warning undefined-key: vars.service has no "other" (there is name, tags)',
    ],
    [
      steps(["test: vars.port.¦x == 1"], VARS),
      'warning undefined-key: vars.port is not a map and has no "x"',
    ],
    [
      steps(["vars: { service: plain }, test: vars.service.¦name == 1"], VARS),
      'warning undefined-key: vars.service is not a map and has no "name"',
    ],
    [
      steps(["test: vars.a.b.¦d == 1"], "vars: { a: { b: { c: '{{X}}' } } }"),
      'warning undefined-key: vars.a.b has no "d" (there is c)',
    ],
    // Lists, templates and nil may be anything; so may what a step lays over it.
    [steps(["test: vars.service.tags.x == 1"], VARS)],
    [steps(["test: vars.a.x == 1"], "vars: { a: '{{X}}' }")],
    [steps(["test: vars.a.x == 1"], "vars: { a: }")],
    [steps(["test: vars.service.nmae?.x == nil && (vars.service.nmae ?? 1) == 1"], VARS)],
    [steps(
      ["vars: { service: { own: 1 } }, test: vars.service.own + len(vars.service.name) == 2"],
      VARS,
    )],
    [steps(["vars: { service: '{{outputs}}' }, test: vars.service.own == 2"], VARS)],
    [steps(["iteration: [{}, { service: { own: 1 } }], test: vars.service.own == 1"], VARS)],
    [steps(["test: vars.shop[0] == 'a' && vars.service.name[1:2] == ''"], VARS)],
  ]));

Deno.test("a var that nothing reads is a hint", () =>
  check(["unused-var"], [
    [steps([""], "vars: { ¦a: 1 }"), 'hint unused-var: nothing reads the var "a"'],
    [
      steps(["vars: { ¦own: 1 }"], "vars: { ¦a: 1 }"),
      'hint unused-var: nothing reads the var "a"',
      'hint unused-var: nothing reads the var "own"',
    ],
    [
      steps(["vars: { ¦own: 1 }", "test: (vars.own ?? 1) == 1"]),
      'hint unused-var: nothing reads the var "own"',
    ],
    // Environment variables are not vars.
    [
      steps(["test: vars.b == 1"], "vars: { ¦a: 1, b: '{{a}}' }"),
      'hint unused-var: nothing reads the var "a"',
    ],
    [steps(["test: vars.a == 1"], "vars: { a: 1 }")],
    [steps(["test: vars.a.b == 1"], "vars: { a: { b: 1, c: 2 } }")],
    [steps(["test: vars[res.name] == 1"], "vars: { a: 1 }")],
    [steps(["with: { all: '{{vars}}' }"], "vars: { a: 1 }")],
    [steps(["test: $env.vars.a == 1"], "vars: { a: 1 }")],
    [steps(["vars: { own: '{{vars.a}}' }, test: vars.own == 1"], "vars: { a: 1 }")],
    [steps(["timeout: '{{vars.a}}s'"], "vars: { a: 1 }")],
    [steps(["echo: '{{vars.a}}'"], "vars: { a: 1 }")],
    ["name: x\nvars: { a: 1 }\njobs: [{name: '{{vars.a}}', steps: [{uses: hello}]}]\n"],
    [jobs([["skipif: vars.a == 1", "test: true"]]).replace("jobs", "vars: { a: 1 }\njobs")],
    [
      jobs([["defaults: {http: {url: '{{vars.a}}'}}", "test: true"]]).replace(
        "jobs",
        "vars: { a: 1 }\njobs",
      ),
    ],
    [steps(["tset: vars.a == 1"], "vars: { a: 1 }")],
    [steps(["test: vars.a == = 1"], "vars: { a: 1 }")],
    ["name: x\nvars: { a: 1 }\njobs: { x: { name: 'x {{vars.a}}' } }\n"],
  ]));
