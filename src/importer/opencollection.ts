import { type Dict, isDict, type Value } from "../value/value.ts";
import type { Block, Blocks } from "./bruno_blocks.ts";

type TextPairs = readonly (readonly [key: string, value: string])[];

const SCRIPTS: Readonly<Record<string, string>> = {
  "after-response": "script:post-response",
  tests: "tests",
};

/** The blocks that a .bru file would have for a file of OpenCollection. */
export function blocksOf(root: Dict): Blocks {
  const blocks = new Map<string, Block>();
  const add = (name: string, pairs: TextPairs) => blocks.set(name, { lines: [], pairs });
  const addText = (name: string, text: Value | undefined) =>
    blocks.set(name, { lines: textOf(text).split("\n"), pairs: [] });
  const kind = ["http", "graphql"].find((one) => isDict(root[one]));
  // What a collection and a folder give to their requests.
  const request = dictOf(root[kind ?? "request"]);
  const runtime = { ...request, ...dictOf(root.runtime) };
  const auth = runtime.auth ?? "none";
  const mode = isDict(auth) ? textOf(auth.type) : textOf(auth);
  add("meta", fieldsOf(dictOf(root.info)));
  add("settings", fieldsOf(dictOf(root.settings)));
  add("headers", listed(request.headers));
  add("params:path", listed(listOf(request.params).filter(({ type }) => type === "path")));
  add("auth", [["mode", mode]]);
  if (isDict(auth)) add(`auth:${mode}`, fieldsOf(auth));
  add("vars:pre-request", listed(runtime.variables));
  add(
    "vars:post-response",
    listOf(runtime.actions).filter(({ phase }) => phase === "after-response").map((
      { variable, selector },
    ) => [textOf(dictOf(variable).name), textOf(dictOf(selector).expression)]),
  );
  add(
    "assert",
    listOf(runtime.assertions).map((
      { expression, operator, value },
    ) => [textOf(expression), `${textOf(operator)} ${textOf(value)}`.trim()]),
  );
  for (const { type, code } of listOf(runtime.scripts)) {
    addText(SCRIPTS[textOf(type)] ?? "script:pre-request", code);
  }
  // An environment.
  add("vars", listed(listOf(root.variables).filter(({ secret }) => secret !== true)));
  if (kind === undefined) return blocks;
  const variants = listOf(request.body);
  const chosen = variants.find(({ selected }) => selected === true) ?? variants[0];
  const body = dictOf(chosen ? chosen.body : request.body);
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
  } else if (type === "form-urlencoded") add(`body:${type}`, listed(body.data));
  else if (type === "multipart-form") {
    add(
      `body:${type}`,
      listOf(body.data).map(({ name, type, value, contentType }) => [
        textOf(name),
        type === "file"
          ? partOf([value ?? []].flat(), contentType)
          : textOf(value) + typeOf(contentType),
      ]),
    );
  } else if (type === "file") {
    const files = listOf(body.data).filter(({ selected }) => selected === true);
    add(
      "body:file",
      files.map(({ filePath, contentType }) => ["file", partOf([filePath ?? ""], contentType)]),
    );
  } else addText(`body:${type}`, body.data);
  return blocks;
}

function partOf(files: readonly Value[], contentType: Value | undefined): string {
  return `@file(${files.map(textOf).join("|")})${typeOf(contentType)}`;
}

function typeOf(contentType: Value | undefined): string {
  return contentType ? ` @contentType(${textOf(contentType)})` : "";
}

function dictOf(value: Value | undefined): Dict {
  return isDict(value ?? null) ? value as Dict : {};
}

/** The entries of a list that are not switched off. */
function listOf(value: Value | undefined): readonly Dict[] {
  return Array.isArray(value) ? value.filter(isDict).filter((one) => one.disabled !== true) : [];
}

function listed(value: Value | undefined): TextPairs {
  return listOf(value).map(({ name, value }) => [textOf(name), textOf(value)]);
}

function fieldsOf(fields: Dict): TextPairs {
  return Object.entries(fields).map(([name, value]) => [name, textOf(value)]);
}

/** A text; one with a type, or the chosen one of several. */
function textOf(value: Value | undefined): string {
  if (Array.isArray(value)) {
    const variants = listOf(value);
    return textOf((variants.find(({ selected }) => selected === true) ?? variants[0])?.value);
  }
  return isDict(value ?? null) ? textOf((value as Dict).data) : String(value ?? "");
}
