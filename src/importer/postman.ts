import type { Path } from "../base/source.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { Draft, DraftJob, DraftStep } from "../openapi/gen/draft.ts";
import type { ImportFile, ImportInput } from "./draft.ts";
import {
  addAuth,
  bodyOf,
  graphqlOf,
  httpStep,
  idOf,
  isNoUrl,
  type Pairs,
  withoutComments,
} from "./http_step.ts";
import { Names } from "./import_names.ts";
import { dictOf, dictsOf, need, readJson, StructureError } from "./import_problem.ts";
import { onlyTests, translateScripts } from "./script_tests.ts";

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
  const root = readJson(file!) as Value;
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
  for (const { key, name, value, type, disabled } of dictsOf(collection.variable)) {
    // What nothing defines is read from the environment.
    if (disabled !== true && type !== "secret") names.define(String(key ?? name), value ?? "");
  }
  const notes: string[] = [];
  const outside: Around = { auth: null, path: [], tests: [], behavior: {}, notes };
  const around = inside(outside, collection, "the collection");
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
 * What a collection or a folder gives to all in it. Its tests are those of each request, if all of
 * them can be translated.
 */
function inside(around: Around, item: Dict, name: string): Around {
  const tests = [...around.tests];
  for (const event of dictsOf(item.event)) {
    const script = scriptOf(event);
    if (script === "") continue;
    if (event.listen === "test" && onlyTests(script)) tests.push(script);
    else around.notes.push(`the ${event.listen} script of ${name}: ${script}`);
  }
  const behavior = { ...around.behavior, ...dictOf(item.protocolProfileBehavior) };
  return { ...around, auth: item.auth ?? around.auth, tests, behavior };
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

function stepsOf(item: Dict, around: Around, names: Names, isTop = false): DraftStep[] {
  if (Array.isArray(item.item)) {
    const path = isTop ? around.path : [...around.path, String(item.name ?? "")];
    const inner = { ...inside(around, item, `the folder "${item.name ?? ""}"`), path };
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
  const { auth, path } = around;
  const notes: string[] = [];
  const request = dictOf(item.request);
  const headers = dictsOf(request.header).filter(({ disabled }) => disabled !== true)
    .map(({ key, value }) => [String(key), names.template(String(value ?? ""))] as const);
  if (typeof request.header === "string") notes.push(`the headers ${request.header}`);
  const type = headers.find(([name]) => /^content-type$/i.test(name))?.[1];
  const method = String(request.method ?? "GET");
  const behavior = { ...around.behavior, ...dictOf(item.protocolProfileBehavior) };
  const isPruned = /^(?:GET|HEAD|COPY|PURGE|UNLOCK)$/i.test(method) && !behavior.disableBodyPruning;
  const body = bodyOfRequest(isPruned ? null : request.body ?? null, type, names, notes);
  const more = settingsOf(behavior, notes);
  const credentials = dictOf(request.auth ?? auth);
  const fields = fieldsOfAuth(credentials[String(credentials.type)]);
  const field = (name: string) => names.template(String(fields[name] ?? ""));
  addAuth(String(credentials.type ?? ""), field, headers, more, notes);
  const scripts = [...around.tests];
  for (const event of dictsOf(item.event)) {
    const script = scriptOf(event);
    if (event.listen === "test") scripts.push(script);
    else if (script !== "") notes.push(`the script before the request: ${script}`);
  }
  const name = [...path, String(item.name ?? "")].join(" / ");
  const title = names.template(name);
  const { tests, outputs, notes: left } = translateScripts(scripts, names);
  return httpStep({
    name: title,
    method,
    url,
    headers,
    ...body,
    more,
    tests,
    outputs,
    ...idOf(outputs, name),
    notes: [...notes, ...left],
  });
}

function urlOf(url: Value, names: Names): string {
  const raw = isDict(url)
    ? `${String(url.raw ?? joinUrl(url)).replace(/[?#].*$/s, "")}${queryOf(url)}`
    : String(url);
  const variables = isDict(url) ? dictsOf(url.variable) : [];
  let text = raw.replace(/#.*$/, "").trim();
  for (const { key, value } of variables) {
    const end = `/:${key}`;
    text = text.replace(/\/:[^/?]+/g, (part) => part === end ? `/${value ?? ""}` : part);
  }
  if (text !== "" && !/^(?:https?:\/\/|\{\{)/.test(text)) text = `http://${text}`;
  return names.template(text);
}

/** A URL that is given in parts alone, each a text or a list. */
function joinUrl({ protocol = "http", host, port, path }: Dict): string {
  const list = (part: Value | undefined, separator: string) =>
    (part === undefined || part === null ? [] : [part].flat()).map((one) =>
      String(isDict(one) ? one.value ?? "" : one)
    ).join(separator);
  if (host === undefined) return "";
  const behind = list(path, "/").replace(/^\//, "");
  return `${protocol}://${list(host, ".")}${port === undefined ? "" : `:${port}`}/${behind}`;
}

/** The query of a URL; its text has the parameters that are switched off, too. */
function queryOf({ raw, query }: Dict): string {
  if (!Array.isArray(query)) return /\?[^#]*/.exec(String(raw ?? ""))?.[0] ?? "";
  const pairs = dictsOf(query).filter(({ disabled }) => disabled !== true)
    .map(({ key, value = null }) => `${key ?? ""}${value === null ? "" : `=${value}`}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** The settings of a request that change what is sent. */
function settingsOf(behavior: Dict, notes: string[]): Record<string, Value> {
  const more: Record<string, Value> = {};
  for (const [name, value] of Object.entries(behavior)) {
    if (name === "followRedirects") more.follow_redirects = value;
    else if (name === "maxRedirects") more.max_redirects = value;
    else if (name === "strictSSL") more.tls = { verify: value };
    else if (name === "disableCookies") more.cookies = value !== true;
    else if (!["disableBodyPruning", "disabledSystemHeaders", "protocolVersion"].includes(name)) {
      notes.push(`the setting ${name}: ${JSON.stringify(value)}`);
    }
  }
  return more;
}

/** The content types that Postman gives a text, by its language. */
const TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  xml: "application/xml",
  html: "text/html",
  javascript: "application/javascript",
};

function bodyOfRequest(body: Value, type: string | undefined, names: Names, notes: string[]) {
  if (!isDict(body) || body.disabled === true) return { body: {} };
  const translate = (text: string) => names.template(text);
  switch (body.mode) {
    case "raw": {
      const { language } = dictOf(dictOf(body.options).raw);
      const standard = TYPES[String(language)] ?? "text/plain";
      const media = type ?? standard;
      const text = /\bjson\b/.test(media) ? withoutComments(String(body.raw ?? "")) : body.raw;
      return { body: bodyOf(String(text ?? ""), media, translate), type: standard };
    }
    case "urlencoded":
      return { body: { form: fieldsOf(body.urlencoded, translate) } };
    case "formdata":
      return { body: { multipart: partsOf(body.formdata, translate, notes) } };
    case "file": {
      const { src } = dictOf(body.file);
      if (!src) notes.push("the body: the collection does not name its file");
      return { body: src ? { file: String(src) } : {} };
    }
    case "graphql": {
      const { query = "", variables, operationName } = dictOf(body.graphql);
      const values = isDict(variables ?? null) ? JSON.stringify(variables) : variables ?? "";
      const operation = operationName ? String(operationName) : undefined;
      return graphqlOf(String(query), String(values), translate, operation);
    }
    default:
      if (body.mode !== undefined) notes.push(`the body: its mode "${body.mode}" is not known`);
      return { body: {} };
  }
}

function partsOf(
  list: Value | undefined,
  translate: (text: string) => string,
  notes: string[],
): Pairs {
  const parts = dictsOf(list).filter(({ disabled }) => disabled !== true);
  return parts.flatMap((part): Pairs => {
    const { key, type, src, value, contentType } = part;
    const name = String(key);
    const media: Dict = contentType ? { type: String(contentType) } : {};
    if (type !== "file") {
      const text = translate(String(value ?? ""));
      return [[name, contentType ? { value: text, ...media } : text]];
    }
    const files = [src ?? []].flat();
    if (files.length === 0) notes.push(`the part ${name}: the collection does not name its file`);
    return files.map((file) => [name, { file: String(file), ...media }]);
  });
}

function fieldsOf(list: Value | undefined, translate: (text: string) => string): Pairs {
  const fields = dictsOf(list).filter(({ disabled }) => disabled !== true);
  return fields.map(({ key, value }) => [translate(String(key)), translate(String(value ?? ""))]);
}

/** Version 2.1 lists the fields of a sign-in, 2.0 has them in a map. */
function fieldsOfAuth(fields: Value | undefined): Dict {
  if (isDict(fields)) return fields;
  return Object.fromEntries(dictsOf(fields).map(({ key, value }) => [String(key), value ?? ""]));
}

function scriptOf({ script, disabled }: Dict): string {
  return [disabled === true ? [] : dictOf(script).exec ?? []].flat().map(String).join("\n").trim();
}
