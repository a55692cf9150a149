import type { Path } from "../base/source.ts";
import { type Dict, dictOf, isDict, type Value } from "../base/value/value.ts";
import type { Draft, DraftJob, DraftStep, Text } from "../draft/draft.ts";
import { Names } from "../draft/names.ts";
import {
  dictsOf,
  type ImportFile,
  type ImportInput,
  need,
  readJson,
  StructureError,
} from "./input.ts";
import {
  isNoUrl,
  type Pairs,
  putParameters,
  REMOVABLE,
  RequestDraft,
  withoutComments,
  withScheme,
} from "../draft/request_draft.ts";
import { onlyTests, translateBefore, translateScripts } from "./script_tests.ts";

/** The settings that a request inherits from the folders that contain it. */
interface Around {
  readonly auth: Value;
  readonly path: readonly string[];
  /** The scripts of tests that apply to each request. */
  readonly tests: readonly string[];
  readonly behavior: Dict;
  /** The notes of the whole collection. */
  readonly notes: string[];
}

const EXPORT_IT = "a Postman collection of version 2 has info and item: export it as v2.1";

/** Makes a workflow of a Postman collection (v2.0 or v2.1): a job for each folder at its top. */
export function translatePostman({ files: [file] }: ImportInput): Draft {
  const root = readJson(file!);
  const collection = need("map", file!, root, [], EXPORT_IT);
  if (Array.isArray(collection.values) && collection.item === undefined) {
    throw new StructureError(
      file!,
      ["values"],
      "it is an environment, not a collection",
      EXPORT_IT,
    );
  }
  const info = need("map", file!, root, ["info"], EXPORT_IT);
  needItems(file!, root, ["item"]);
  const names = new Names();
  for (const variable of dictsOf(collection.variable)) {
    // What nothing defines is a var without a value.
    if (variable.disabled !== true && variable.type !== "secret") {
      names.define(nameOf(variable), variable.value ?? "");
    }
  }
  const notes: string[] = [];
  const outside: Around = { auth: null, path: [], tests: [], behavior: {}, notes };
  const around = inside(outside, collection, "the collection", names);
  const title = String(info.name ?? "Postman");
  const jobs: DraftJob[] = [];
  const loose: DraftStep[] = [];
  for (const item of dictsOf(collection.item)) {
    if (!Array.isArray(item.item)) {
      loose.push(...stepsOf(item, around, names));
      continue;
    }
    const name = String(item.name ?? "Folder");
    const steps = stepsOf(item, around, names, true);
    // Requests of a collection run in order, and pass values on.
    if (steps.length > 0) jobs.push({ name, steps });
  }
  if (loose.length > 0) jobs.unshift({ name: title, steps: loose });
  if (jobs.length === 0) {
    throw new StructureError(file!, ["item"], "the collection has no requests");
  }
  const all = [...notes, ...names.notes];
  return { name: title, vars: names.vars, jobs, isSequence: true, notes: all };
}

/**
 * The settings inside a collection or a folder. Its tests apply to each request, if all of them can
 * be translated.
 */
function inside(around: Around, item: Dict, name: string, names: Names): Around {
  const tests = [...around.tests];
  for (const event of dictsOf(item.event)) {
    const script = scriptOf(event);
    if (script === "") continue;
    if (event.listen === "test" && onlyTests(script)) tests.push(script);
    else if (event.listen === "test" || !translateBefore(script, names)) {
      around.notes.push(`the ${event.listen} script of ${name}: ${script}`);
    }
  }
  noteOthers(item, "item event auth info variable protocolProfileBehavior", name, around.notes);
  if (item.info === undefined && dictsOf(item.variable).length > 0) {
    around.notes.push(`the variables of ${name}: ${JSON.stringify(item.variable).slice(0, 100)}`);
  }
  const behavior = { ...around.behavior, ...dictOf(item.protocolProfileBehavior) };
  return { ...around, auth: item.auth ?? around.auth, tests, behavior };
}

/** The name of a variable, which some versions call its id. */
function nameOf({ key, name, id }: Dict): string {
  return String(key ?? name ?? id);
}

/** Throws at the first item, however deep, that is neither a request nor a folder. */
function needItems(file: ImportFile, root: Value, path: Path): void {
  for (const [index] of need("list", file, root, path, EXPORT_IT).entries()) {
    const at = [...path, index];
    const item = need("map", file, root, at);
    if (item.item !== undefined) needItems(file, root, [...at, "item"]);
    else if (typeof item.request !== "string") need("map", file, root, [...at, "request"]);
  }
}

/** Notes the keys of a part that are not known, but those that only describe it. */
function noteOthers(part: Dict, known: string, name: string, notes: string[]): void {
  for (const [key, value] of Object.entries(part)) {
    if (`${known} name id description response`.split(" ").includes(key) || key.startsWith("_")) {
      continue;
    }
    if (!/^(?:null|\[\]|\{\}|"")$/.test(JSON.stringify(value))) {
      notes.push(`"${key}" of ${name}: ${JSON.stringify(value).slice(0, 100)}`);
    }
  }
}

function stepsOf(item: Dict, around: Around, names: Names, isTop = false): DraftStep[] {
  if (Array.isArray(item.item)) {
    const path = isTop ? around.path : [...around.path, String(item.name ?? "")];
    const inner = { ...inside(around, item, `the folder "${item.name ?? ""}"`, names), path };
    return dictsOf(item.item).flatMap((one) => stepsOf(one, inner, names));
  }
  const { request = "" } = item;
  const url = urlOf(isDict(request) ? request.url ?? "" : request, names);
  if (isNoUrl(url)) {
    around.notes.push(`the request "${item.name ?? ""}": it has no URL`);
    return [];
  }
  return [stepOf(item, url, around, names)];
}

function stepOf(item: Dict, url: string, around: Around, names: Names): DraftStep {
  const request = new RequestDraft(names);
  const { template, notes } = request;
  const sent = dictOf(item.request);
  const ends = dictsOf(item.event).filter(({ listen }) => listen !== "test").map((event) => {
    const script = scriptOf(event);
    const end = translateBefore(script, names);
    if (!end) notes.push(`the script before the request: ${script}`);
    return end;
  });
  request.url = template(url);
  noteOthers(item, "request event protocolProfileBehavior", "the item", notes);
  noteOthers(sent, "url auth method header body", "the request", notes);
  request.method = template(String(sent.method ?? "GET"));
  for (const { key, value } of enabled(sent.header)) {
    request.headers.push([String(key), template(String(value ?? ""))]);
  }
  if (typeof sent.header === "string") notes.push(`the headers ${sent.header}`);
  const behavior = { ...around.behavior, ...dictOf(item.protocolProfileBehavior) };
  const isPruned = /^(?:GET|HEAD|COPY|PURGE|UNLOCK)$/i.test(String(sent.method ?? "GET"));
  if (!isPruned || behavior.disableBodyPruning) setBody(request, sent.body ?? null);
  setBehavior(request, behavior);
  const credentials = dictOf(sent.auth ?? around.auth);
  const fields = fieldsOfAuth(credentials[String(credentials.type)]);
  request.setAuth(
    String(credentials.type ?? ""),
    (name) => String(fields[name] ?? ""),
  );
  const scripts = [...around.tests];
  for (const event of dictsOf(item.event)) {
    const script = scriptOf(event);
    if (event.listen === "test") scripts.push(script);
  }
  const name = [...around.path, String(item.name ?? "")].join(" / ");
  request.name = template(name);
  translateScripts(scripts, request);
  for (const end of ends) end?.();
  return request.step(name);
}

function urlOf(url: Value, names: Names): string {
  const { raw, variable } = isDict(url) ? url : {} as Dict;
  let text = isDict(url)
    ? `${String(raw ?? joinUrl(url)).replace(/[?#].*$/s, "")}${queryOf(url)}`
    : String(url);
  text = text.replace(/#.*$/, "").trim();
  const values = dictsOf(variable).map((one) => [nameOf(one), String(one.value ?? "")] as const);
  return putParameters(withScheme(text, names), new Map(values));
}

/** Joins a URL that has only parts, each a text or a list. */
function joinUrl({ protocol = "http", host, port, path }: Dict): string {
  const list = (part: Value | undefined, separator: string) =>
    (part === undefined || part === null ? [] : [part].flat()).map((one) =>
      String(isDict(one) ? one.value ?? "" : one)
    ).join(separator);
  if (host === undefined) return "";
  const behind = list(path, "/").replace(/^\//, "");
  return `${protocol}://${list(host, ".")}${port === undefined ? "" : `:${port}`}/${behind}`;
}

/** The query of a URL without disabled parameters, which its text contains. */
function queryOf({ raw, query }: Dict): string {
  if (!Array.isArray(query)) return /\?[^#]*/.exec(String(raw ?? ""))?.[0] ?? "";
  const pairs = enabled(query)
    .map(({ key, value = null }) => `${key ?? ""}${value === null ? "" : `=${value}`}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** The settings of a request that change what is sent. */
function setBehavior({ params, headers, notes }: RequestDraft, behavior: Dict): void {
  for (const [name, value] of Object.entries(behavior)) {
    if (name === "followRedirects") params.follow_redirects = value;
    else if (name === "maxRedirects") params.max_redirects = value;
    else if (name === "strictSSL") params.tls = { verify: value };
    else if (name === "disableCookies") params.cookies = value !== true;
    else if (name === "protocolVersion" && /^http2$|^auto$/.test(String(value))) {
      params.version = "auto";
    } else if (name === "disabledSystemHeaders") {
      for (const [header, isDisabled] of Object.entries(dictOf(value))) {
        if (isDisabled !== true || /^(?:postman-token|cache-control)$/i.test(header)) continue;
        if (REMOVABLE.test(header)) headers.push([header, null]);
        else notes.push(`the setting ${name}: the header ${header}`);
      }
    } else if (name !== "disableBodyPruning" && value !== "http1") {
      notes.push(`the setting ${name}: ${JSON.stringify(value)}`);
    }
  }
}

/** The content types that Postman gives a text, by its language. */
const TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  xml: "application/xml",
  html: "text/html",
  javascript: "application/javascript",
};

function setBody(request: RequestDraft, body: Value): void {
  if (!isDict(body) || body.disabled === true) return;
  const { template, notes } = request;
  switch (body.mode) {
    case "raw": {
      const { language } = dictOf(dictOf(body.options).raw);
      request.type = TYPES[String(language)] ?? "text/plain";
      const type = request.contentType ?? request.type;
      const text = String(body.raw ?? "");
      return request.setText(/\bjson\b/.test(type) ? withoutComments(text) : text, type);
    }
    case "urlencoded":
      request.body = {
        form: enabled(body.urlencoded).map(({ key, value }) => [
          template(String(key)),
          template(String(value ?? "")),
        ]),
      };
      return;
    case "formdata":
      request.body = {
        multipart: enabled(body.formdata).flatMap((part) => partsOf(part, request)),
      };
      return;
    case "file": {
      const { src } = dictOf(body.file);
      if (src) request.body = { file: template(String(src)) };
      else notes.push("the body: the collection does not name its file");
      return;
    }
    case "graphql": {
      const { query = "", variables, operationName } = dictOf(body.graphql);
      const values = isDict(variables ?? null) ? JSON.stringify(variables) : variables ?? "";
      const operation = operationName ? String(operationName) : undefined;
      return request.setGraphql(String(query), String(values), operation);
    }
    default:
      if (body.mode !== undefined) notes.push(`the body: its mode "${body.mode}" is not known`);
  }
}

function partsOf(
  { key, type, src, value, contentType }: Dict,
  { template, notes }: RequestDraft,
): Pairs {
  const name = template(String(key));
  const media: Readonly<Record<string, Text>> = contentType
    ? { type: template(String(contentType)) }
    : {};
  if (type !== "file") {
    const text = template(String(value ?? ""));
    return [[name, contentType ? { value: text, ...media } : text]];
  }
  const files = [src ?? []].flat();
  if (files.length === 0) notes.push(`the part ${key}: the collection does not name its file`);
  return files.map((file) => [name, { file: template(String(file)), ...media }]);
}

/** The entries of a list that are not disabled. */
function enabled(list: Value | undefined): Dict[] {
  return dictsOf(list).filter(({ disabled }) => disabled !== true);
}

/** Version 2.1 lists the fields of an authentication, 2.0 has them in a map. */
function fieldsOfAuth(fields: Value | undefined): Dict {
  if (isDict(fields)) return fields;
  return Object.fromEntries(dictsOf(fields).map(({ key, value }) => [String(key), value ?? ""]));
}

function scriptOf({ script, disabled }: Dict): string {
  return [disabled === true ? [] : dictOf(script).exec ?? []].flat().map(String).join("\n").trim();
}
