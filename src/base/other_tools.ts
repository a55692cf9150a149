/**
 * The commonest words of other tools (GitHub Actions, k6, Postman, JavaScript …) that people
 * write by habit, and what to write instead.
 *
 * @module
 */
import { suggest } from "./text/suggest.ts";

/** Hints, each with the words that lead to it. */
type Table = readonly (readonly [hint: string, words: string])[];

function find(table: Table, word: string): string | undefined {
  return table.find(([, words]) => words.split(" ").includes(word))?.[0];
}

const ENVIRONMENT = "read the environment in vars at the top of the workflow, as in {{HOME}}";
const GITHUB = "this looks like a GitHub Actions workflow, which runner does not run";
const SKIPIF = 'the key is "skipif", which skips if it is true';
const AFTER_ALL = 'the key is "finally", a list of steps that always run';
const GOES_ON = 'the key is "allow_failure"; other steps and independent jobs continue after a ' +
  "failure anyway";
const STEP_TIMEOUT = '"timeout" is a key of a step; RUNNER_TIMEOUT limits the whole run';

const JOB: Table = [
  [`${SKIPIF}; "when: always" and "when: failure" run a job after failures`, "if"],
  [GOES_ON, "continue_on_error continue-on-error"],
  [AFTER_ALL, "teardown"],
  ['the key is "matrix", with a list for each name: matrix: { env: [staging, prod] }', "strategy"],
  ['the key is "needs"', "depends_on"],
  ['environment variables are read in the "vars" of the workflow', "env"],
  [GITHUB, "runs-on"],
];

/** Keys of YAML files, by the object that has them. */
const KEYS: Readonly<Record<string, Table>> = {
  "the workflow": [
    ['environment variables are read in "vars": NAME: "{{NAME}}"', "env"],
    [
      '"steps" is a key of a job: write jobs: and a list of jobs, or embed this in one: ' +
      "uses: embedded, with: { path }",
      "steps",
    ],
    [STEP_TIMEOUT, "timeout"],
    [AFTER_ALL, "teardown"],
    [GITHUB, "on"],
  ],
  "a job": JOB,
  "a job file": [
    ["the vars of a job file are given by the step that embeds it: with: { path, vars }", "vars"],
    ...JOB,
  ],
  "matrix": [
    ['the key is "parallel"', "max-parallel"],
  ],
  "a step": [
    [SKIPIF, "if"],
    [
      '"when" is a key of a job; the condition of a step is "skipif", which skips if it is true',
      "when",
    ],
    [GOES_ON, "continue_on_error continue-on-error"],
    ['the key is "uses"', "action"],
    ['the key is "timeout": timeout: 5m', "timeout-minutes"],
    ['the key is "retry", with "max_attempts" in it', "retries"],
    ['the key is "iteration", a list, a file or a loop', "loop"],
    ['the key is "test", an expression or a list of them', "assert expect"],
    ['the key is "outputs", with a name for each expression', "extract"],
    ['parameters of an action go under "with"', "url get headers body cmd"],
    [
      'this looks like a GitHub Actions workflow: a shell command is "uses: shell" with "cmd" ' +
      'under "with"',
      "run",
    ],
    [
      'environment variables are read in the "vars" of the workflow; those of a command ' +
      'are "env" under "with"',
      "env",
    ],
  ],
  "load": [
    ['the key is "users"', "vus"],
    ['the key is "for"', "duration"],
    ['the key is "expect"', "thresholds"],
  ],
  "a stage": [
    ['the key is "for"', "duration"],
    ['the key is "rate" or "users", with "ramp: true" to get there evenly', "target"],
  ],
  "repeat": [
    [
      "rounds at a rate are a load job: load: { rate: 20/s, count: 100 } in place of repeat",
      "rate",
    ],
    [
      "thresholds belong to a load job: load: { users: 1, count: 100, expect: stats.p95 < 0.5 } in " +
      "place of repeat",
      "expect",
    ],
  ],
  "iteration": [
    ['to run the step 3 times, write iteration: "{{1..3}}"', "count"],
  ],
  "retry": [
    ['the key is "max_attempts"; "for" limits the time of all attempts', "attempts"],
    ['the key is "interval", and "initial_delay" before the first attempt', "delay"],
  ],
  "the suite": [
    ['"jobs" is a key of a workflow: a suite lists workflow files', "jobs"],
  ],
};

/** What to write instead of a key; `what` has it, such as `a step`. */
export function hintForKey(what: string, key: string): string | undefined {
  return find(KEYS[what] ?? [], key);
}

/** The keys of other tools that `what` may have been given. */
export function otherKeys(what: string): readonly string[] {
  return (KEYS[what] ?? []).flatMap(([, words]) => words.split(" "));
}

/** Parameters of actions, the words for them, and an example. */
const PARAMETERS: readonly (readonly [name: string, words: string, example?: string])[] = [
  ["addr", "url"],
  ["dsn", "url", 'dsn: "postgres://user:password@host:5432/database"'],
  ["auth", "username password", "auth: { username: …, password: … }"],
  ["auth", "token", "auth: { bearer: … }"],
  ["tls", "insecure", "tls: { verify: false }"],
  ["query", "params"],
  ["metadata", "headers"],
  ["body", "data"],
  ["cmd", "command"],
  ["workdir", "cwd"],
  [
    "actions",
    "steps",
    'actions: [{ name: navigate, url: "https://…" }, { name: click, selector: "#save" }]',
  ],
];

/** What to write instead of a parameter of an action, which takes `names`. */
export function hintForParameter(names: readonly string[], word: string): string | undefined {
  const [name, , example] =
    PARAMETERS.find(([name, words]) => names.includes(name) && words.split(" ").includes(word)) ??
      [];
  if (name === undefined) return undefined;
  return `the key is "${name}"${example === undefined ? "" : `: ${example}`}`;
}

const ACTIONS: Table = [
  ["http", "request"],
  ["shell", "command run bash"],
  ["db", "sql postgres mysql"],
  ["echo", "log"],
  ["listen", "mock webhook"],
];

/** The action that other tools call `word`. */
export function actionMeantBy(word: string): string | undefined {
  return find(ACTIONS, word.toLowerCase());
}

/** What to write instead of an action of another tool. */
export function hintForAction(word: string): string | undefined {
  return find([
    ['a step waits before its action by the key "wait": wait: 5s', "sleep"],
    ["smtp sends mails, and imap reads them", "mail"],
    ['a step that only asserts is "uses: assert", with a "test"', "test"],
  ], word);
}

const TYPES: Table = [
  ["integer", "int"],
  ["number", "float"],
  ["list", "array"],
  ["map", "object"],
  ["nil", "null"],
];

/** The type that other tools call `word`. */
export function typeMeantBy(word: string): string | undefined {
  return find(TYPES, word.toLowerCase());
}

const FIELDS: Table = [
  ["code", "statusCode status_code exit_code"],
  ["body", "json"],
];

/** The field of a result that other tools call `word`. */
export function fieldMeantBy(word: string): string | undefined {
  return find(FIELDS, word);
}

const FUNCTIONS: Table = [
  ["use uuid()", "uuidv4"],
  ["use now(), or unixtime() for seconds", "timestamp"],
  ["use encode_base64(text)", "base64"],
  ["use sha256(text)", "hash"],
  ["use random_int(100)", "random"],
  ['write text matches "^a+$"', "match"],
  [
    'use json_path(value, "$..name"), or write the path itself: res.body.items[0].name',
    "jsonpath jmespath",
  ],
  [
    "expressions have no operators on bits: use shell",
    "bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr",
  ],
  ["write an operator: a == b, a != b, a < b, a <= b, a > b or a >= b", "eq"],
  [ENVIRONMENT, "env"],
  ["write value ?? fallback", "default"],
  ["use len(value)", "length"],
  ["use type(value)", "typeof"],
  ["write value != nil", "exists"],
  ["write text contains part, or item in list", "includes"],
  ["use upper(text)", "touppercase"],
  ["use lower(text)", "tolowercase"],
  ["use int(text), or float(text)", "parseint"],
  ["write the condition itself", "expect assert"],
];

/** What to write instead of a function. */
export function hintForFunction(word: string): string | undefined {
  return find(FUNCTIONS, word.toLowerCase());
}

/** The same for a misspelling of such a function. */
export function hintForMisspeltFunction(word: string): string | undefined {
  const meant = suggest(word, FUNCTIONS.flatMap(([, words]) => words.split(" ")));
  return meant === undefined ? undefined : find(FUNCTIONS, meant);
}

/** What to write instead of a method of JavaScript. */
export function hintForMethod(word: string): string | undefined {
  return find([
    ["write fromJSON(text)", "parse"],
    ["write toJSON(value)", "stringify"],
  ], word) ?? hintForFunction(word);
}

const NAMES: Table = [
  [ENVIRONMENT, "env"],
  [
    'secrets come from environment variables, by vars at the top: NAME: "{{NAME}}"',
    "secrets",
  ],
  ['it is in environment variables, read by vars at the top: SHA: "{{GITHUB_SHA}}"', "github"],
  ["outputs of earlier steps are in outputs", "steps"],
  ["the values of an entry are in vars", "iteration item row"],
  ["the result of the action is res", "response"],
  ["the request of the action is req", "request"],
  ["write res.body", "body"],
  ["write res.code", "code status_code"],
  ['write res.headers["Content-Type"]', "headers"],
  ["write nil", "undefined"],
];

/** What to write instead of a name in an expression that sees the names `known`. */
export function hintForName(word: string, known: readonly string[] = []): string | undefined {
  const result = ["message", "request"].find((name) => known.includes(name)) ?? "res";
  return find(NAMES, word)?.replace(/^write res\b/, `write ${result}`);
}

const OPTIONS: Table = [
  ["write --fail-fast", "bail"],
  ["write --jobs <count>", "parallel"],
  ["write --only <job>, which takes patterns", "grep"],
  ["write --tags 'smoke and not slow'", "tag"],
  [
    "write NAME=value before the command, --env-file <file>, or --var <name=value> for a var",
    "e env",
  ],
  [
    "write --report <format=path>, such as --report junit=junit.xml",
    "json junit out reporter",
  ],
  ["RUNNER_TIMEOUT=5m in the environment bounds a run", "timeout"],
  ["leave it out, and write a test: a failure of it prints the response", "and-run"],
];

/** What to do instead of giving an option this value. */
export function hintForValue(word: string): string | undefined {
  return find([
    ["scripts of k6 are not translated: runner help k6 shows what to write instead", "k6"],
    [
      "files of Step CI are not translated: runner help stepci shows what to write instead",
      "stepci",
    ],
  ], word);
}

/** What to write instead of an option, whose name is without hyphens at its start. */
export function hintForOption(name: string): string | undefined {
  const [, format] = /^report-(\w+)$/.exec(name) ?? [];
  return format === undefined ? find(OPTIONS, name) : `write --report ${format}=<path>`;
}

const COMMANDS: Table = [
  ["leave it out: runner FILE", "exec test"],
  ["write runner check FILE", "validate"],
  ["write runner --watch FILE", "watch"],
  ["write runner new --out FILE", "init"],
  ["write runner --version", "version"],
];

/** What to write instead of a command that is given a file. */
export function hintForCommand(name: string, file = "<file>"): string | undefined {
  return find(COMMANDS, name)?.replace("FILE", () => file);
}
