import type { DataTemplate } from "../../expr/expression.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Path } from "../../source/source.ts";
import { didYouMean } from "../../source/suggest.ts";
import type { Dict } from "../../value/value.ts";
import { absentOutputsHint } from "./absent_outputs.ts";
import { missingOutputsHint } from "./missing_outputs.ts";
import { readOutputs } from "./output_reads.ts";
import { fieldOf, keysOf } from "./read_path.ts";
import { unsetVariableHint } from "./unset_variables.ts";

/** What an attempt gave to its action. */
export interface AttemptInput {
  /** The `with` of the step. */
  readonly template: DataTemplate;
  /** The same, rendered. */
  readonly params: Dict;
  /** What its expressions see. */
  readonly names: Readonly<Record<string, unknown>>;
}

/** More than this would not help to find the cause. */
const MOST_PARTS = 3;

/**
 * Says which parts of `with` came out nil, and why: such a part is left out or sent as null, and
 * may be the cause of what failed after it.
 */
export function nilPartsHint(
  plan: Plan | undefined,
  owner: Path,
  { template, params, names }: AttemptInput,
): string | undefined {
  const hints: string[] = [];
  for (const [path, source] of nilParts(template, params, ["with"])) {
    const why = reasonOf(plan, owner, source, names);
    if (why !== undefined) hints.push(`${path.join(".")} is nil: ${why}`);
    if (hints.length >= MOST_PARTS) break;
  }
  return hints.length === 0 ? undefined : hints.join("; ");
}

/** Says why a parameter is nil, where it is and that can be told. */
export function nilParameterHint(
  plan: Plan | undefined,
  owner: Path,
  { template, params, names }: AttemptInput,
  parameter: string,
): string | undefined {
  for (const [path, source] of nilParts(template, params, [])) {
    if (path.length === 1 && path[0] === parameter) return reasonOf(plan, owner, source, names);
  }
  return undefined;
}

function reasonOf(
  plan: Plan | undefined,
  owner: Path,
  source: string,
  names: AttemptInput["names"],
): string | undefined {
  const read = source.replace(/^\s*\{\{\s*|\s*\}\}\s*$/g, "");
  const { isNil = false, absent } = follow(names, read);
  return (plan && outsideReason(plan, owner, read, isNil)) ?? absent;
}

function outsideReason(
  plan: Plan,
  owner: Path,
  read: string,
  isNil: boolean,
): string | undefined {
  return unsetVariableHint(plan, owner, read) ?? missingOutputsHint(plan, read) ??
    absentOutputsHint(plan.workflow.jobs, owner, readOutputs(read), isNil);
}

/** The templates that are one expression and gave nil. */
function* nilParts(
  part: DataTemplate,
  value: unknown,
  path: Path,
): Generator<readonly [Path, string]> {
  switch (part.kind) {
    case "constant":
      return;
    case "template":
      if (value === null) yield [path, part.template.source];
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

/** What may stand behind names that are read, where nil is meant. */
const MEANT = /^\s*(?:\?\?\s*nil\s*)?$/;

/** Where `vars.db.host` leads: to nil, or no further than a key that is not there. */
function follow(
  names: AttemptInput["names"],
  read: string,
): { readonly isNil?: boolean; readonly absent?: string } {
  const root = /^\w+/.exec(read)?.[0] ?? "";
  let value = fieldOf(names, root);
  let at = root.length;
  for (const { key, start, end } of keysOf(read, at)) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
    if (!Object.hasOwn(value, key)) {
      const near = didYouMean(key, Object.keys(value));
      const what = `${read.slice(0, start)} has no "${key}"`;
      return { absent: near === undefined ? what : `${what}; ${near}` };
    }
    value = fieldOf(value, key);
    at = end;
  }
  return { isNil: value === null && MEANT.test(read.slice(at)) };
}
