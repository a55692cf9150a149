import { assertEquals, assertStringIncludes } from "@std/assert";
import { describeText, explainText } from "../support/load_files.ts";

Deno.test("a key or a value as other tools have it leads to the one to write", async () => {
  const http = (lines: string) => step(lines, "http");
  const shell = (lines: string) => step(lines, "shell");
  const hints: readonly (readonly [yaml: string, hint: string])[] = [
    [step("retry: 5"), "write retry: { max_attempts: 5 }"],
    [job("repeat: 5"), "write repeat: { count: 5 }"],
    [job("repeat: { count: '{{vars.n}}' }"), "it cannot be a template"],
    [step("iteration: rows.csv"), "a file is given as iteration: { file: cases.csv }"],
    [step("iteration: 6"), 'to run the step 6 times, write iteration: "{{1..6}}"'],
    [step("iteration: { count: 6 }"), 'write iteration: "{{1..3}}"'],
    [step("iteration: { file: a.csv, types: { a: int } }"), 'did you mean "integer"?'],
    [step("", "sql"), 'did you mean "db"?'],
    [step("", "sleep"), "wait: 5s"],
    [step("test: rt.sec < 300ms"), 'write duration("300ms")'],
    [step("skipif: [vars.a == 1]"), "join conditions with &&"],
    [step("test: res.a == 1; res.b"), "join conditions with &&"],
    [step("test: res.a == tea"), 'put text in quotes: "tea"'],
    [step("assert: res.a == 1"), 'the key is "test"'],
    [step("capture: { a: res.a }"), 'the key is "outputs"'],
    [http("get: /a"), 'parameters of an action go under "with"'],
    [http("with: { get: 'http://h', params: {} }"), 'the key is "query"'],
    [http("with: { get: '${base}/a' }"), "a value is put in by {{vars.name}}"],
    [shell("with: { cmd: ls, cwd: /tmp }"), 'the key is "workdir"'],
    [shell("with: { cmd: ls, environment: {} }"), 'the key is "env"'],
    [shell("with: { script: ls }"), 'the key is "cmd"'],
    [step("with: { bearer: abc, url: http://h }", "http"), "auth: { bearer: … }"],
    [step("with: { url: pg }", "db"), 'the key is "dsn": dsn: "postgres://'],
    [step("with: { user: a, password: b }", "smtp"), "auth: { username: …, password: … }"],
    [shell("env: { A: b }"), 'those of a command are "env" under "with"'],
    [step("when: always"), 'the condition of a step is "skipif"'],
    [step("continue-on-error: true"), "other steps and independent jobs continue"],
    [step("matrix: { os: [a] }"), 'the key is "iteration"'],
    [step("retries: 3"), 'the key is "retry"'],
    [step("retry: { attempts: 3 }"), 'the key is "max_attempts"'],
    [step("retry: { max_attempts: 3, delay: 1s }"), 'the key is "interval"'],
    [job("strategy: { matrix: {} }"), 'a step with "iteration" runs once for each entry'],
    [job("teardown: true"), 'the key is "finally"'],
    [job("echo: hi"), '"echo" is a key of a step'],
    [step("defaults: {}"), '"defaults" is a key of a job'],
    [job("retry: { max_attempts: 3 }"), '"retry" is a key of a step'],
    [job("test: status == 0"), '"test" is a key of a step: is it indented deep enough?'],
    [job("repeat: { count: 2, every: 5s }"), 'the key is "interval"'],
    [step("with:\n    to: world"), '"with" is empty: indent the keys that belong to it deeper'],
    [step("with: {}\n    to: world"), 'unknown key "to" in a step'],
    [step("iteration: []"), "the step runs once for each entry, and so never"],
  ];
  for (const [yaml, hint] of hints) assertStringIncludes(await explainText(yaml), hint, yaml);
});

Deno.test("a with that is not a mapping is reported once", async () => {
  const shown = ['6:11: error: "with" must be a map, not "GET http://h"'];
  assertEquals(await describeText(step("with: GET http://h", "http")), shown);
});

Deno.test("a value that a semicolon discards is reported", async () => {
  const shown = ['6:11: warning: the value before ";" is ignored'];
  assertEquals(await describeText(step("test: res.a == 1; res.b")), shown);
  assertEquals(await describeText(step("test: let a = 1; res.b == a")), []);
});

/** A workflow whose job has this key. */
function job(line: string): string {
  return `name: x\njobs:\n- name: a\n  ${line}\n  steps: [{ uses: hello }]\n`;
}

/** A workflow whose step has this key. */
function step(line: string, uses = "hello"): string {
  return `name: x\njobs:\n- name: a\n  steps:\n  - uses: ${uses}\n    ${line}\n`;
}
