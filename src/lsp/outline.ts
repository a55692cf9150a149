import type { Path } from "../base/source.ts";
import {
  buildTree,
  type YamlNode,
  type YamlPair,
  type YamlScalar,
} from "../base/yaml/yaml_tree.ts";
import { findOpenings } from "../base/yaml/find_opening.ts";
import { parseYaml, YamlFault } from "../base/yaml/parse_yaml.ts";

/** The recognizable parts of a file whose text is being typed. */
export interface Outline {
  readonly text: string;
  /** The text with spaces in place of the parts that are not YAML. */
  readonly readable: string;
  readonly root: YamlNode | undefined;
  readonly kind: FileKind;
}

/** The formats of files; each has its own keys. */
export type FileKind = "workflow" | "job file" | "suite";

function kindOf(root: YamlNode | undefined): FileKind {
  if (fieldOf(root, "jobs")) return "workflow";
  if (fieldOf(root, "steps")) return "job file";
  return fieldOf(root, "workflows") ? "suite" : "workflow";
}

/** Looks through the text of a file that may be broken. */
export function makeOutline(text: string): Outline {
  const { root, text: readable } = readLoosely(text);
  return { text, readable, root, kind: kindOf(root) };
}

/** A text that is not empty. */
export function scalarOf(node: YamlNode | undefined): YamlScalar | undefined {
  return node?.kind === "scalar" && node.text !== "" ? node : undefined;
}

/** Whether an offset is between `{{` and `}}`. */
export function isInBraces(text: string, at: number): boolean {
  const open = text.lastIndexOf("{{", at);
  return open >= 0 && text.lastIndexOf("}}", at - 1) < open;
}

/** An entry in the outline view of an editor. */
export interface FileSymbol {
  readonly name: string;
  readonly kind: "job" | "step" | "output";
  readonly range: TextRange;
  /** The part to go to. */
  readonly selection: TextRange;
  readonly children: readonly FileSymbol[];
}

/** The jobs of a file with their steps and outputs. */
export function symbolsOf({ root, kind }: Outline): readonly FileSymbol[] {
  if (kind === "job file") return [jobSymbol(root!, 0)];
  return [...itemsOf(fieldOf(root, "jobs")).map(jobSymbol), ...stepSymbols(root)];
}

function jobSymbol(node: YamlNode, index: number): FileSymbol {
  return { ...named(node, `job_${index}`), kind: "job", children: stepSymbols(node) };
}

function stepSymbols(owner: YamlNode | undefined): readonly FileSymbol[] {
  const steps = ["steps", "finally"].flatMap((key) => itemsOf(fieldOf(owner, key)));
  return steps.map((node) => ({
    ...named(node, scalarOf(fieldOf(node, "uses"))?.text ?? "step"),
    kind: "step",
    children: pairsOf(fieldOf(node, "outputs")).map(({ key, value }) => ({
      name: key.text,
      kind: "output",
      range: { start: key.start, end: Math.max(key.end, value.outerEnd) },
      selection: contentOf(key),
      children: [],
    })),
  }));
}

function named(node: YamlNode, otherwise: string) {
  const name = scalarOf(fieldOf(node, "name")) ?? scalarOf(fieldOf(node, "id"));
  const range = extentOf(node);
  const selection = name ? contentOf(name) : { start: range.start, end: range.start };
  return { name: name?.text ?? otherwise, range, selection };
}

/** A part of the text of a file, in UTF-16 offsets. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A file with more mistakes is read up to the next one. */
const MAX_MISTAKES = 30;

/** A text that may be invalid, as far as it can be read. */
interface Readable {
  readonly root: YamlNode | undefined;
  /** The text with spaces in place of rejected parts: a value without an end, or a line. */
  readonly text: string;
}

/** Reads a text without what the parser rejects. */
export function readLoosely(text: string): Readable {
  let readable = text;
  for (let mistakes = 0; readable.trim() !== ""; mistakes++) {
    try {
      const parsed = parseYaml([{ name: "", text: readable }]);
      return { root: buildTree(parsed.events, parsed.text).roots[0], text: readable };
    } catch (fault) {
      if (!(fault instanceof YamlFault)) throw fault;
      const isLast = mistakes >= MAX_MISTAKES;
      const { start, end } = mistakeOf(readable, fault, isLast);
      readable = readable.slice(0, start) +
        (isLast ? "" : " ".repeat(end - start) + readable.slice(end));
    }
  }
  return { root: undefined, text: "" };
}

/** The part of a text that the parser rejects, from an innermost bracket or the outermost on. */
function mistakeOf(
  text: string,
  { offset, reason }: YamlFault,
  isOutermost: boolean,
): TextRange {
  const open = findOpenings(text, offset);
  // Brackets that are nested too deeply all have to go.
  const isDeep = reason.startsWith("nesting");
  const opening = open.at(isDeep || isOutermost ? 0 : -1);
  if (opening !== undefined) {
    return { start: opening, end: lineAround(text, isDeep ? offset : opening).end };
  }
  const line = lineAround(text, offset);
  // A key without a colon is rejected in the next line that is not empty.
  const isAbove = reason.includes("multiline key") ||
    text.slice(line.start, line.end).trim() === "";
  return isAbove ? lineAround(text, text.slice(0, line.start).trimEnd().length) : line;
}

function lineAround(text: string, offset: number): TextRange {
  const newline = text.indexOf("\n", offset);
  return {
    start: text.lastIndexOf("\n", offset - 1) + 1,
    end: newline < 0 ? text.length : newline,
  };
}

/** The way to a place in a tree, from the root on. */
export interface Spot {
  readonly path: Path;
  /** Whether the place is in the last key of the path. */
  readonly isKey: boolean;
  readonly scalar: YamlScalar;
}

/** The text at an offset; undefined if there is none. */
export function spotAt(root: YamlNode | undefined, offset: number): Spot | undefined {
  const path: (string | number)[] = [];
  const isIn = ({ start, end }: TextRange) => start <= offset && offset <= end;
  for (let node = root;;) {
    if (node?.kind === "list") {
      const index = node.items.findLastIndex(({ dash }) => dash <= offset);
      if (index < 0) return undefined;
      path.push(index);
      node = node.items[index]!.value;
      continue;
    }
    if (node?.kind !== "map") {
      return node?.kind === "scalar" && isIn(node)
        ? { path, isKey: false, scalar: node }
        : undefined;
    }
    const pair = pairsOf(node).findLast(({ key }) => key.start <= offset);
    if (!pair) return undefined;
    path.push(pair.key.text);
    if (isIn(pair.key)) return { path, isKey: true, scalar: pair.key };
    node = pair.value;
  }
}

/** The value of a key of a mapping. */
export function fieldOf(node: YamlNode | undefined, key: string): YamlNode | undefined {
  return pairsOf(node).find((pair) => pair.key.text === key)?.value;
}

/** The items of a list; none of something else. */
export function itemsOf(node: YamlNode | undefined): readonly YamlNode[] {
  return node?.kind === "list" ? node.items.map(({ value }) => value) : [];
}

/** The pairs of a mapping whose keys are texts; none of something else. */
export function pairsOf(
  node: YamlNode | undefined,
): readonly (YamlPair & { readonly key: YamlScalar })[] {
  const hasText = (pair: YamlPair): pair is YamlPair & { readonly key: YamlScalar } =>
    pair.key.kind === "scalar";
  return node?.kind === "map" ? node.pairs.filter(hasText) : [];
}

/** All of a node with its anchor and its tag. */
function extentOf({ outerStart: start, outerEnd: end }: YamlNode): TextRange {
  return { start, end };
}

/** The text of a scalar without its quotes. */
export function contentOf({ style, start, end }: YamlScalar): TextRange {
  const quote = style === "single" || style === "double" ? 1 : 0;
  return { start: start + quote, end: end - quote };
}
