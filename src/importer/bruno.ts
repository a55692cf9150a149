import type { Dict, Value } from "../value/value.ts";
import type { Draft, DraftJob, DraftStep, ImportFile, ImportInput } from "./draft.ts";
import { containsOf, headerOf, scriptLiteral } from "./expressions.ts";
import { bodyOf, httpStep, idOf, isNoUrl } from "./http_step.ts";
import { Names } from "./names.ts";
import { need, problemAt, readJson } from "./problem.ts";
import { translateScript } from "./script_tests.ts";
import { LoadError } from "../source/errors.ts";

/** The blocks of a file by their names: `meta`, `body:json`. */
type Blocks = ReadonlyMap<string, Block>;

interface Block {
  /** The lines inside, without their indentation. */
  readonly lines: readonly string[];
}

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace", "connect"];

/** Makes a workflow of a Bruno collection: a job for each of its directories. */
export function translateBruno({ files }: ImportInput): Draft {
  const settings = files.find(({ name }) => name === "bruno.json");
  const requests: { readonly folder: string; readonly seq: number; readonly blocks: Blocks }[] = [];
  const names = new Names();
  const notes: string[] = [];
  const folders = new Map<string, Blocks>();
  const environments = files.filter(({ name }) => /(?:^|\/)environments\/[^/]+\.bru$/.test(name));
  for (const file of files.filter(({ name }) => name.endsWith(".bru"))) {
    const blocks = readBlocks(file);
    const [, folder = "", name = ""] = /^(?:(.*)\/)?([^/]+)$/.exec(file.name) ?? [];
    if (environments.includes(file)) {
      if (file !== environments[0]) {
        notes.push(`the environment ${name}: only the first becomes vars`);
      } else for (const [key, value] of pairsOf(blocks, "vars")) names.define(key, value);
    } else if (name === "collection.bru" || name === "folder.bru") folders.set(folder, blocks);
    else {
      const meta = new Map(pairsOf(blocks, "meta"));
      const isHttp = /^(?:http|graphql)$/.test(meta.get("type") ?? "http");
      if (isHttp && !METHODS.some((method) => blocks.has(method))) {
        throw problemAt(
          file,
          0,
          "the request is missing",
          `it is a block such as get { url: … }: ${METHODS.join(", ")}`,
        );
      }
      const seq = Number(meta.get("seq") ?? 0);
      requests.push({ folder, seq, blocks });
    }
  }
  for (const [, blocks] of folders) {
    for (const [key, value] of pairsOf(blocks, "vars:pre-request")) names.define(key, value);
  }
  if (requests.length === 0) {
    throw new LoadError(
      "the directory has no requests of Bruno",
      [],
      "it has files that end in .bru",
    );
  }
  const byFolder = Map.groupBy(requests.toSorted((a, b) => a.seq - b.seq), ({ folder }) => folder);
  const title = titleOf(settings);
  const jobs = [...byFolder].toSorted(([a], [b]) => a < b ? -1 : 1).map((
    [folder, all],
  ): DraftJob => ({
    name: folder === "" ? title : folder,
    steps: all.flatMap(({ blocks }) => {
      if (isNoUrl(requestOf(blocks).request.get("url") ?? "")) {
        const name = new Map(pairsOf(blocks, "meta")).get("name") ?? "";
        notes.push(`the request "${name}": it has no URL`);
        return [];
      }
      const around = folder === "" ? [folders.get("")] : [folders.get(""), folders.get(folder)];
      return [stepOf(blocks, around, names)];
    }),
  })).filter(({ steps }) => steps.length > 0);
  return { name: title, vars: names.vars, jobs, isSequence: true, notes };
}

function titleOf(settings: ImportFile | undefined): string {
  if (!settings) return "Bruno";
  const { name } = need("map", settings, readJson(settings) as Value, []);
  return typeof name === "string" ? name : "Bruno";
}

/** Reads the blocks of a file; one ends with its bracket at the beginning of a line. */
function readBlocks(file: ImportFile): Blocks {
  const blocks = new Map<string, Block>();
  let offset = 0;
  let open: { name: string; end: string; at: number; lines: string[] } | undefined;
  for (const raw of file.text.split("\n")) {
    const text = raw.replace(/\r$/, "");
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
    offset += raw.length + 1;
  }
  if (open) throw problemAt(file, open.at, `the block "${open.name}" is not closed`);
  return blocks;
}

/** The pairs of a block but those that are switched off by `~`. */
function pairsOf(
  blocks: Blocks | undefined,
  name: string,
): (readonly [key: string, value: string])[] {
  return (blocks?.get(name)?.lines ?? []).flatMap((line) => {
    const [, key = "", value = ""] = /^\s*("[^"]*"|[^:\s][^:]*?)\s*:\s*(.*)$/.exec(line) ?? [];
    return key === "" || key.startsWith("~")
      ? []
      : [[key.replace(/^"|"$/g, ""), value.trim()] as const];
  });
}

function requestOf(blocks: Blocks) {
  const method = METHODS.find((one) => blocks.has(one)) ?? "get";
  return { method, request: new Map(pairsOf(blocks, method)) };
}

function stepOf(blocks: Blocks, around: readonly (Blocks | undefined)[], names: Names): DraftStep {
  const notes: string[] = [];
  const template = (text: string) => names.template(text);
  const meta = new Map(pairsOf(blocks, "meta"));
  const { method, request } = requestOf(blocks);
  const name = meta.get("name") ?? "request";
  if (meta.get("type") === "grpc") notes.push("the request: its type is grpc, see the action grpc");
  for (const [key, value] of pairsOf(blocks, "vars:pre-request")) names.define(key, value);
  let url = request.get("url") ?? "";
  for (const [key, value] of pairsOf(blocks, "params:path")) {
    url = url.replace(new RegExp(`/:${key}(?=[/?]|$)`), `/${value}`);
  }
  const headers = [...around, blocks].flatMap((one) => pairsOf(one, "headers"))
    .map(([key, value]) => [key, template(value)] as const);
  const more: Record<string, Value> = {};
  const kind = request.get("auth") ?? "inherit";
  const own = kind === "inherit" ? around.findLast((one) => authKind(one) !== undefined) : blocks;
  authOf(kind === "inherit" ? authKind(own) : kind, own, template, more, headers, notes);
  // Before what the response gives new values to.
  const address = template(/^(?:https?:\/\/|\{\{)/.test(url) ? url : `http://${url}`);
  const body = bodyOfBlocks(request.get("body") ?? "none", blocks, template, notes);
  const title = template(name);
  const { tests, outputs } = assertionsOf(blocks, names, notes);
  const script = translateScript(
    ["script:post-response", "tests"].flatMap((one) => blocks.get(one)?.lines ?? []),
    /^bru\.set(?:Env)?Var\(\s*["'`]([^"'`]+)["'`]\s*,\s*(.+?)\s*\)$/s,
    names,
  );
  const before = blocks.get("script:pre-request")?.lines.filter((line) => line.trim() !== "") ?? [];
  if (before.length > 0) notes.push(`the script before the request: ${before.join(" ").trim()}`);
  const all = { ...outputs, ...script.outputs };
  return httpStep({
    name: title,
    method,
    url: address,
    headers,
    body,
    more,
    tests: [...tests, ...script.tests],
    outputs: all,
    ...idOf(all, name),
    notes: [...notes, ...script.notes],
  });
}

function authKind(blocks: Blocks | undefined): string | undefined {
  return new Map(pairsOf(blocks, "auth")).get("mode");
}

function authOf(
  kind: string | undefined,
  blocks: Blocks | undefined,
  template: (text: string) => string,
  more: Record<string, Value>,
  headers: (readonly [name: string, value: string])[],
  notes: string[],
): void {
  if (kind === undefined || kind === "none" || kind === "inherit") return;
  const fields = new Map(pairsOf(blocks, `auth:${kind}`));
  const field = (name: string) => template(fields.get(name) ?? "");
  if (kind === "bearer") more.auth = { bearer: field("token") };
  else if (kind === "basic" || kind === "digest") {
    more.auth = { [kind]: { username: field("username"), password: field("password") } };
  } else if (kind === "apikey" && fields.get("placement") === "queryparams") {
    more.query = { [field("key")]: field("value") };
  } else if (kind === "apikey") headers.push([field("key"), field("value")]);
  else notes.push(`the sign-in "${kind}": see the parameter auth of http`);
}

function bodyOfBlocks(
  kind: string,
  blocks: Blocks,
  template: (text: string) => string,
  notes: string[],
): Dict {
  const text = (name: string) => (blocks.get(name)?.lines ?? []).join("\n").trim();
  const map = (name: string) =>
    Object.fromEntries(pairsOf(blocks, name).map(([key, value]) => [key, template(value)]));
  switch (kind) {
    case "none":
      return {};
    case "json":
      return bodyOf(text("body:json") || text("body"), "application/json", template);
    case "text":
    case "xml":
    case "sparql":
      return bodyOf(text(`body:${kind}`), "text/plain", template);
    case "formUrlEncoded":
    case "form-urlencoded":
      return { form: map("body:form-urlencoded") };
    case "multipartForm":
    case "multipart-form":
      return {
        multipart: Object.fromEntries(
          pairsOf(blocks, "body:multipart-form").map(([key, value]) => {
            const file = /^@file\(([^|)]*)/.exec(value);
            return [key, file ? { file: file[1]! } : template(value)];
          }),
        ),
      };
    case "graphql": {
      const variables = bodyOf(text("body:graphql:vars"), undefined, template).json;
      return {
        graphql: {
          query: template(text("body:graphql")),
          ...variables === undefined ? {} : { variables },
        },
      };
    }
    default:
      notes.push(`the body: its kind "${kind}" is not known`);
      return {};
  }
}

/** Operators of the block `assert`, in our words. */
const OPERATORS: Readonly<Record<string, (actual: string, expected: string) => string>> = {
  eq: (a, b) => `${a} == ${b}`,
  neq: (a, b) => `${a} != ${b}`,
  gt: (a, b) => `${a} > ${b}`,
  gte: (a, b) => `${a} >= ${b}`,
  lt: (a, b) => `${a} < ${b}`,
  lte: (a, b) => `${a} <= ${b}`,
  contains: containsOf,
  notContains: (a, b) => `${a} != nil && not (${containsOf(a, b)})`,
  startsWith: (a, b) => `${a} startsWith ${b}`,
  endsWith: (a, b) => `${a} endsWith ${b}`,
  matches: (a, b) => `${a} matches ${b}`,
  in: (a, b) => `${a} in [${b}]`,
  length: (a, b) => `len(${a}) == ${b}`,
  isDefined: (a) => `${a} != nil`,
  isNull: (a) => `${a} == nil`,
  isUndefined: (a) => `${a} == nil`,
  isEmpty: (a) => `len(${a}) == 0`,
  isTruthy: (a) => `${a} == true`,
  isFalsy: (a) => `${a} == false`,
  isString: (a) => `type(${a}) == "string"`,
  isNumber: (a) => `type(${a}) in ["int", "float"]`,
  isBoolean: (a) => `type(${a}) == "bool"`,
  isArray: (a) => `type(${a}) == "array"`,
  isJson: (a) => `type(${a}) in ["map", "array"]`,
};

function assertionsOf(
  blocks: Blocks,
  names: Names,
  notes: string[],
): { readonly tests: readonly string[]; readonly outputs: Readonly<Record<string, string>> } {
  const tests: string[] = [];
  for (const [subject, condition] of pairsOf(blocks, "assert")) {
    const [, word = "", value = ""] = /^(\w+)\s*(.*)$/s.exec(condition) ?? [];
    const [operator, rest] = OPERATORS[word] ? [word, value] : ["eq", condition];
    const actual = expressionOf(subject);
    const expected = operandOf(rest, operator, names);
    if (actual === undefined || expected === undefined) {
      notes.push(`the assertion ${subject}: ${condition}`);
    } else tests.push(OPERATORS[operator]!(actual, expected));
  }
  const outputs: Record<string, string> = {};
  for (const [name, value] of pairsOf(blocks, "vars:post-response")) {
    const expression = expressionOf(value);
    if (expression === undefined) notes.push(`the variable ${name}: ${value}`);
    else outputs[names.captureAnew(name)] = expression;
  }
  return { tests, outputs };
}

function operandOf(text: string, operator: string, names: Names): string | undefined {
  const variable = /^\{\{([^{}]+)\}\}$/.exec(text);
  if (variable) return names.read(variable[1]!.trim());
  if (operator === "in") {
    return text.split(",").map((one) => operandOf(one.trim(), "eq", names)).join(", ");
  }
  return scriptLiteral(text) ?? scriptLiteral(JSON.stringify(text));
}

/** `res.body.id`, `res("items[0].id")` and `res.headers.location` as expressions of ours. */
function expressionOf(text: string): string | undefined {
  const query = /^res\(\s*["'](.+)["']\s*\)$/.exec(text);
  const path = query ? `res.body.${query[1]}` : text;
  if (path === "res.status") return "res.code";
  if (path === "res.responseTime") return "rt.sec * 1000";
  const header = /^res\.headers(?:\.([\w-]+)|\[["']([^"']+)["']\])$/.exec(path);
  if (header) return headerOf(header[1] ?? header[2]!);
  return /^res\.body(?:\.[A-Za-z_]\w*|\[\d+\])*$/.test(path)
    ? path
    : /^res\.body(?:\.[A-Za-z_]\w*|\[\d+\])*\.length$/.test(path)
    ? `len(${path.replace(/\.length$/, "")})`
    : undefined;
}
