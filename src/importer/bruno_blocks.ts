import { type Dict, dictOf, isDict, type Value } from "../base/value/value.ts";
import { dictsOf, type ImportFile, linesOf, problemAt } from "./input.ts";

/** The blocks of a file by their names: `meta`, `body:json`. */
export type Blocks = ReadonlyMap<string, Block>;

type TextPairs = readonly (readonly [key: string, value: string])[];

interface Block {
  /** The lines inside, without their indentation. */
  readonly lines: readonly string[];
  /** The pairs inside, if they are not written in lines. */
  readonly pairs?: TextPairs;
}

/** Reads the blocks of a file; one ends with its bracket at the beginning of a line. */
export function readBlocks(file: ImportFile): Blocks {
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
export function pairsOf(blocks: Blocks | undefined, name: string): TextPairs {
  const { lines = [], pairs } = blocks?.get(name) ?? {};
  return pairs ??
    [...lines.join("\n").matchAll(PAIR)].flatMap(([, key = "", text, type = "", value = ""]) => {
      if (key === "" || key.startsWith("~")) return [];
      const whole = text === undefined ? value : `${text.replace(/^ {2}/gm, "").trimEnd()} ${type}`;
      return [[key.replace(/^"|"$/g, ""), whole.trim()] as const];
    });
}

/** The blocks of a file, and of all files that a bundled one contains, by their names. */
export function readOpenCollection(
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
