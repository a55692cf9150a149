import type { Path } from "../source/source.ts";
import { type Dict, isDict, type Value } from "../value/value.ts";
import type { Draft, DraftJob, DraftStep, ImportFile, ImportInput } from "./draft.ts";
import { bodyOf, httpStep, idOf, isNoUrl } from "./http_step.ts";
import { Names } from "./names.ts";
import { need, readJson, StructureError } from "./problem.ts";
import { translateScript } from "./script_tests.ts";

const SETTER =
  /^(?:pm\.(?:environment|collectionVariables|globals|variables)\.set|postman\.set(?:Environment|Global)Variable)\(\s*["'`]([^"'`]+)["'`]\s*,\s*(.+?)\s*\)$/s;

/** The settings that a request inherits from the folders that contain it. */
interface Around {
  readonly auth: Value;
  readonly path: readonly string[];
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
  for (const { key, name, value } of dictsOf(collection.variable)) {
    names.define(String(key ?? name), value ?? "");
  }
  const notes = dictsOf(collection.event).flatMap((event) => {
    const lines = linesOf(event);
    return lines.length === 0
      ? []
      : [`the ${event.listen} script of the collection: ${lines.join(" ")}`];
  });
  const around: Around = { auth: collection.auth ?? null, path: [], notes };
  const title = String(info.name ?? "Postman");
  const jobs: DraftJob[] = [];
  const loose: DraftStep[] = [];
  for (const item of dictsOf(collection.item)) {
    if (!Array.isArray(item.item)) {
      loose.push(...stepsOf(item, around, names));
      continue;
    }
    const name = String(item.name ?? "Folder");
    const steps = stepsOf(item, { ...around, path: [] }, names, true);
    // Requests of a collection run in order, and pass values on.
    if (steps.length > 0) jobs.push({ name, steps });
  }
  if (loose.length > 0) jobs.unshift({ name: title, steps: loose });
  if (jobs.length === 0) {
    throw new StructureError(file!, ["item"], "the collection has no requests");
  }
  return { name: title, vars: names.vars, jobs, isSequence: true, notes };
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
    const inner = { ...around, auth: item.auth ?? around.auth, path };
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

function stepOf(item: Dict, url: string, { auth, path }: Around, names: Names): DraftStep {
  const notes: string[] = [];
  const request: Dict = isDict(item.request) ? item.request : {};
  const headers = dictsOf(request.header).filter(({ disabled }) => disabled !== true)
    .map(({ key, value }) => [String(key), names.template(String(value ?? ""))] as const);
  const type = headers.find(([name]) => /^content-type$/i.test(name))?.[1];
  const body = bodyOfRequest(request.body ?? null, type, names, notes);
  const credentials = authOf(request.auth ?? auth, names, notes);
  const scripts = dictsOf(item.event).map((event) => ({
    listen: event.listen,
    lines: linesOf(event),
  }));
  for (const { listen, lines } of scripts) {
    if (listen === "prerequest" && lines.length > 0) {
      notes.push(`the script before the request: ${lines.join(" ")}`);
    }
  }
  const lines = scripts.flatMap(({ listen, lines }) => listen === "test" ? lines : []);
  const name = [...path, String(item.name ?? "")].join(" / ");
  const title = names.template(name);
  const { tests, outputs, notes: left } = translateScript(lines, SETTER, names);
  return httpStep({
    name: title,
    method: String(request.method ?? "GET"),
    url,
    headers: [...headers, ...credentials.headers],
    body,
    more: credentials.more,
    tests,
    outputs,
    ...idOf(outputs, name),
    notes: [...notes, ...left],
  });
}

function urlOf(url: Value, names: Names): string {
  const raw = isDict(url) ? String(url.raw ?? joinUrl(url)) : String(url);
  const variables = isDict(url) ? dictsOf(url.variable) : [];
  let text = raw.replace(/#.*$/, "").trim();
  for (const { key, value } of variables) {
    text = text.replace(new RegExp(`/:${key}(?=[/?]|$)`), `/${value ?? ""}`);
  }
  if (text !== "" && !/^(?:https?:\/\/|\{\{)/.test(text)) text = `http://${text}`;
  return names.template(text);
}

/** A URL that is given in parts alone, each a text or a list. */
function joinUrl({ protocol = "http", host, port, path, query }: Dict): string {
  const list = (part: Value | undefined, separator: string) =>
    (part === undefined || part === null ? [] : [part].flat()).map((one) =>
      String(isDict(one) ? one.value ?? "" : one)
    ).join(separator);
  if (host === undefined) return "";
  const pairs = dictsOf(query).filter(({ disabled }) => disabled !== true)
    .map(({ key, value }) => `${key ?? ""}=${value ?? ""}`).join("&");
  const behind = list(path, "/").replace(/^\//, "");
  return `${protocol}://${list(host, ".")}${port === undefined ? "" : `:${port}`}/${behind}` +
    (pairs === "" ? "" : `?${pairs}`);
}

function bodyOfRequest(body: Value, type: string | undefined, names: Names, notes: string[]): Dict {
  if (!isDict(body) || body.disabled === true) return {};
  const translate = (text: string) => names.template(text);
  switch (body.mode) {
    case "raw": {
      const { raw = {} } = isDict(body.options) ? body.options : {};
      const language = isDict(raw) ? raw.language : undefined;
      return bodyOf(
        String(body.raw ?? ""),
        type ?? (language === "json" ? "application/json" : "text/plain"),
        translate,
      );
    }
    case "urlencoded":
      return { form: fieldsOf(body.urlencoded, translate) };
    case "formdata":
      return {
        multipart: Object.fromEntries(
          dictsOf(body.formdata).filter(({ disabled }) => disabled !== true).map((part) => [
            String(part.key),
            part.type === "file"
              ? { file: String([part.src].flat()[0] ?? "") }
              : translate(String(part.value ?? "")),
          ]),
        ),
      };
    case "file": {
      const src = isDict(body.file) ? body.file.src : undefined;
      return { file: String(src ?? "") };
    }
    case "graphql": {
      const graphql = isDict(body.graphql) ? body.graphql : {};
      const variables = bodyOf(String(graphql.variables ?? ""), undefined, translate).json;
      return {
        graphql: {
          query: translate(String(graphql.query ?? "")),
          ...variables === undefined ? {} : { variables },
        },
      };
    }
    default:
      if (body.mode !== undefined) notes.push(`the body: its mode "${body.mode}" is not known`);
      return {};
  }
}

function fieldsOf(list: Value | undefined, translate: (text: string) => string): Dict {
  const fields: Record<string, Value> = {};
  for (const { key, value, disabled } of dictsOf(list)) {
    if (disabled === true) continue;
    const name = String(key);
    const text = translate(String(value ?? ""));
    const known = fields[name];
    fields[name] = known === undefined ? text : [known, text].flat();
  }
  return fields;
}

interface Credentials {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly more: Dict;
}

const NO_CREDENTIALS: Credentials = { headers: [], more: {} };

/** Version 2.1 lists the fields of a sign-in, 2.0 has them in a map. */
function authOf(auth: Value, names: Names, notes: string[]): Credentials {
  if (!isDict(auth) || auth.type === "noauth" || auth.type === undefined) return NO_CREDENTIALS;
  const given = auth[String(auth.type)] ?? null;
  const fields: Dict = isDict(given)
    ? given
    : Object.fromEntries(dictsOf(given).map(({ key, value }) => [String(key), value ?? ""]));
  const field = (name: string) => names.template(String(fields[name] ?? ""));
  switch (auth.type) {
    case "bearer":
      return { headers: [], more: { auth: { bearer: field("token") } } };
    case "basic":
    case "digest": {
      const pair = { username: field("username"), password: field("password") };
      return { headers: [], more: { auth: { [auth.type]: pair } } };
    }
    case "apikey":
      return fields.in === "query"
        ? { headers: [], more: { query: { [String(fields.key)]: field("value") } } }
        : { headers: [[String(fields.key), field("value")]], more: {} };
    default:
      notes.push(`the sign-in "${auth.type}": see the parameter auth of http`);
      return NO_CREDENTIALS;
  }
}

function linesOf({ script }: Dict): string[] {
  const exec = isDict(script) ? script.exec ?? [] : [];
  return [exec].flat().map(String).flatMap((line) => line.split("\n")).map((line) => line.trim())
    .filter((line) => line !== "");
}

function dictsOf(value: Value | undefined): Dict[] {
  return Array.isArray(value) ? value.filter(isDict) : [];
}
