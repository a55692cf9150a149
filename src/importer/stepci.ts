import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { Draft, DraftJob, DraftStep } from "../openapi/gen/draft.ts";
import { quoteText } from "../openapi/gen/templates.ts";
import {
  existenceOf,
  headerOf,
  joined,
  jsonPathOf,
  literal,
  nullOf,
  TYPE_TESTS,
} from "./expressions.ts";
import { Names } from "./import_names.ts";
import { dictOf, type ImportInput, need, readYamlFile, StructureError } from "./input.ts";
import { mapTexts, RequestDraft } from "./request_draft.ts";

/** `${{ env.name }}`, `${{ captures.name }}`, `${{ secrets.name }}` */
const TEMPLATE = /\$\{\{\s*(?:env|captures|secrets|variables)\.([^{}|]+?)\s*(?:\|[^{}]*)?\}\}/g;

const NO_STEPCI = "a workflow of Step CI has tests, each with steps";

/** Makes a workflow of a Step CI workflow: a job for each test. */
export function translateStepCi({ files: [file] }: ImportInput): Draft {
  const root = need("map", file!, readYamlFile(file!), [], NO_STEPCI);
  const tests = need("map", file!, root, ["tests"], NO_STEPCI);
  const names = new Names();
  const config = dictOf(root.config);
  const http = dictOf(config.http);
  const notes = [
    ...otherKeys(root, "version name env config tests before after").map((key) => `"${key}"`),
    ...otherKeys(config, "http continueOnFail").map((key) => `"config.${key}"`),
    ...otherKeys(http, "baseURL rejectUnauthorized").map((key) => `"config.http.${key}"`),
  ];
  const verifies = http.rejectUnauthorized !== false;
  const around = { base: String(http.baseURL ?? ""), verifies, names };
  const all = [
    ...root.before === undefined ? [] : [["before"]],
    ...Object.keys(tests).map((key) => ["tests", key]),
    ...root.after === undefined ? [] : [["after"]],
  ];
  const jobs: DraftJob[] = [];
  for (const path of all) {
    const test = need("map", file!, root, path);
    const inside = [...path, "steps"];
    const steps = need("list", file!, root, inside).map((_, index) => {
      const at = [...inside, index];
      const step = need("map", file!, root, at);
      if (step.http !== undefined) {
        need("map", file!, root, [...at, "http"]);
        need("string", file!, root, [...at, "http", "url"]);
      }
      return step;
    });
    for (const [name, value] of Object.entries({ ...dictOf(root.env), ...dictOf(test.env) })) {
      const text = typeof value === "string" ? value.replace(TEMPLATE, "{{$1}}") : value;
      names.defineFromHere(name, text);
    }
    if (steps.length === 0) continue;
    jobs.push({
      name: String(test.name ?? path.at(-1)),
      steps: steps.map((step) => stepOf(step, around)),
      keys: config.continueOnFail === true ? {} : { on_failure: "stop" },
      notes: otherKeys(test, "name env steps").map((key) => `"${key}" of the test`),
    });
  }
  if (jobs.length === 0) throw new StructureError(file!, ["tests"], "no test has steps");
  const title = String(root.name ?? "Step CI");
  return { name: title, vars: names.vars, jobs, isSequence: true, notes };
}

/** The unknown keys of a map. */
function otherKeys(map: Dict, known: string): string[] {
  return Object.keys(map).filter((key) => !known.split(" ").includes(key));
}

interface Around {
  readonly base: string;
  readonly verifies: boolean;
  readonly names: Names;
}

/** The templates of a step that are more than the name of a variable. */
function otherTemplates(step: Dict): string[] {
  const simple = new RegExp(`^${TEMPLATE.source}$`);
  return [...new Set(JSON.stringify(step).match(/\$\{\{.*?\}\}/g))]
    .filter((one) => one.includes("|") || !simple.test(one)).map((one) => `the template ${one}`);
}

function stepOf(step: Dict, { base, verifies, names }: Around): DraftStep {
  const name = String(step.name ?? step.id ?? "step");
  const { http } = step;
  if (!isDict(http)) return stepOfOtherKind(step, name);
  const request = new RequestDraft(names, (text) => names.template(text, TEMPLATE));
  const { template, headers, params, keys, notes } = request;
  notes.push(...otherTemplates(step));
  if (step.if !== undefined) notes.push(`"if: ${step.if}": see skipif`);
  if (isDict(step.retries)) {
    const { count = 0, interval = "1s" } = step.retries;
    keys.retry = { max_attempts: (Number(count) || 0) + 1, interval: delayOf(interval) };
  }
  for (const key of otherKeys(step, "id name http if retries")) notes.push(`"${key}" of the step`);
  const url = String(http.url ?? "");
  request.name = template(name);
  request.url = template(/^(?:https?:|\$\{\{)/.test(url) || base === "" ? url : base + url);
  for (const [header, value] of Object.entries(dictOf(http.headers))) {
    headers.push([header, template(String(value))]);
  }
  if (!verifies) params.tls = { verify: false };
  for (const [key, value] of Object.entries(http)) setKey(request, key, value);
  request.method = request.body.graphql === undefined ? String(http.method ?? "GET") : "POST";
  request.type = null;
  addTests(request, dictOf(http.check));
  for (const [capture, where] of Object.entries(dictOf(http.captures))) {
    const expression = isDict(where) ? captureOf(where) : undefined;
    if (expression !== undefined) request.capture(capture, expression);
    else notes.push(`the capture "${capture}": ${JSON.stringify(where)}`);
  }
  return request.step(name);
}

function stepOfOtherKind(step: Dict, name: string): DraftStep {
  const notes = otherTemplates(step);
  const [kind = "nothing"] = otherKeys(step, "name id if");
  if (kind === "delay") {
    const wait = delayOf(step.delay ?? 0);
    return { data: { name, uses: "hello", wait, test: "status == 0" }, notes };
  }
  notes.push(`the step "${name}": its kind is ${kind}, see "runner actions"`);
  return { data: { name, uses: "hello" }, notes };
}

function setKey(request: RequestDraft, key: string, value: Value): void {
  const { template, params } = request;
  const data = (value: Value) => mapTexts(value, template);
  switch (key) {
    case "params":
      params.query = data(value);
      break;
    case "json":
    case "form":
    case "formData":
    case "graphql":
      request.body = { [key === "formData" ? "multipart" : key]: data(value) };
      break;
    case "body":
      request.body = isDict(value) && typeof value.file === "string"
        ? { file: value.file }
        : { body: data(value) };
      break;
    case "auth": {
      const { basic, bearer } = dictOf(value);
      if (isDict(basic)) params.auth = { basic: data(basic) };
      else if (isDict(bearer)) params.auth = { bearer: data(bearer.token ?? "") };
      else {
        const kinds = Object.keys(dictOf(value)).join(", ");
        request.notes.push(`the sign-in ${kinds}: see auth of http`);
      }
      break;
    }
    case "cookies":
      request.headers.push([
        "Cookie",
        Object.entries(dictOf(value)).map(([name, one]) => `${name}=${template(String(one))}`)
          .join("; "),
      ]);
      break;
    case "followRedirects":
      if (value === false) params.follow_redirects = false;
      break;
    case "timeout":
      params.timeout = delayOf(value);
      break;
    default:
      if (!["url", "method", "headers", "check", "captures"].includes(key)) {
        request.notes.push(`"${key}" of the request`);
      }
  }
}

function delayOf(delay: Value): Value {
  return typeof delay === "number" ? `${delay}ms` : delay;
}

function captureOf(where: Dict): string | undefined {
  const { jsonpath, header, cookie, regex, selector, body } = where;
  if (jsonpath !== undefined) return jsonPathOf(String(jsonpath));
  if (header !== undefined) return headerOf(String(header));
  if (cookie !== undefined) return cookieOf(String(cookie));
  if (regex !== undefined) {
    return `capture(res.rawbody ?? res.body, ${quoteText(String(regex))})[1]`;
  }
  if (selector !== undefined) return selectorOf(String(selector));
  return body === true ? "res.body" : undefined;
}

function selectorOf(selector: string): string {
  return `first(css(res.body, ${quoteText(selector)}))`;
}

function cookieOf(name: string): string {
  return `find(res.cookies, .name == ${quoteText(name)})?.value`;
}

/** The checks of named parts of a response. */
const NAMED: Readonly<Record<string, (name: string) => string>> = {
  headers: headerOf,
  jsonpath: (path) => jsonPathOf(path),
  cookies: cookieOf,
  selectors: selectorOf,
  selector: selectorOf,
};

function addTests({ names, tests, notes }: RequestDraft, check: Dict): void {
  const add = (actual: string, expected: Value, what: string) => {
    for (const one of matchersOf(actual, expected, names)) {
      if (one === undefined) notes.push(`the check of ${what}: ${JSON.stringify(expected)}`);
      else tests.push(one);
    }
  };
  for (const [key, expected] of Object.entries(check)) {
    const subject = NAMED[key];
    for (const [name, one] of subject && isDict(expected) ? Object.entries(expected) : []) {
      add(subject!(name), one, `${key} ${name}`);
    }
    if (subject) continue;
    switch (key) {
      case "status":
        add("res.code", expected, "status");
        break;
      case "json":
        tests.push(`res.body == ${valueOf(expected, names)}`);
        break;
      case "body":
        add("(res.rawbody ?? res.body)", expected, "the body");
        break;
      case "redirected":
        tests.push(expected === false ? "len(res.redirects) == 0" : "len(res.redirects) > 0");
        break;
      case "performance":
        for (const [what, limit] of Object.entries(dictOf(expected))) {
          if (what === "total") add("rt.sec * 1000", limit, "performance");
          else notes.push(`the check of performance ${what}: ${JSON.stringify(limit)}`);
        }
        break;
      default:
        notes.push(`the check "${key}"`);
    }
  }
}

const OPERATORS: Readonly<Record<string, string>> = {
  eq: "==",
  ne: "!=",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
  in: "in",
};

const TYPES: Readonly<Record<string, (value: string) => string>> = {
  isNumber: TYPE_TESTS.number,
  isString: TYPE_TESTS.string,
  isBoolean: TYPE_TESTS.boolean,
  isArray: TYPE_TESTS.array,
  isObject: TYPE_TESTS.object,
};

/** The tests of a value, which may be a list of matchers: `[{ eq: 1 }, { isNumber: true }]`. */
function matchersOf(actual: string, expected: Value, names: Names): (string | undefined)[] {
  const isMatchers = Array.isArray(expected) && expected.length > 0 &&
    expected.every((one) => isDict(one) && Object.keys(one).length === 1);
  if (!isMatchers) return [`${equality(actual, expected, names)}`];
  return (expected as readonly Dict[]).map((one) => {
    const [[name, value] = ["", null]] = Object.entries(one);
    if (OPERATORS[name] !== undefined) {
      return `${actual} ${OPERATORS[name]} ${valueOf(value, names)}`;
    }
    const test = TYPES[name]?.(actual);
    if (test !== undefined) return value === false ? `not (${test})` : test;
    switch (name) {
      case "nin":
        return `not (${actual} in ${valueOf(value, names)})`;
      case "match":
        return `${actual} matches ${quoteText(String(value))}`;
      case "isNull":
        return value === false ? `${actual} != nil` : nullOf(actual);
      case "isDefined":
        return value === false ? `not (${existenceOf(actual)})` : existenceOf(actual);
      default:
        return undefined;
    }
  });
}

/** A text between slashes is a pattern. */
function equality(actual: string, expected: Value, names: Names): string {
  if (expected === null) return nullOf(actual);
  const pattern = typeof expected === "string" ? /^\/(.*)\/([a-z]*)$/s.exec(expected) : null;
  if (!pattern) return `${actual} == ${valueOf(expected, names)}`;
  const text = actual === "res.code" ? "string(res.code)" : actual;
  const flags = pattern[2]!.replace(/[^ims]/g, "");
  return `${text} matches ${quoteText((flags === "" ? "" : `(?${flags})`) + pattern[1]!)}`;
}

function valueOf(value: Value, names: Names): string {
  return literal(value, (text) => {
    const lone = new RegExp(`^(?:${TEMPLATE.source})$`).exec(text);
    return lone ? names.read(lone[1]!) : joined(text.split(TEMPLATE), names);
  });
}
