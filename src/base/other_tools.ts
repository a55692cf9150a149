/**
 * The words of other tools (GitHub Actions, Probe, Hurl, runn, Step CI, Venom, k6, Postman,
 * Playwright, JavaScript, jq …) that people write by habit, and what to write instead.
 *
 * @module
 */
import { suggest } from "./text/suggest.ts";

/** Hints, each with the words that lead to it. */
type Table = readonly (readonly [hint: string, words: string])[];

function find(table: Table, word: string): string | undefined {
  return table.find(([, words]) => words.split(" ").includes(word))?.[0];
}

function wordsOf(table: Table): string[] {
  return table.flatMap(([, words]) => words.split(" "));
}

const ENVIRONMENT = "read the environment in vars at the top of the workflow, as in {{HOME}}";
const GITHUB = "this looks like a GitHub Actions workflow, which runner does not run";
const SKIPIF = 'the key is "skipif", which skips if it is true';
const AFTER_ALL = 'the key is "finally", a list of steps that always run';
const GOES_ON = 'the key is "allow_failure"; other steps and independent jobs continue after a ' +
  "failure anyway";
const STEP_TIMEOUT = '"timeout" is a key of a step; RUNNER_TIMEOUT limits the whole run';
const TIMES = 'to run the step 3 times, write iteration: "{{1..3}}"';

const JOB: Table = [
  [`${SKIPIF}; "when: always" and "when: failure" run a job after failures`, "if"],
  [STEP_TIMEOUT, "timeout-minutes"],
  [GOES_ON, "continue_on_error continue-on-error"],
  [AFTER_ALL, "teardown cleanup"],
  ['the key is "matrix", with a list for each name: matrix: { env: [staging, prod] }', "strategy"],
  ['the key is "needs"', "depends_on"],
  ['the key is "lock", with a name that jobs share', "mutex concurrency resource_group"],
  ['"vars" is a key of the workflow and of a step', "vars"],
  ['environment variables are read in the "vars" of the workflow', "env"],
  ['"uses" is a key of a step: write steps: and a list of steps', "uses"],
  ['"with" is a key of a step: is it indented deep enough?', "with"],
  ['"test" is a key of a step: is it indented deep enough?', "test"],
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
    [AFTER_ALL, "teardown cleanup"],
    [
      "files are joined by commas: runner a.yml,b.yml; put a job into its own file and run it with uses: embedded",
      "include",
    ],
    ['secrets come from environment variables, by "vars": NAME: "{{NAME}}"', "secrets"],
    [GITHUB, "on permissions concurrency"],
  ],
  "a job": JOB,
  "a job file": [
    ["the vars of a job file are given by the step that embeds it: with: { path, vars }", "vars"],
    ["a job file is one job, with its steps at the top", "jobs"],
    ...JOB,
  ],
  "matrix": [
    ['the key is "parallel"', "max-parallel max_parallel"],
    ['the key is "fail_fast"', "fail-fast failfast"],
  ],
  "a step": [
    [SKIPIF, "if"],
    [
      '"when" is a key of a job; the condition of a step is "skipif", which skips if it is true',
      "when",
    ],
    ['the key is "uses"', "action"],
    [GOES_ON, "continue_on_error continue-on-error"],
    ['the key is "timeout": timeout: 5m', "timeout-minutes"],
    ['the key is "retry", with "max_attempts" in it', "retries"],
    ['the key is "iteration", a list, a file or a loop', "loop foreach"],
    ['"matrix" is a key of "iteration": iteration: { matrix: … }', "matrix"],
    ['the key is "test", an expression or a list of them', "assert asserts expect check"],
    ['the key is "outputs", with a name for each expression', "extract capture captures"],
    ['parameters of an action go under "with"', "url method get post headers body cmd"],
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
    ['"needs" is a key of a job; steps run one after the other', "needs"],
  ],
  "load": [
    ['the key is "users"', "vus concurrency"],
    ['the key is "rate"', "rps arrivalRate"],
    ['the key is "for"', "duration"],
    ['the key is "count"', "iterations"],
    ['the key is "stages"', "phases scenarios"],
    ['the key is "expect"', "thresholds"],
  ],
  "a stage": [
    ['the key is "for"', "duration"],
    ['the key is "rate" or "users", with "ramp: true" to get there evenly', "target rampTo"],
  ],
  "repeat": [
    ['the key is "count"', "times"],
    ['the key is "interval"', "every delay"],
    ['the key is "async"', "parallel"],
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
    [TIMES, "count times"],
    ['the key is "until", which ends the loop if it is true', "while"],
  ],
  "retry": [
    ['the key is "max_attempts"; "for" limits the time of all attempts', "attempts count times"],
    ['the key is "interval", and "initial_delay" before the first attempt', "delay"],
    ['"for" limits all attempts together, and "timeout" of the step each of them', "timeout"],
  ],
  "the suite": [
    ['"jobs" is a key of a workflow: a suite lists workflow files', "jobs"],
    ['the key is "workflows"', "files tests include"],
    ['variables of files come by "env_file"; "vars" read them: NAME: "{{NAME}}"', "env"],
    ['the key is "workers"', "parallel"],
  ],
};

/** What to write instead of a key; `what` has it, such as `a step`. */
export function hintForKey(what: string, key: string): string | undefined {
  return find(KEYS[what] ?? [], key);
}

/** The keys of other tools that `what` may have been given. */
export function otherKeys(what: string): readonly string[] {
  return wordsOf(KEYS[what] ?? []);
}

/** Parameters of actions, the words for them, and an example. */
const PARAMETERS: readonly (readonly [name: string, words: string, example?: string])[] = [
  ["addr", "url host port address server target"],
  ["host", "url addr address hostname server"],
  ["dsn", "url host database", 'dsn: "postgres://user:password@host:5432/database"'],
  ["username", "user"],
  ["password", "pass"],
  ["auth", "username user password", "auth: { username: …, password: … }"],
  ["auth", "bearer token authorization", "auth: { bearer: … }"],
  ["tls", "insecure verify verify_ssl ignoreHTTPSErrors", "tls: { verify: false }"],
  ["tls", "cacert ca_file", "tls: { ca: ca.pem }"],
  ["tls", "ssl secure"],
  ["query", "params sql statement"],
  ["headers", "header"],
  ["metadata", "headers"],
  ["form", "data payload formData"],
  ["file", "upload body_file"],
  ["save", "output download"],
  ["body", "data payload message request text content"],
  ["send", "data body message messages"],
  ["expect", "contains receive"],
  ["cmd", "command run script"],
  ["command", "cmd query"],
  ["workdir", "cwd dir working-directory working_directory"],
  ["env", "environment"],
  ["service", "rpc call", "service: demo.v1.Users, method: GetUser"],
  [
    "actions",
    "action steps url selector",
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
  ["http", "request curl api rest graphql fetch"],
  ["shell", "command cmd exec run bash sh script"],
  ["db", "sql database postgres postgresql mysql mariadb sqlite"],
  ["browser", "playwright puppeteer selenium chrome chromium"],
  ["tls", "certificate cert ssl"],
  ["echo", "print log"],
  ["embedded", "include call workflow job"],
];

/** The action that other tools call `word`. */
export function actionMeantBy(word: string): string | undefined {
  return find(ACTIONS, word.toLowerCase());
}

/** What to write instead of an action of another tool. */
export function hintForAction(word: string): string | undefined {
  return find([
    ['a step waits before its action by the key "wait": wait: 5s', "sleep wait delay pause"],
    ["smtp sends mails, and imap reads them", "mail email"],
    ['a step that only asserts is "uses: assert", with a "test"', "test expect check"],
  ], word);
}

const TYPES: Table = [
  ["string", "str text"],
  ["integer", "int"],
  ["number", "float double"],
  ["list", "array"],
  ["map", "object json dict"],
  ["nil", "null"],
];

/** The type that other tools call `word`. */
export function typeMeantBy(word: string): string | undefined {
  return find(TYPES, word.toLowerCase());
}

const FIELDS: Table = [
  ["code", "statusCode status_code exit_code exitCode"],
  ["body", "json content"],
  ["rawbody", "text"],
];

/** The field of a result that other tools call `word`. */
export function fieldMeantBy(word: string): string | undefined {
  return find(FIELDS, word);
}

const FUNCTIONS: Table = [
  ["use uuid()", "uuidv4 guid random_uuid"],
  ["use now(), or unixtime() for seconds", "timestamp iso8601 epoch"],
  ["use format_date(time, layout, zone)", "strftime format_time dateformat date_format format"],
  ["use date(text, layout)", "strptime parse_date"],
  ["use jwt(token), or jwt_verify(token, key)", "jwt_decode decode_jwt parse_jwt verify_jwt"],
  ["use encode_base64(text)", "base64 base64encode btoa"],
  ["use decode_base64(text)", "base64decode atob"],
  ["use encode_url(text)", "urlencode encodeuricomponent"],
  ["use decode_url(text)", "urldecode decodeuricomponent"],
  ["use sha256(text)", "digest hash"],
  ["use hmac_sha256(key, text), hmac_sha1(…) or hmac_sha512(…)", "hmac"],
  ["use totp(secret)", "otp otpauth"],
  ["use pick(map, keys)", "select_keys"],
  ["use omit(map, keys)", "without except del"],
  ["use merge(map, other)", "assign combine deepmerge"],
  ["use random_int(100)", "random rand randint"],
  ["use capture(text, pattern)", "regex_match exec extract scan"],
  ['write text matches "^a+$"', "match regex test"],
  ["use css(text, selector)", "queryselector queryselectorall"],
  [
    'use json_path(value, "$..name"), or write the path itself: res.body.items[0].name',
    "jsonpath jmespath jq",
  ],
  [
    "expressions have no operators on bits: use shell",
    "bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr",
  ],
  ["write an operator: a + b, a - b, a * b, a / b or a % b", "add sub mul div mod"],
  [
    "write an operator: a == b, a != b, a < b, a <= b, a > b or a >= b",
    "eq ne lt lte gt gte equals deepequal",
  ],
  ["write a ** b", "pow sqrt"],
  ["write 1..9", "range"],
  [ENVIRONMENT, "env getenv"],
  ["write value ?? fallback", "default coalesce"],
  ["write if test { a } else { b }, or test ? a : b", "if"],
  ["use len(value)", "length size"],
  ["use type(value)", "typeof"],
  ["use read_text(path), or sha256_file(path) for its hash", "file readfile open"],
  [
    'write type(value) == "string", or another type: nil, bool, int, float, array, map',
    "isstring isnumber isboolean isinteger isarray isobject isnan is_string is_integer",
  ],
  ["write value == nil", "isnull is_null"],
  ["write value != nil", "exists defined isdefined"],
  ["write text[0:3], or list[0:3]", "substring substr slice"],
  ["write text contains part, or item in list", "includes"],
  ['write "key" in map', "has"],
  ["use any(list, # > 1)", "some"],
  ["use all(list, # > 1)", "every"],
  ["use toPairs(map)", "to_entries"],
  ["use upper(text)", "touppercase ascii_upcase"],
  ["use lower(text)", "tolowercase ascii_downcase"],
  ["use replace(text, old, new)", "gsub replaceall"],
  ["use string(value)", "tostring str"],
  ["use int(text), or float(text)", "number parseint parsefloat tonumber"],
  ['use schema(value, "file.json")', "validate jsonschema json_schema tv4 ajv"],
  ["use includes_json(value, part)", "tomatchobject objectcontaining match_object"],
  ["write wait: 1s at the step", "sleep"],
  ["write the condition itself", "check expect assert"],
];

/** What to write instead of a function. */
export function hintForFunction(word: string): string | undefined {
  return find(FUNCTIONS, word.toLowerCase());
}

/** The same for a misspelling of such a function. */
export function hintForMisspeltFunction(word: string): string | undefined {
  const meant = suggest(word, wordsOf(FUNCTIONS));
  return meant === undefined ? undefined : find(FUNCTIONS, meant);
}

/** Methods: those of times in Go, which other tools have in expressions, and of JavaScript. */
const METHODS: Table = [
  ["write format_date(value, layout)", "Format"],
  ["write date_parts(value).unix", "Unix getTime"],
  ["write date_parts(value).year, or another part", "Year Month Day Hour Minute Second Weekday"],
  ['write value + duration("1h")', "Add"],
  ["write value - other", "Sub"],
  ["times are such texts already", "toISOString"],
  ["write fromJSON(text)", "parse"],
  ["write toJSON(value)", "stringify"],
];

/** What to write instead of a method of another language. */
export function hintForMethod(word: string): string | undefined {
  return find(METHODS, word) ?? hintForFunction(word);
}

const NAMES: Table = [
  [ENVIRONMENT, "env"],
  [
    'secrets come from environment variables, by vars at the top: NAME: "{{NAME}}"',
    "secrets",
  ],
  ['it is in environment variables, read by vars at the top: SHA: "{{GITHUB_SHA}}"', "github"],
  ["outputs of earlier steps are in outputs", "jobs steps"],
  ["the result of the action is res", "response"],
  ["the request of the action is req", "request"],
  ["write res.body", "body"],
  ["the body of a response is res.body", "$"],
  ["write res.code", "code statusCode status_code"],
  ['write res.headers["Content-Type"]', "headers"],
  ["write res.cookies", "cookies"],
  ["the seconds that the action took are rt.sec", "duration elapsed"],
  ["write nil", "undefined None"],
  ["write true", "True yes on"],
  ["write false", "False no off"],
];

/** What to write instead of a name in an expression. */
export function hintForName(word: string): string | undefined {
  return find(NAMES, word);
}

/** The same for a misspelling of such a name. */
export function hintForMisspeltName(word: string): string | undefined {
  // Of short names too many are alike.
  const meant = suggest(word, wordsOf(NAMES).filter((name) => name.length > 5));
  return meant === undefined ? undefined : find(NAMES, meant);
}

const OPTIONS: Table = [
  ["write --fail-fast", "bail exitfirst stop-on-failure"],
  ["write --jobs <count>", "concurrency j max-parallel parallel threads workers"],
  ["write --only <job>, which takes patterns", "filter grep include job"],
  ["write --skip <job>", "exclude ignore"],
  ["write --tags 'smoke and not slow'", "tag label group"],
  ["write --dry-run", "dry noop preview"],
  ["write retry: { max_attempts: 3 } in the step", "retries retry"],
  [
    "write NAME=value before the command, --env-file <file>, or --var <name=value> for a var",
    "e env environment",
  ],
  ["write --var <name=value>", "param set variable variables"],
  ["write --quiet", "silent"],
  ["write --verbose", "debug trace"],
  [
    "write --report <format=path>, such as --report junit=junit.xml",
    "format html json junit out reporter reporters",
  ],
  ["RUNNER_TIMEOUT=5m in the environment bounds a run", "max-time timeout"],
  ["leave it out, and write a test: a failure of it prints the response", "and-run"],
];

const VALUES: Table = [
  ["scripts of k6 are not translated: runner help k6 shows what to write instead", "k6"],
  ["files of Step CI are not translated: runner help stepci shows what to write instead", "stepci"],
];

/** What to do instead of giving an option this value. */
export function hintForValue(word: string): string | undefined {
  return find(VALUES, word);
}

/** What to write instead of an option, whose name is without hyphens at its start. */
export function hintForOption(name: string): string | undefined {
  const [, format] = /^report-(\w+)$/.exec(name) ?? [];
  return format === undefined ? find(OPTIONS, name) : `write --report ${format}=<path>`;
}

const COMMANDS: Table = [
  ["leave it out: runner FILE", "exec start test"],
  ["write runner check FILE", "lint validate verify"],
  ["write runner --list FILE", "list ls"],
  ["write runner --watch FILE", "watch"],
  ["write runner dag FILE", "graph"],
  ["write runner --dry-run FILE", "plan dry-run"],
  ["write runner new --out FILE", "init create scaffold"],
  ["write runner new FILE", "import convert"],
  ["write runner gen FILE", "generate"],
  ["write runner fmt FILE", "format"],
  ["write runner --version", "version"],
];

/** What to write instead of a command that is given a file. */
export function hintForCommand(name: string, file = "<file>"): string | undefined {
  return find(COMMANDS, name)?.replace("FILE", () => file);
}
