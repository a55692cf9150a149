import {
  absenceOf,
  containsOf,
  existenceOf,
  headerOf,
  keyOf,
  nullOf,
  scriptLiteral,
  truthOf,
  withoutMaps,
} from "./expressions.ts";
import type { Names } from "./import_names.ts";
import { statements } from "./script_statements.ts";

/** The translation of a script of another tool. */
export interface TranslatedScript {
  readonly tests: string[];
  /** Expressions by the names under which they are read. */
  readonly outputs: Record<string, string>;
  /** Lines that could not be translated. */
  readonly notes: string[];
}

/** Names of the response in scripts, by the objects of each tool. */
const RESPONSE: readonly (readonly [pattern: RegExp, expression: string])[] = [
  [
    /^(?:pm\.response\.code|res\.(?:status|getStatus\(\))|response\.status|responseCode\.code)$/,
    "res.code",
  ],
  [/^response\.contentType\.mimeType$/, "split(res.headers['Content-Type'], ';')[0]"],
  [/^(?:pm\.response\.responseTime|res\.(?:responseTime|getResponseTime\(\)))$/, "rt.sec * 1000"],
  [/^(?:pm\.response\.text\(\)|responseBody)$/, "(res.rawbody ?? res.body)"],
  [
    /^(?:pm\.response\.json\(\)|res\.(?:body|getBody\(\))|response\.body|JSON\.parse\(responseBody\))/,
    "res.body",
  ],
];

/** Statements that say nothing about the response. */
const IDLE = /^(?:\}?\s*catch\s*(?:\(\w*\))?\s*\{\s*\}?|var \w+|let \w+)$/;

const EQUALITY = /^(?:be\.)?(?:deep\.)?(?:equals?|eq|eqls?)$/;

/** The forms of matchers after `expect(…).to` and the like, with the equivalent test. */
const MATCHERS: readonly (readonly [
  pattern: RegExp,
  test: (actual: string, expected: string) => string,
])[] = [
  [EQUALITY, (a, b) => `${a} == ${b}`],
  [/^(?:include|includes|contain|contains)$/, containsOf],
  [/^be\.(?:above|greaterThan|gt)$/, (a, b) => `${a} > ${b}`],
  [/^be\.(?:below|lessThan|lt)$/, (a, b) => `${a} < ${b}`],
  [/^be\.(?:at\.least|gte)$/, (a, b) => `${a} >= ${b}`],
  [/^be\.(?:at\.most|lte)$/, (a, b) => `${a} <= ${b}`],
  [/^be\.oneOf$/, (a, b) => `${a} in ${b}`],
  [/^have\.(?:lengthOf|length)$/, (a, b) => `len(${a}) == ${b}`],
  [/^have\.status$/, (_, b) => `res.code == ${b}`],
];

/** A variable of the tool as the expected value. */
const GETTER =
  /^(?:pm\.(?:environment|collectionVariables|globals|variables)\.get|bru\.get(?:Env|GlobalEnv)?Var|client\.global\.get)\(\s*["'`]([^"'`]+)["'`]\s*\)$/;

const TYPES: Readonly<Record<string, string>> = {
  string: 'type(X) == "string"',
  array: 'type(X) == "array"',
  object: 'type(X) == "map"',
  boolean: 'type(X) == "bool"',
  number: 'type(X) in ["int", "float"]',
};

/**
 * Translates the assertions of Chai and what keeps values, as scripts of Postman and Bruno have
 * them: line by line, since scripts are programs.
 */
export function translateScript(
  lines: readonly string[],
  setter: RegExp,
  names: Names,
): TranslatedScript {
  const done: TranslatedScript = { tests: [], outputs: {}, notes: [] };
  /** Names that a script has given to parts of the response. */
  const aliases = new Map<string, string>();
  for (const line of statements(lines)) {
    if (IDLE.test(line)) continue;
    const declared = /^(?:(?:const|let|var)\s+)?(\w+)\s*=(?!=)\s*(.+)$/s.exec(line);
    if (declared) {
      const [, name = "", text = ""] = declared;
      const condition = conditionOf(text, aliases);
      const value = valueOf(text.replace(/\s*\|\|\s*(?:\{\}|\[\])$/, ""), aliases) ??
        (condition && `(${condition})`);
      if (value === undefined) {
        done.notes.push(`the script: ${line}`);
        aliases.delete(name);
      } else aliases.set(name, value);
      continue;
    }
    const taken = /^(?:const|let|var)\s*\{([\w\s,]+)\}\s*=\s*(.+)$/s.exec(line);
    const whole = taken && valueOf(taken[2]!, aliases);
    if (taken && whole !== undefined && whole !== null) {
      for (const name of taken[1]!.split(",").map((word) => word.trim())) {
        if (name !== "") aliases.set(name, `${whole}.${name}`);
      }
      continue;
    }
    const kept = setter.exec(line);
    const value = kept && (valueOf(kept[2]!, aliases) ?? scriptLiteral(kept[2]!));
    if (kept && value !== undefined && value !== null) {
      done.outputs[names.captureAnew(kept[1]!)] = value;
      continue;
    }
    const test = testOf(line, aliases, names);
    if (test === undefined) done.notes.push(`the script: ${line}`);
    else done.tests.push(withoutMaps(test).replace(/^\((res\.[^()]*)\)$/, "$1"));
  }
  return done;
}

/** The expression of a part of the response; undefined for anything else. */
function valueOf(text: string, aliases: ReadonlyMap<string, string>): string | undefined {
  const trimmed = text.trim();
  const header =
    /^(?:pm\.response\.headers\.get|res\.getHeader|response\.headers\.valueOf)\(\s*["'`]([^"'`]+)["'`]\s*\)$/
      .exec(trimmed);
  if (header) return headerOf(header[1]!);
  for (const [pattern, expression] of RESPONSE) {
    const match = pattern.exec(trimmed);
    if (match) return withPath(expression, trimmed.slice(match[0].length));
  }
  const [, name = "", rest = ""] = /^(\w+)(.*)$/s.exec(trimmed) ?? [];
  const alias = aliases.get(name);
  return alias === undefined ? undefined : withPath(alias, rest);
}

/** An expression followed by keys, if nothing else follows. */
function withPath(expression: string, path: string): string | undefined {
  if (path.trim() === "") return expression;
  if (/^\.length$/.test(path)) return `len(${expression})`;
  const length = /^(.*)\.length$/s.exec(path);
  if (length) {
    const inner = withPath(expression, length[1]!);
    return inner === undefined ? undefined : `len(${inner})`;
  }
  if (!/^(?:\??\.[A-Za-z_]\w*|\[\d+\]|\[(["'])[^"']*\1\])*$/.test(path)) return undefined;
  return expression + path.replace(/\[(["'])(.*?)\1\]/g, (_, _quote, name) => keyOf(name));
}

function testOf(
  line: string,
  aliases: ReadonlyMap<string, string>,
  names: Names,
): string | undefined {
  const status = /^pm\.response\.to\.(?:have\.status\((\d+)\)|be\.(ok|success))$/.exec(line);
  if (status) return status[1] ? `res.code == ${status[1]}` : "res.code < 300";
  const reason = /^pm\.response\.to\.have\.status\((["'`]\w.*)\)$/.exec(line);
  const phrase = reason ? scriptLiteral(reason[1]!) : undefined;
  if (phrase !== undefined) return `res.status endsWith ${phrase}`;
  if (line === "pm.response.to.be.json") return `${headerOf("content-type")} contains 'json'`;
  const header = /^pm\.response\.to\.have\.header\(\s*(["'`])(.+?)\1\s*(?:,\s*(.+?)\s*)?\)$/.exec(
    line,
  );
  if (header) {
    const expected = header[3] === undefined ? undefined : scriptLiteral(header[3]);
    return `${headerOf(header[2]!)} ${expected === undefined ? "!= nil" : `== ${expected}`}`;
  }
  const old = /^tests\[.*?\]\s*=\s*(.+)$/s.exec(line);
  if (old) return conditionOf(old[1]!, aliases) ?? aliases.get(old[1]!.trim());
  const asserted = /^client\.assert\(\s*(.+?)\s*(?:,\s*(["'`])(?:(?!\2)[^\\]|\\.)*\2\s*)?\)$/s
    .exec(line);
  if (asserted) {
    const value = valueOf(asserted[1]!, aliases);
    return value === undefined ? conditionOf(asserted[1]!, aliases) : truthOf(value);
  }
  const [, subject = "", not, words = "", , argument] =
    /^(?:pm\.)?expect\((.+?)\)\.(?:to\.)?(not\.)?(?:to\.)?([\w.]+)(\((.*)\))?$/s.exec(line) ?? [];
  if (subject === "") return undefined;
  const actual = valueOf(subject, aliases);
  if (actual === undefined) return undefined;
  const test = matcherOf(actual, words, argument, names);
  if (test === undefined || !not) return test;
  const [, constant = EQUALITY.test(words) ? argument?.trim() : undefined] =
    /^be\.(null|undefined)$/.exec(words) ?? [];
  if (constant === "null") return `${actual} != nil`;
  if (constant === "undefined") return existenceOf(actual);
  // Chai refuses to look into nothing, also where it looks for what must not be there.
  return actual !== "res.body" && /^(?:include|contain|have\.property)/.test(words)
    ? `${actual} != nil && not (${test})`
    : `not (${test})`;
}

/** A condition as old scripts of Postman have it: `responseCode.code === 200`. */
function conditionOf(
  given: string,
  aliases: ReadonlyMap<string, string>,
): string | undefined {
  const text = given.trim().replace(/^\((.*)\)$/s, "$1");
  const parts = text.split("&&");
  if (parts.length > 1) {
    const all = parts.map((part) => valueOf(part, aliases) ?? conditionOf(part, aliases));
    if (all.includes(undefined)) return undefined;
    return parts.map((part, index) =>
      valueOf(part, aliases) === undefined ? all[index]! : truthOf(all[index]!)
    ).join(" && ");
  }
  const compared = /^(.+?)\s*(===?|!==?|[<>]=?)\s*(.+)$/s.exec(text);
  if (compared) {
    const [, left = "", operator = "", right = ""] = compared;
    const [actual, expected] = [valueOf(left, aliases), scriptLiteral(right)];
    if (actual === undefined || expected === undefined) return undefined;
    return `${actual} ${operator.replace(/^([=!]=)=$/, "$1")} ${expected}`;
  }
  const [, key = "", owner = ""] = /^(.+?)\s+in\s+(.+)$/s.exec(text) ?? [];
  const [inner, name] = [valueOf(owner, aliases), scriptLiteral(key)];
  if (inner !== undefined && name !== undefined && /^["']/.test(name)) {
    return existenceOf(inner + keyOf(name.slice(1, -1)));
  }
  const [, subject = "", method = "", argument = ""] =
    /^(.+?)\.(has|includes|hasOwnProperty)\(\s*(.+?)\s*\)$/s.exec(text) ?? [];
  const [, type = "", typed = ""] =
    /^(Array\.isArray|Number\.isInteger|Boolean)\((.+)\)$/s.exec(text) ?? [];
  const actual = valueOf(subject || typed, aliases);
  if (actual === undefined) return undefined;
  if (type !== "") {
    return {
      "Array.isArray": `type(${actual}) == "array"`,
      "Number.isInteger": `type(${actual}) == "int"`,
    }[type];
  }
  const expected = scriptLiteral(argument);
  if (expected === undefined || method === "hasOwnProperty" && !/^["']/.test(expected)) {
    return undefined;
  }
  if (method !== "hasOwnProperty") return containsOf(actual, expected);
  return existenceOf(actual + keyOf(expected.slice(1, -1)));
}

function matcherOf(
  actual: string,
  words: string,
  argument: string | undefined,
  names: Names,
): string | undefined {
  const [, variable] = GETTER.exec(argument?.trim() ?? "") ?? [];
  const expected = variable !== undefined
    ? names.read(variable)
    : argument === undefined
    ? undefined
    : scriptLiteral(argument);
  const type = /^be\.an?$/.test(words) && expected !== undefined
    ? TYPES[expected.slice(1, -1)]
    : undefined;
  if (type !== undefined) return type.replace("X", actual);
  if (/^have\.property$/.test(words) && argument !== undefined) {
    const [name, value] = argument.split(/,(.*)/s).map(scriptLiteral);
    if (name === undefined || !name.startsWith("'")) return undefined;
    const property = actual + keyOf(name.slice(1, -1));
    return value === undefined && !argument.includes(",")
      ? existenceOf(property)
      : value && `${property} == ${value}`;
  }
  if (argument === undefined) {
    return {
      "be.true": `${actual} == true`,
      "be.false": `${actual} == false`,
      "be.null": nullOf(actual),
      "be.undefined": absenceOf(actual),
      exist: `${actual} != nil`,
      "be.ok": truthOf(actual),
      "be.empty": `len(${actual}) == 0`,
    }[words];
  }
  if (expected === undefined) return undefined;
  if (expected === "nil" && EQUALITY.test(words)) {
    return argument.trim() === "null" ? nullOf(actual) : absenceOf(actual);
  }
  return MATCHERS.find(([pattern]) => pattern.test(words))?.[1](actual, expected);
}
