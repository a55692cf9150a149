import type { DataTemplate, Template } from "../../expr/expression.ts";
import { type Reference, valueReferences } from "../../expr/references.ts";
import { onlyExpression } from "../../expr/parse/tree.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { stepText } from "../../base/value/plain.ts";
import type { Dict } from "../../base/value/value.ts";
import { explainNil, fieldOf, type Reader } from "./explain_nil.ts";

/** The input of an attempt. */
export interface AttemptInput {
  /** The `with` of the step. */
  readonly template: DataTemplate;
  /** The same, rendered. */
  readonly params: Dict;
  /** The names that its expressions see. */
  readonly names: Readonly<Record<string, unknown>>;
}

/** More than this would not help to find the cause. */
const MOST_PARTS = 3;

/**
 * Says which parts of `with` came out nil, and why: such a part is left out or sent as null, and
 * may be the cause of what failed after it.
 */
export function nilPartsHint(
  reader: Reader,
  { template, params, names }: AttemptInput,
): string | undefined {
  const hints: string[] = [];
  for (const [path, part] of nilParts(template, params, ["with"])) {
    const why = reasonOf(reader, part, names);
    if (why !== undefined) hints.push(`${path.join(".")} is nil: ${why}`);
    if (hints.length >= MOST_PARTS) break;
  }
  return hints.length === 0 ? undefined : hints.join("; ");
}

/** Says why a parameter or a part of it is nil, where one is and the reason is known. */
export function nilParameterHint(
  reader: Reader,
  { template, params, names }: AttemptInput,
  parameter: string,
): string | undefined {
  for (const [path, part] of nilParts(template, params, [])) {
    if (path[0] !== parameter) continue;
    const why = reasonOf(reader, part, names);
    if (why !== undefined) return path.length === 1 ? why : `${path.join(".")} is nil: ${why}`;
  }
  return undefined;
}

function reasonOf(
  reader: Reader,
  template: Template,
  names: AttemptInput["names"],
): string | undefined {
  let only = onlyExpression(template);
  while (only?.type === "LogicalExpression" && only.operator === "??") only = only.right;
  const reads = only ? valueReferences(only) : [];
  const [first] = reads;
  if (!first) return undefined;
  const { isNil, absent } = follow(names, first);
  return explainNil(reader, reads, { isNil }) ?? absent;
}

/** The templates that gave nil. */
function* nilParts(
  part: DataTemplate,
  value: unknown,
  path: Path,
): Generator<readonly [Path, Template]> {
  switch (part.kind) {
    case "constant":
      return;
    case "template":
      if (value === null) yield [path, part.template];
      return;
    case "list":
      for (const [index, item] of part.items.entries()) {
        yield* nilParts(item, (value as readonly unknown[])[index], [...path, index]);
      }
      return;
    case "map":
      for (const [key, field] of part.entries) {
        yield* nilParts(field, (value as Dict)[key], [...path, key]);
      }
  }
}

/** Where `vars.db.host` leads: to nil, or no further than a key that is not there. */
function follow(
  names: AttemptInput["names"],
  { root, keys, isOpen }: Reference,
): { readonly isNil: boolean; readonly absent?: string } {
  let value = fieldOf(names, root);
  let owner = root;
  for (const { name } of keys) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { isNil: false };
    }
    if (!Object.hasOwn(value, name)) {
      const near = didYouMean(name, Object.keys(value));
      const what = `${owner} has no "${name}"`;
      return { isNil: false, absent: near === undefined ? what : `${what}; ${near}` };
    }
    value = fieldOf(value, name);
    owner += stepText(name);
  }
  return { isNil: value === null && !isOpen };
}
