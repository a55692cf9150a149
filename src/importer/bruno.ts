import { type Dict, isDict, type Value } from "../value/value.ts";
import type { Draft, DraftJob, DraftStep, ImportFile, ImportInput } from "./draft.ts";
import { type Blocks, pairsOf, readBlocks } from "./bruno_blocks.ts";
import { assertionsOf } from "./bruno_assertions.ts";
import { bodyOf, graphqlOf, httpStep, idOf, isNoUrl, withoutComments } from "./http_step.ts";
import { blocksOf } from "./opencollection.ts";
import { Names } from "./import_names.ts";
import { need, problemAt, readJson } from "./import_problem.ts";
import { translateScripts } from "./script_tests.ts";
import { LoadError } from "../source/errors.ts";

const METHODS = [
  "get",
  "post",
  "put",
  "patch",
  "delete",
  "head",
  "options",
  "trace",
  "connect",
  "http",
];

/** Makes a workflow of a Bruno collection, in .bru files or OpenCollection YAML: a job for each of its directories. */
export async function translateBruno({ files, parseYaml }: ImportInput): Promise<Draft> {
  const settings = files.find(({ name }) => name === "bruno.json");
  const isYaml = files.some(({ name }) => name === "opencollection.yml");
  const extension = isYaml ? ".yml" : ".bru";
  const requests: { readonly folder: string; readonly seq: number; readonly blocks: Blocks }[] = [];
  let environment: Blocks | undefined;
  const names = new Names();
  const notes: string[] = [];
  const folders = new Map<string, Blocks>();
  for (const file of files.filter(({ name }) => name.endsWith(extension))) {
    const blocks = isYaml
      ? blocksOf(need("map", file, await parseYaml(file) as Value, []))
      : readBlocks(file);
    const [, folder = "", name = ""] = /^(?:(.*)\/)?([^/]+)$/.exec(file.name) ?? [];
    if (/(?:^|\/)environments$/.test(folder)) {
      if (environment) notes.push(`the environment ${name}: only the first becomes vars`);
      environment ??= blocks;
    } else if (/^(?:collection\.bru|opencollection\.yml|folder\.(?:bru|yml))$/.test(name)) {
      folders.set(folder, blocks);
    } else if (METHODS.some((method) => blocks.has(method))) {
      requests.push({
        folder,
        seq: Number(new Map(pairsOf(blocks, "meta")).get("seq") ?? 0),
        blocks,
      });
    } else if (
      isYaml || !/^(?:http|graphql)$/.test(new Map(pairsOf(blocks, "meta")).get("type") ?? "http")
    ) {
      notes.push(`the file ${file.name}: it has no request of HTTP`);
    } else {
      throw problemAt(
        file,
        0,
        "the request is missing",
        `it is a block such as get { url: … }: ${METHODS.join(", ")}`,
      );
    }
  }
  const shared = new Map(
    [...folders].map(([folder, blocks]) => [folder, testsOf(blocks, folder, notes)] as const),
  );
  if (requests.length === 0) {
    throw new LoadError(
      "the directory has no requests of Bruno",
      [],
      "it has opencollection.yml, or files that end in .bru",
    );
  }
  const byFolder = Map.groupBy(requests.toSorted((a, b) => a.seq - b.seq), ({ folder }) => folder);
  const title = titleOf(settings) ?? new Map(pairsOf(folders.get(""), "meta")).get("name") ??
    "Bruno";
  const order = orderOf("", [...byFolder.keys()].flatMap(pathsTo), folders);
  const jobs = order.map((folder): DraftJob => ({
    name: folder === "" ? title : folder,
    steps: (byFolder.get(folder) ?? []).flatMap(({ blocks }) => {
      if (isNoUrl(requestOf(blocks).request.get("url") ?? "")) {
        const name = new Map(pairsOf(blocks, "meta")).get("name") ?? "";
        notes.push(`the request "${name}": it has no URL`);
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

/** A text with the texts of the variables that it has in it. */
function putVariables(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (whole, name) => {
    const value = variables.get(name);
    if (value === undefined) return whole;
    const others = new Map(variables);
    others.delete(name);
    return putVariables(value, others);
  });
}

/** The directories as Bruno runs them: those in a directory come before its own requests. */
function orderOf(
  folder: string,
  all: readonly string[],
  folders: ReadonlyMap<string, Blocks>,
): readonly string[] {
  const seq = (one: string) => Number(new Map(pairsOf(folders.get(one), "meta")).get("seq")) || 0;
  const inside = [...new Set(all)].filter((one) => one !== "" && pathsTo(one).at(-2) === folder);
  const sorted = inside.filter((one) => seq(one) === 0).toSorted();
  for (const one of inside.filter((one) => seq(one) > 0).toSorted((a, b) => seq(a) - seq(b))) {
    sorted.splice(seq(one) - 1, 0, one);
  }
  return [...sorted.flatMap((one) => orderOf(one, all, folders)), folder];
}

/** The lines of tests that a directory gives to all requests in it, if all can be translated. */
function testsOf(blocks: Blocks, folder: string, notes: string[]): readonly string[] {
  const lines: string[] = [];
  const where = folder === "" ? "the collection" : `the directory "${folder}"`;
  for (const name of ["script:pre-request", "script:post-response", "tests"]) {
    const own = blocks.get(name)?.lines.filter((line) => line.trim() !== "") ?? [];
    if (own.length === 0) continue;
    const { notes: left, outputs } = translateScripts([own.join("\n")], new Names());
    const isSimple = name !== "script:pre-request" && left.length === 0 &&
      Object.keys(outputs).length === 0;
    if (isSimple) lines.push(own.join("\n"));
    else notes.push(`the block ${name} of ${where}: ${own.join(" ").trim()}`);
  }
  for (const [name, value] of pairsOf(blocks, "vars:post-response")) {
    notes.push(`the variable ${name} of ${where}: ${value}`);
  }
  return lines;
}

function titleOf(settings: ImportFile | undefined): string | undefined {
  if (!settings) return undefined;
  const { name } = need("map", settings, readJson(settings) as Value, []);
  return typeof name === "string" ? name : undefined;
}

function requestOf(blocks: Blocks) {
  const block = METHODS.find((one) => blocks.has(one))!;
  const request = new Map(pairsOf(blocks, block));
  return { method: request.get("method") ?? block, request };
}

function stepOf(
  blocks: Blocks,
  around: readonly (Blocks | undefined)[],
  shared: readonly string[],
  names: Names,
): DraftStep {
  const notes: string[] = [];
  const template = (text: string) => names.template(text);
  const meta = new Map(pairsOf(blocks, "meta"));
  const { method, request } = requestOf(blocks);
  const name = meta.get("name") ?? "request";
  let url = request.get("url") ?? "";
  for (const [key, value] of pairsOf(blocks, "params:path")) {
    url = url.replace(/\/:[^/?]+/g, (part) => part === `/:${key}` ? `/${value}` : part);
  }
  // A header of a request replaces that of its folder.
  const inherited = new Map([...around, blocks].flatMap((one) => pairsOf(one, "headers")));
  const headers = [...inherited].map(([key, value]) => [key, template(value)] as const);
  const more: Record<string, Value> = {};
  const kind = request.get("auth") ?? "none";
  const own = kind === "inherit"
    ? around.findLast((one) => !["inherit", "none", undefined].includes(authKind(one)))
    : blocks;
  authOf(kind === "inherit" ? authKind(own) : kind, own, template, more, headers, notes);
  // Before what the response gives new values to.
  const address = template(/^(?:https?:\/\/|\{\{)/.test(url) ? url : `http://${url}`);
  const { body, type } = bodyOfBlocks(request.get("body") ?? "none", blocks, template, notes);
  settingsOf(blocks, more, notes);
  const title = template(name);
  const { tests, outputs } = assertionsOf(blocks, names, notes);
  const scripts = ["script:post-response", "tests"].map((one) =>
    blocks.get(one)?.lines.join("\n") ?? ""
  );
  const script = translateScripts([...shared, ...scripts], names);
  const before = blocks.get("script:pre-request")?.lines.filter((line) => line.trim() !== "") ?? [];
  if (before.length > 0) notes.push(`the script before the request: ${before.join(" ").trim()}`);
  const all = { ...outputs, ...script.outputs };
  return httpStep({
    name: title,
    method,
    url: address,
    headers,
    body,
    type,
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
  } else if (kind === "apikey" && fields.get("placement")?.startsWith("query")) {
    more.query = { [field("key")]: field("value") };
  } else if (kind === "apikey") headers.push([field("key"), field("value")]);
  else notes.push(`the sign-in "${kind}": see the parameter auth of http`);
}

function settingsOf(blocks: Blocks, more: Record<string, Value>, notes: string[]): void {
  for (const [name, value] of pairsOf(blocks, "settings")) {
    if (value === "inherit") continue;
    if (name === "followRedirects") more.follow_redirects = value !== "false";
    else if (name === "maxRedirects") more.max_redirects = Number(value) || 0;
    else if (name === "timeout" && /^[1-9]\d*$/.test(value)) more.timeout = `${value}ms`;
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

function bodyOfBlocks(
  kind: string,
  blocks: Blocks,
  template: (text: string) => string,
  notes: string[],
): { readonly body: Dict; readonly type?: string | undefined } {
  const text = (name: string) => (blocks.get(name)?.lines ?? []).join("\n").trim();
  const json = "application/json";
  switch (kind) {
    case "none":
      return { body: {} };
    case "json":
      return {
        body: bodyOf(withoutComments(text("body:json") || text("body")), json, template),
        type: json,
      };
    case "text":
    case "xml":
    case "sparql":
      return { body: bodyOf(text(`body:${kind}`), "text/plain", template), type: TYPES[kind] };
    case "formUrlEncoded":
    case "form-urlencoded": {
      const pairs = pairsOf(blocks, "body:form-urlencoded");
      return { body: { form: pairs.map(([key, value]) => [template(key), template(value)]) } };
    }
    case "multipartForm":
    case "multipart-form": {
      const parts = pairsOf(blocks, "body:multipart-form");
      return {
        body: {
          multipart: parts.flatMap(([key, value]) =>
            partsOf(value, template).map((part) => [key, part])
          ),
        },
      };
    }
    case "file": {
      const [part = ""] = pairsOf(blocks, "body:file").flatMap(([, value]) =>
        partsOf(value, template)
      );
      const { file = "", type = "application/octet-stream" } = isDict(part) ? part : {};
      if (file !== "") return { body: { file }, type: String(type) };
      notes.push("the body: the collection does not name its file");
      return { body: {} };
    }
    case "graphql":
      return graphqlOf(
        text("body:graphql"),
        withoutComments(text("body:graphql:vars")),
        template,
      );
    default:
      notes.push(`the body: its kind "${kind}" is not known`);
      return { body: {} };
  }
}

/** The parts of a multipart body that a value is: a text, or files in `@file(a.txt|b.txt)`. */
function partsOf(value: string, template: (text: string) => string): Value[] {
  const [, type] = /@contentType\(([^)]*)\)\s*$/.exec(value) ?? [];
  const media = type === undefined ? {} : { type };
  const text = value.replace(/\s*@contentType\([^)]*\)\s*$/, "");
  const [, files] = /^@file\(([^)]*)\)$/.exec(text) ?? [];
  if (files !== undefined) return files.split("|").map((file) => ({ file, ...media }));
  return [type === undefined ? template(text) : { value: template(text), ...media }];
}
