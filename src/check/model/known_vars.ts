import type { DataTemplate } from "../../expr/expression.ts";
import { assertNever } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import { hasOpenEntries, keysOf, listedEntries } from "../../workflow/step_facts.ts";
import type { Reading } from "./check_model.ts";

/** The possible sources of a value in `vars`. */
export type VarSource =
  /** It is there, or may be. */
  | { readonly kind: "there" }
  /** There is no value under the key at that index. */
  | { readonly kind: "nothing"; readonly index: number; readonly among: () => readonly string[] }
  /** The key at that index is read of a value without keys. */
  | { readonly kind: "no map"; readonly index: number };

const THERE: VarSource = { kind: "there" };

/** Looks a reading up in the vars of the workflow, those of the step, and the entries of it. */
export function findKnownVar(vars: DataTemplate, reading: Reading): VarSource {
  const { step, field, keys } = reading;
  // Each of these sees what was merged before it.
  const own = step?.draft.vars && field !== "vars" ? [vars, step.draft.vars] : [vars];
  const seesEntry = step !== undefined && field !== "vars" && field !== "iteration";
  if (seesEntry && hasOpenEntries(step.draft)) return THERE;
  const entries = seesEntry ? listedEntries(step.draft) : [];
  if (entries.length === 0) return look(own, keys);
  let first: VarSource | undefined;
  for (const entry of entries) {
    const found = look([...own, entry], keys);
    if (found.kind === "there") return THERE;
    first ??= found;
  }
  return first ?? THERE;
}

/** Looks into maps that lie over each other, the last on top. */
function look(layers: readonly DataTemplate[], keys: Reading["keys"]): VarSource {
  let current = layers;
  for (const [index, { name }] of keys.entries()) {
    const maps: DataTemplate[] = [];
    for (const layer of current.toReversed()) {
      const shape = shapeOf(layer);
      if (shape === "unknown") return THERE;
      if (shape === "map") maps.unshift(layer);
      else if (maps.length === 0) return { kind: "no map", index };
      // A value that is not a map hides what is below it.
      else break;
    }
    const next = maps.flatMap((layer) => fieldOf(layer, name) ?? []);
    if (next.length === 0) return { kind: "nothing", index, among: () => maps.flatMap(keysOf) };
    current = next;
  }
  return THERE;
}

function shapeOf(data: DataTemplate): "map" | "no map" | "unknown" {
  switch (data.kind) {
    case "map":
      return "map";
    case "constant":
      if (isDict(data.value)) return "map";
      // nil may be a placeholder; reading on from a list is reported when it runs.
      return data.value === null || typeof data.value === "object" ? "unknown" : "no map";
    case "list":
    case "template":
      return "unknown";
    default:
      return assertNever(data);
  }
}

type Entries = Extract<DataTemplate, { readonly kind: "map" }>["entries"];

/** The fields of maps with many of them are looked up many times. */
const FIELDS = new WeakMap<Entries, ReadonlyMap<string, DataTemplate>>();

function fieldOf(data: DataTemplate, key: string): DataTemplate | undefined {
  if (data.kind === "map") {
    let fields = FIELDS.get(data.entries);
    if (!fields) FIELDS.set(data.entries, fields = new Map(data.entries));
    return fields.get(key);
  }
  if (data.kind !== "constant" || !isDict(data.value)) return undefined;
  const value = Object.hasOwn(data.value, key) ? data.value[key] : undefined;
  return value === undefined ? undefined : { kind: "constant", value };
}
