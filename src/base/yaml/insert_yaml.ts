import { LoadError } from "../errors.ts";
import type { Source } from "../source.ts";
import { isEqual } from "../value/compare.ts";
import { type Dict, isDict, type Value } from "../value/value.ts";
import { constructValues, parseYaml, YamlFault } from "./parse_yaml.ts";
import { printYaml } from "./print_yaml.ts";
import { orLoadError } from "./read_yaml.ts";
import { buildTree, type YamlList, type YamlMap, type YamlNode } from "./yaml_tree.ts";

/** Data to add to a list or to a mapping of a file. */
export type Insertion =
  & {
    /** The list or the mapping. */
    readonly path: readonly (string | number)[];
  }
  & (
    | {
      /** The index of the item after which the new one comes. */
      readonly after: number;
      readonly item: Value;
      /** The text of the item, as a list of one; by default plain YAML. */
      readonly text?: string;
    }
    | { readonly pairs: Dict }
  );

/**
 * The text of a YAML file with more in it. All that is there stays as it is written. Throws
 * LoadError where the file is written in a way that cannot be added to.
 */
export function insertYaml(file: Source, insertions: readonly Insertion[]): string {
  const lineBreak = file.text.includes("\r\n") ? "\r\n" : "\n";
  const unix = { ...file, text: file.text.replaceAll("\r\n", "\n").replace(/(?<!\n)$/, "\n") };
  const parsed = orLoadError(() => parseYaml([unix]));
  const [root] = buildTree(parsed.events, parsed.text).roots;
  const edits = insertions.map((insertion) => {
    const node = insertion.path.reduce<YamlNode | undefined>(childOf, root);
    return { ...editOf(node, insertion, unix), insertion };
  });
  let { text } = unix;
  let result = file.text.replace(/(?<!\n)$/, lineBreak);
  // Where the other text has line breaks of two characters.
  const longBreaks = [...file.text.matchAll(/\r\n/g)].map(({ index }, before) => index - before);
  let [value] = constructValues(parsed) as Value[];
  // From the last to the first, so that the earlier offsets and indexes stay valid.
  for (const { at, added, insertion } of edits.reverse().sort((a, b) => b.at - a.at)) {
    text = text.slice(0, at) + added + text.slice(at);
    const place = at + longBreaks.filter((one) => one < at).length;
    result = result.slice(0, place) + added.replaceAll("\n", lineBreak) +
      result.slice(place);
    value = insertInto(value!, insertion.path, insertion);
  }
  if (!holds({ ...unix, text }, value!)) throw cannotAdd(file);
  return result;
}

function holds(file: Source, value: Value): boolean {
  try {
    const [read] = constructValues(parseYaml([file])) as Value[];
    return isEqual(read!, value);
  } catch (error) {
    if (error instanceof YamlFault) return false;
    throw error;
  }
}

function cannotAdd({ name }: Source): LoadError {
  return new LoadError(
    `cannot add to '${name}' without changing what is in it`,
    [],
    "it uses a form of YAML that cannot be added to; the file is left as it is",
  );
}

function childOf(node: YamlNode | undefined, key: string | number): YamlNode | undefined {
  if (node?.kind === "list") return node.items[Number(key)]?.value;
  if (node?.kind !== "map") return undefined;
  return node.pairs.find((pair) => pair.key.kind === "scalar" && pair.key.text === key)?.value;
}

interface Edit {
  readonly at: number;
  readonly added: string;
}

function editOf(node: YamlNode | undefined, insertion: Insertion, file: Source): Edit {
  const { text } = file;
  if (node && "isFlow" in node && node.isFlow) return flowEdit(node, insertion, file);
  if ("pairs" in insertion && node?.kind === "map" && node.pairs.length > 0) {
    const column = columnOf(text, node.pairs[0]!.key.start);
    const at = endOfNode(text, node.pairs.at(-1)!.value, column);
    return { at, added: indent(printYaml(insertion.pairs), column) };
  }
  if ("item" in insertion && node?.kind === "list" && node.items.length > 0) {
    const column = columnOf(text, node.items[0]!.dash);
    const item = node.items[insertion.after]!;
    const gap = isSpaced(text, node) ? "\n" : "";
    const added = gap + indent(insertion.text ?? printYaml([insertion.item]), column);
    return { at: endOfNode(text, item.value, column), added };
  }
  throw cannotAdd(file);
}

/** Adds to a collection in brackets, whose order does not matter if it is a mapping. */
function flowEdit(node: YamlList | YamlMap, insertion: Insertion, file: Source): Edit {
  const isLast = node.kind === "map"
    ? "pairs" in insertion
    : "item" in insertion && insertion.after === node.items.length - 1;
  if (!isLast) throw cannotAdd(file);
  const json = JSON.stringify(
    "pairs" in insertion ? insertion.pairs : [insertion.item],
    (_, value) => typeof value === "bigint" ? Number(value) : value,
  );
  const isEmpty = (node.kind === "map" ? node.pairs : node.items).length === 0;
  const at = file.text.slice(0, node.outerEnd - 1).trimEnd().length;
  return { at, added: `${isEmpty ? "" : ", "}${json.slice(1, -1)}` };
}

/** Whether blank lines separate the items of a list, as in files that the program makes. */
function isSpaced(text: string, { items }: YamlList): boolean {
  const [first, second] = items;
  return !second || /\n[ \t]*\n/.test(text.slice(first!.value.outerStart, second.dash));
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

/** The start of the line after a node, and after comments that are indented more than its column. */
function endOfNode(text: string, node: YamlNode, column: number): number {
  const end = text.slice(0, node.outerEnd).trimEnd().length;
  let at = text.indexOf("\n", end) + 1;
  const comment = new RegExp(`(?:[ \\t]*\\n)*[ \\t]{${column + 1},}#[^\\n]*\\n`, "y");
  for (comment.lastIndex = at; comment.test(text); at = comment.lastIndex);
  return at;
}

function indent(text: string, columns: number): string {
  return text.replace(/^(?=[^\n])/gm, " ".repeat(columns));
}

/** The same as data. */
function insertInto(
  value: Value,
  [key, ...rest]: Insertion["path"],
  insertion: Insertion,
): Value {
  if (key === undefined) {
    if ("pairs" in insertion) return { ...value as Dict, ...insertion.pairs };
    return (value as readonly Value[]).toSpliced(insertion.after + 1, 0, insertion.item);
  }
  if (Array.isArray(value)) {
    const index = Number(key);
    return value.with(index, insertInto(value[index], rest, insertion));
  }
  const dict = isDict(value) ? value : {};
  return { ...dict, [key]: insertInto(dict[key]!, rest, insertion) };
}
