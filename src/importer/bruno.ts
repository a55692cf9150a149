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
import {
  dictsOf,
  type ImportFile,
  type ImportInput,
  linesOf,
  need,
  problemAt,
  readJson,
  readYamlFile,
} from "./input.ts";
import { type Dict, dictOf, isDict, type Value } from "../base/value/value.ts";
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

/** The blocks of a file by their names: `meta`, `body:json`. */
type Blocks = ReadonlyMap<string, Block>;

type TextPairs = readonly (readonly [key: string, value: string])[];

interface Block {
  /** The lines inside, without their indentation. */
  readonly lines: readonly string[];
  /** The pairs inside, if they are not written in lines. */
  readonly pairs?: TextPairs;
}

/** Reads the blocks of a file; one ends with its bracket at the beginning of a line. */
function readBlocks(file: ImportFile): Blocks {
  const blocks = new Map<string, Block>();
  let open: { name: string; end: string; at: number; lines: string[] } | undefined;
  for (const { text, offset } of linesOf(file)) {
    if (open) {
      if (text === open.end) {
        blocks.set(open.name, { lines: open.lines });
        open = undefined;
      } else open.lines.push(text.replace(/^ {2}/, ""));
    } else if (text.trim() !== "") {
      const [, name = "", mark = ""] = /^([\w:-]+)\s*([{[])\s*$/.exec(text) ?? [];
      if (name === "") {
        throw problemAt(file, offset, "expected a block", "blocks are written name { … }");
      }
      open = { name, end: mark === "{" ? "}" : "]", at: offset, lines: [] };
    }
  }
  if (open) throw problemAt(file, open.at, `the block "${open.name}" is not closed`);
  return blocks;
}

/** An annotation, or a pair, whose text may be in several lines between three quotes. */
const PAIR =
  /^[ \t]*(?:@\w+\((?:'''[^]*?'''|.*)\)|("[^"\n]*"|[^\s:@][^:\n]*?)[ \t]*:[ \t]*(?:'''\n([^]*?)'''[ \t]*(@contentType\(.*\))?|(.*)))[ \t]*$/gm;

/** The pairs of a block that are not disabled by `~`. */
function pairsOf(blocks: Blocks | undefined, name: string): TextPairs {
  const { lines = [], pairs } = blocks?.get(name) ?? {};
  return pairs ??
    [...lines.join("\n").matchAll(PAIR)].flatMap(([, key = "", text, type = "", value = ""]) => {
      if (key === "" || key.startsWith("~")) return [];
      const whole = text === undefined ? value : `${text.replace(/^ {2}/gm, "").trimEnd()} ${type}`;
      return [[key.replace(/^"|"$/g, ""), whole.trim()] as const];
    });
}

/** The blocks of a file, and of all files that a bundled one contains, by their names. */
function readOpenCollection(
  root: Dict,
  path: string,
): readonly (readonly [name: string, blocks: Blocks])[] {
  const name = root.opencollection === undefined ? path : "opencollection.yml";
  const folder = name.replace(/[^/]*$/, "");
  const inside = (one: Dict) => folder + textOf(dictOf(one.info).name).replaceAll("/", " ");
  return [
    [name, blocksOf(root)],
    ...listOf(root.items).flatMap((one) =>
      readOpenCollection(one, one.items ? `${inside(one)}/folder.yml` : `${inside(one)}.yml`)
    ),
    ...listOf(dictOf(root.config).environments).map((one) =>
      [`environments/${textOf(one.name)}.yml`, blocksOf(one)] as const
    ),
  ];
}

/** The blocks that a .bru file would have. */
function blocksOf(root: Dict): Blocks {
  const blocks = new Map<string, Block>();
  const add = (name: string, all: TextPairs) => blocks.set(name, { lines: [], pairs: all });
  const addText = (name: string, text: Value | undefined) =>
    blocks.set(name, { lines: textOf(text).split("\n"), pairs: [] });
  const kind = ["http", "graphql"].find((one) => isDict(root[one]));
  // Collections and folders have defaults for their requests.
  const request = dictOf(root[kind ?? "request"]);
  const runtime = { ...request, ...dictOf(root.runtime) };
  const auth = runtime.auth ?? "none";
  const mode = isDict(auth) ? textOf(auth.type) : textOf(auth);
  add("meta", pairs(root.info));
  add("settings", pairs(root.settings));
  add("headers", pairs(request.headers));
  add("params:path", pairs(listOf(request.params).filter(({ type }) => type === "path")));
  add("auth", [["mode", mode]]);
  if (isDict(auth)) add(`auth:${mode}`, pairs(auth));
  add("vars:pre-request", pairs(runtime.variables));
  const kept = listOf(runtime.actions).filter(({ phase }) => phase === "after-response");
  add(
    "vars:post-response",
    kept.map((one) => [textOf(dictOf(one.variable).name), textOf(dictOf(one.selector).expression)]),
  );
  add(
    "assert",
    listOf(runtime.assertions).map((one) => [
      textOf(one.expression),
      `${textOf(one.operator)} ${textOf(one.value)}`.trim(),
    ]),
  );
  for (const { type, code } of listOf(runtime.scripts)) {
    const isLate = type === "after-response";
    addText(type === "tests" ? type : `script:${isLate ? "post-response" : "pre-request"}`, code);
  }
  // An environment.
  add("vars", pairs(listOf(root.variables).filter(({ secret }) => secret !== true)));
  if (kind === undefined) return blocks;
  const body = dictOf(request.body);
  const type = kind === "graphql" ? kind : textOf(body.type) || "none";
  add("http", [
    ["method", textOf(request.method) || (kind === "graphql" ? "POST" : "GET")],
    ["url", textOf(request.url)],
    ["body", type],
    ["auth", mode],
  ]);
  if (type === "graphql") {
    addText("body:graphql", body.query);
    addText("body:graphql:vars", body.variables);
  } else if (Array.isArray(body.data)) {
    const parts = listOf(body.data).filter(({ selected }) => selected !== false);
    add(`body:${type}`, parts.map((part) => [textOf(part.name), partOf(part)]));
  } else addText(`body:${type}`, body.data);
  return blocks;
}

/** A field or part of a body as .bru files write it. */
function partOf({ type, value = "", filePath, contentType }: Dict): string {
  const files = filePath ?? (type === "file" ? value : undefined);
  const text = files === undefined
    ? textOf(value)
    : `@file(${[files].flat().map(textOf).join("|")})`;
  return contentType ? `${text} @contentType(${textOf(contentType)})` : text;
}

/** The entries of a list that are not disabled. */
function listOf(value: Value | undefined): readonly Dict[] {
  return dictsOf(value).filter((one) => one.disabled !== true);
}

/** Names and values, of a list or a map. */
function pairs(value: Value | undefined): TextPairs {
  return isDict(value)
    ? Object.entries(value).map(([name, one]) => [name, textOf(one)])
    : listOf(value).map(({ name, value }) => [textOf(name), textOf(value)]);
}

/** A text, which may have a type. */
function textOf(value: Value | undefined): string {
  return isDict(value) ? textOf(value.data) : String(value ?? "");
}
