import {
  type Data,
  type Draft,
  type DraftJob,
  type DraftStep,
  quoteText,
  type Text,
} from "../draft/draft.ts";
import {
  absenceOf,
  comparisonOf,
  containsOf,
  existenceOf,
  headerOf,
  joined,
  keyOf,
  nullOf,
  TYPE_TESTS,
  withoutMaps,
} from "./expressions.ts";
import {
  isNoUrl,
  putParameters,
  RequestDraft,
  withoutComments,
  withScheme,
} from "../draft/request_draft.ts";
import { Names, putVariables } from "../draft/names.ts";
import { type Blocks, pairsOf, readBlocks, readOpenCollection } from "./bruno_blocks.ts";
import { type ImportInput, need, problemAt, readJson, readYamlFile } from "./input.ts";
import { onlyTests, translateBefore, translateScripts } from "./script_tests.ts";
import { LoadError } from "../base/errors.ts";

/** The blocks of requests, by their methods; `http` names another one. */
const METHOD = /^(?:get|post|put|patch|delete|head|options|trace|connect|http)$/;

/** Makes a workflow of a Bruno collection, as .bru or OpenCollection: a job for each directory. */
export async function translateBruno({ files }: ImportInput): Promise<Draft> {
  const settings = files.find(({ name }) => name === "bruno.json");
  const isYaml = files.some(({ name }) => /(?:^|\/)opencollection\.ya?ml$/.test(name)) ||
    !files.some(({ name }) => name.endsWith(".bru"));
  const requests: { readonly folder: string; readonly seq: number; readonly blocks: Blocks }[] = [];
  let environment: Blocks | undefined;
  const names = new Names();
  const notes: string[] = [];
  const folders = new Map<string, Blocks>();
  for (const file of files.filter(({ name }) => (isYaml ? /\.ya?ml$/ : /\.bru$/).test(name))) {
    const read = isYaml
      ? readOpenCollection(need("map", file, await readYamlFile(file), []), file.name)
      : [[file.name, readBlocks(file)] as const];
    for (const [path, blocks] of read) {
      const [, folder = "", name = ""] = /^(?:(.*)\/)?([^/]+)$/.exec(path) ?? [];
      if (/(?:^|\/)environments$/.test(folder)) {
        if (environment) notes.push(`the environment ${name}: only the first becomes vars`);
        environment ??= blocks;
      } else if (/^(?:collection\.bru|opencollection\.yml|folder\.(?:bru|ya?ml))$/.test(name)) {
        folders.set(folder, blocks);
      } else if (requestOf(blocks)) {
        requests.push({ folder, seq: Number(metaOf(blocks).get("seq") ?? 0), blocks });
      } else if (isYaml || !/^(?:http|graphql)$/.test(metaOf(blocks).get("type") ?? "http")) {
        notes.push(`the file ${path}: it has no request of HTTP`);
      } else {
        throw problemAt(file, 0, "the request is missing", "it is a block such as get { url: … }");
      }
    }
  }
  const shared = new Map(
    [...folders].map(([folder, blocks]) => [folder, testsOf(blocks, folder, notes)] as const),
  );
  if (requests.length === 0) {
    throw new LoadError(
      "the directory has no requests of Bruno",
      [],
      "a collection is a directory with opencollection.yml, or with files that end in .bru",
    );
  }
  const byFolder = Map.groupBy(requests.toSorted((a, b) => a.seq - b.seq), ({ folder }) => folder);
  const config = settings ? need("map", settings, readJson(settings), []) : {};
  const title = String(config.name ?? metaOf(folders.get("")).get("name") ?? "Bruno");
  const key = (folder: string) => orderKey(folder, folders);
  const inOrder = [...byFolder].toSorted(([a], [b]) => key(a) < key(b) ? -1 : 1);
  const jobs = inOrder.map(([folder, all]): DraftJob => ({
    name: folder === "" ? title : folder,
    steps: all.flatMap(({ blocks }) => {
      if (isNoUrl(requestOf(blocks)?.get("url") ?? "")) {
        notes.push(`the request "${metaOf(blocks).get("name") ?? ""}": it has no URL`);
        return [];
      }
      const paths = pathsTo(folder);
      const around = paths.map((path) => folders.get(path));
      const [collection, ...inner] = around;
      const variables = new Map(
        [collection, environment, ...inner, blocks].flatMap((one) =>
          pairsOf(one, one === environment ? "vars" : "vars:pre-request")
        ),
      );
      for (const [key, value] of variables) {
        names.defineFromHere(key, putVariables(value, variables));
      }
      return [stepOf(blocks, around, paths.flatMap((path) => shared.get(path) ?? []), names)];
    }),
  })).filter(({ steps }) => steps.length > 0);
  if (jobs.length === 0) throw new LoadError("no request of the directory has a URL");
  const all = [...notes, ...names.notes];
  return { name: title, vars: names.vars, jobs, isSequence: true, notes: all };
}

/** The directories around the requests of one, from the collection on: `""`, `"a"`, `"a/b"`. */
function pathsTo(folder: string): string[] {
  if (folder === "") return [""];
  const names = folder.split("/");
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
}

/** A text by which directories are sorted as Bruno runs them: before the requests beside them. */
function orderKey(folder: string, folders: ReadonlyMap<string, Blocks>): string {
  const keys = pathsTo(folder).slice(1).map((path) => {
    const seq = metaOf(folders.get(path)).get("seq") ?? "99999";
    return `${seq.padStart(5, "0")} ${path.split("/").at(-1)}`;
  });
  return [...keys, "\uffff"].join("/");
}

/** The lines of tests that a directory gives to all requests in it, if all can be translated. */
function testsOf(blocks: Blocks, folder: string, notes: string[]): readonly string[] {
  const lines: string[] = [];
  const where = folder === "" ? "the collection" : `the directory "${folder}"`;
  for (const name of ["script:pre-request", "script:post-response", "tests"]) {
    const script = filledLines(blocks, name);
    if (script.length === 0) continue;
    const isLate = name !== "script:pre-request";
    if (isLate && onlyTests(script.join("\n"))) lines.push(script.join("\n"));
    else notes.push(`the block ${name} of ${where}: ${script.join(" ").trim()}`);
  }
  for (const [name, value] of pairsOf(blocks, "vars:post-response")) {
    notes.push(`the variable ${name} of ${where}: ${value}`);
  }
  noteOthers(blocks, new Map(), notes);
  return lines;
}

function metaOf(blocks: Blocks | undefined): ReadonlyMap<string, string> {
  return new Map(pairsOf(blocks, "meta"));
}

function requestOf(blocks: Blocks): ReadonlyMap<string, string> | undefined {
  const method = [...blocks.keys()].find((name) => METHOD.test(name));
  return method === undefined
    ? undefined
    : new Map([["method", method], ...pairsOf(blocks, method)]);
}

function filledLines(blocks: Blocks, name: string): string[] {
  return blocks.get(name)?.lines.filter((line) => line.trim() !== "") ?? [];
}

function stepOf(
  blocks: Blocks,
  around: readonly (Blocks | undefined)[],
  sharedTests: readonly string[],
  names: Names,
): DraftStep {
  const request = new RequestDraft(names);
  const { template, notes } = request;
  const settings = requestOf(blocks)!;
  const before = filledLines(blocks, "script:pre-request");
  if (!translateBefore(before.join("\n"), names)) {
    notes.push(`the script before the request: ${before.join(" ").trim()}`);
  }
  const name = metaOf(blocks).get("name") ?? "request";
  request.method = settings.get("method")!;
  noteOthers(blocks, settings, notes);
  const values = new Map(pairsOf(blocks, "params:path"));
  const url = putParameters(withScheme(settings.get("url") ?? "", names), values);
  // A header of a request replaces that of its folder.
  const inherited = new Map([...around, blocks].flatMap((one) => pairsOf(one, "headers")));
  for (const [key, value] of inherited) request.headers.push([key, template(value)]);
  const modeOf = (one: Blocks | undefined) => new Map(pairsOf(one, "auth")).get("mode") ?? "none";
  const isInherited = settings.get("auth") === "inherit";
  const owner = isInherited
    ? around.findLast((one) => !/^(?:inherit|none)$/.test(modeOf(one)))
    : blocks;
  const auth = isInherited ? modeOf(owner) : settings.get("auth") ?? "none";
  const credentials = new Map(pairsOf(owner, `auth:${auth}`));
  request.setAuth(auth, (field) => credentials.get(field) ?? "");
  // Before what the response gives new values to.
  request.url = template(url);
  setBody(request, settings.get("body") ?? "none", blocks);
  setSettings(request, blocks);
  request.name = template(name);
  addAssertions(request, blocks);
  const scripts = ["script:post-response", "tests"].map((one) =>
    blocks.get(one)?.lines.join("\n") ?? ""
  );
  translateScripts([...sharedTests, ...scripts], request);
  return request.step(name);
}

/** The blocks that are translated, or that only describe a request. */
const BLOCKS =
  /^(?:meta|headers|auth(?::.*)?|body(?::.*)?|params:(?:path|query)|vars(?::.*)?|assert|script:(?:pre-request|post-response)|tests|settings|docs|examples?)$/;

function noteOthers(blocks: Blocks, settings: ReadonlyMap<string, string>, notes: string[]): void {
  for (const name of blocks.keys()) {
    if (!BLOCKS.test(name) && !METHOD.test(name)) {
      notes.push(`the block "${name}": ${filledLines(blocks, name).join(" ").trim()}`);
    }
  }
  for (const [key, value] of settings) {
    if (!/^(?:method|url|body|auth|params)$/.test(key)) {
      notes.push(`"${key}" of the request: ${value}`);
    }
  }
}

function setSettings({ params, notes }: RequestDraft, blocks: Blocks): void {
  for (const [name, value] of pairsOf(blocks, "settings")) {
    if (value === "inherit") continue;
    if (name === "followRedirects") params.follow_redirects = value !== "false";
    else if (name === "maxRedirects") params.max_redirects = Number(value) || 0;
    else if (name === "timeout" && /^[1-9]\d*$/.test(value)) params.timeout = `${value}ms`;
    else if (!["encodeUrl", "timeout"].includes(name) && value !== "true") {
      notes.push(`the setting ${name}: ${value}`);
    }
  }
}

/** The content types that Bruno gives texts. */
const TYPES: Readonly<Record<string, string>> = {
  text: "text/plain",
  xml: "application/xml",
  sparql: "application/sparql-query",
};

function setBody(request: RequestDraft, kind: string, blocks: Blocks): void {
  const { template } = request;
  const textOf = (name: string) => (blocks.get(name)?.lines ?? []).join("\n").trim();
  const text = textOf(`body:${kind}`);
  switch (kind) {
    case "none":
      return;
    case "json":
      request.type = "application/json";
      return request.setText(withoutComments(text || textOf("body")), request.type);
    case "text":
    case "xml":
    case "sparql":
      request.type = TYPES[kind];
      return request.setText(text, "text/plain");
    case "formUrlEncoded":
    case "form-urlencoded": {
      const pairs = pairsOf(blocks, "body:form-urlencoded");
      request.body = { form: pairs.map(([key, value]) => [template(key), template(value)]) };
      return;
    }
    case "multipartForm":
    case "multipart-form":
      request.body = {
        multipart: pairsOf(blocks, "body:multipart-form").flatMap(([key, value]) =>
          partsOf(value, template).map((part) => [template(key), part])
        ),
      };
      return;
    case "file": {
      const [part = ""] = pairsOf(blocks, "body:file").flatMap(([, value]) =>
        partsOf(value, template)
      );
      const { file = "", type = "application/octet-stream" } = part as Record<string, Text>;
      if (file === "") {
        request.notes.push("the body: the collection does not name its file");
        return;
      }
      request.body = { file };
      request.type = type;
      return;
    }
    case "graphql":
      return request.setGraphql(text, withoutComments(textOf("body:graphql:vars")));
    default:
      request.notes.push(`the body: its kind "${kind}" is not known`);
  }
}

/** The parts of a multipart body that a value is: a text, or files in `@file(a.txt|b.txt)`. */
function partsOf(value: string, template: (text: string) => Text): Data[] {
  const [, type] = /@contentType\(([^)]*)\)\s*$/.exec(value) ?? [];
  const media: Readonly<Record<string, Text>> = type === undefined ? {} : { type: template(type) };
  const text = value.replace(/\s*@contentType\([^)]*\)\s*$/, "");
  const [, files] = /^@file\(([^)]*)\)$/.exec(text) ?? [];
  if (files !== undefined) {
    return files.split("|").map((file) => ({ file: template(file), ...media }));
  }
  return [type === undefined ? template(text) : { value: template(text), ...media }];
}

/** The tests for the operators of the block `assert`. */
const OPERATORS: Readonly<Record<string, (actual: string, expected: string) => string>> = {
  eq: (a, b) => comparisonOf(a, "==", b),
  neq: (a, b) => comparisonOf(a, "!=", b),
  gt: (a, b) => `${a} > ${b}`,
  gte: (a, b) => `${a} >= ${b}`,
  lt: (a, b) => `${a} < ${b}`,
  lte: (a, b) => `${a} <= ${b}`,
  contains: containsOf,
  notContains: (a, b) => `${a} != nil && not (${containsOf(a, b)})`,
  startsWith: (a, b) => `${a} startsWith ${b}`,
  endsWith: (a, b) => `${a} endsWith ${b}`,
  matches: (a, b) => `${a} matches ${b}`,
  notMatches: (a, b) => `not (${a} matches ${b})`,
  in: (a, b) => `${a} in [${b}]`,
  notIn: (a, b) => `not (${a} in [${b}])`,
  between: (a, b) => `${a} >= ${b.split(", ")[0]} && ${a} <= ${b.split(", ")[1]}`,
  length: (a, b) => `len(${a}) == ${b}`,
  isDefined: existenceOf,
  isNull: nullOf,
  isUndefined: absenceOf,
  isEmpty: (a) => `len(${a}) == 0`,
  isNotEmpty: (a) => `len(${a}) > 0`,
  isTruthy: (a) => `${a} == true`,
  isFalsy: (a) => `${a} == false`,
  isString: TYPE_TESTS.string,
  isNumber: TYPE_TESTS.number,
  isBoolean: TYPE_TESTS.boolean,
  isArray: TYPE_TESTS.array,
  isJson: TYPE_TESTS.object,
};

/** The two kinds of nothing that JavaScript has. */
const NOTHING: Readonly<Record<string, string>> = {
  "eq null": "isNull",
  "eq undefined": "isUndefined",
  "neq undefined": "isDefined",
};

/** Adds the tests of a request and the values that it keeps. */
function addAssertions(request: RequestDraft, blocks: Blocks): void {
  const { names, notes } = request;
  for (const [subject, text] of pairsOf(blocks, "assert")) {
    const condition = NOTHING[text] ?? text;
    const [, word = "", value = ""] = /^(\w+)\s*(.*)$/s.exec(condition) ?? [];
    const [operator, rest] = OPERATORS[word] ? [word, value] : ["eq", condition];
    const actual = expressionOf(subject);
    const expected = operandOf(rest, operator, names);
    if (actual === undefined || expected === undefined) {
      notes.push(`the assertion ${subject}: ${condition}`);
    } else request.tests.push(withoutMaps(OPERATORS[operator]!(actual, expected)));
  }
  for (const [name, value] of pairsOf(blocks, "vars:post-response")) {
    const expression = expressionOf(value);
    if (expression === undefined) notes.push(`the variable ${name}: ${value}`);
    else request.capture(name, expression);
  }
}

function operandOf(text: string, operator: string, names: Names): string | undefined {
  const variable = /^\{\{([^{}]+)\}\}$/.exec(text);
  if (variable) return names.read(variable[1]!.trim());
  if (["in", "notIn", "between"].includes(operator)) {
    return text.replace(/^\[(.*)\]$/, "$1").split(",")
      .map((one) => operandOf(one.trim(), "eq", names)).join(", ");
  }
  const isPattern = /atches$/.test(operator);
  const plain = text.replace(isPattern ? /^(\/)(.*)\/$/s : /^(["'])(.*)\1$/s, "$2");
  const parts = plain.split(/\{\{\s*([^{}]+?)\s*\}\}/);
  if (parts.length > 1) return joined(parts, names);
  if (/^(?:null|undefined)$/.test(text)) return "nil";
  const isLiteral = /^(?:true|false|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text);
  return isLiteral && !isPattern ? text : quoteText(plain);
}

/** The expression for `res.body.id`, `res("items[0].id")` or `res.headers.location`. */
function expressionOf(text: string): string | undefined {
  const query = /^res\(\s*["'](.+)["']\s*\)$/.exec(text);
  const path = query ? `res.body.${query[1]}` : text;
  if (path === "res.status") return "res.code";
  if (path === "res.responseTime") return "rt.sec * 1000";
  const header = /^res\.headers(?:\.([\w-]+)|\[["']([^"']+)["']\])$/.exec(path);
  if (header) return headerOf(header[1] ?? header[2]!);
  const keys = path.replace(/\[(["'])([^"'\\]*)\1\]/g, (_, _quote, name) => keyOf(name));
  const [, value, length] = /^(res\.body(?:\.[A-Za-z_]\w*?|\[\d+\]|\['[^']*'\])*?)(\.length)?$/
    .exec(keys) ?? [];
  return value === undefined ? undefined : length ? `len(${value})` : value;
}
