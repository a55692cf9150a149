import { typeMeantBy } from "../../../base/other_tools.ts";
import { didYouMean } from "../../../base/text/suggest.ts";
import { typeName, type Value } from "../../../base/value/value.ts";
import { makeMatcher } from "../../../base/value/matcher.ts";
import { Fault } from "../../fault.ts";
import { defineNew } from "../function.ts";

/** Functions that say in an expected value what may be there. */
export const MATCHER_FUNCTIONS = [
  defineNew(
    "anything()",
    "In an expected value: any value, nil too, if there is one.",
    () => makeMatcher({ kind: "anything" }),
  ),
  defineNew(
    "is_type(name: string)",
    "In an expected value: any value of a type of `type()`, or of `integer`, `number`, `boolean` or `list`.",
    (_, name: string) => {
      const problem = typeProblem(name);
      if (problem !== undefined) throw new Fault(problem);
      return makeMatcher({ kind: "is_type", type: name });
    },
    undefined,
    { position: 0, problem: typeProblem },
  ),
  defineNew(
    "unordered(list: list)",
    "In an expected value: a list of these items in any order.",
    (_, items: readonly Value[]) => makeMatcher({ kind: "unordered", items }),
  ),
] as const;

const TYPES: ReadonlyMap<string, readonly ReturnType<typeof typeName>[]> = new Map([
  ["nil", ["nil"]],
  ["bool", ["bool"]],
  ["int", ["int"]],
  ["float", ["float"]],
  ["string", ["string"]],
  ["array", ["array"]],
  ["map", ["map"]],
  ["integer", ["int"]],
  ["number", ["int", "float"]],
  ["boolean", ["bool"]],
  ["list", ["array"]],
]);

/** The types that `is_type()` takes. */
export const TYPE_NAMES: readonly string[] = [...TYPES.keys()];

/** Whether a value is of a type that `is_type()` takes. */
export function isOfNamedType(value: Value, name: string): boolean {
  return TYPES.get(name)?.includes(typeName(value)) ?? false;
}

function typeProblem(name: string): string | undefined {
  if (TYPES.has(name)) return undefined;
  const other = typeMeantBy(name);
  const hint = other === undefined ? didYouMean(name, TYPES.keys()) : `write "${other}"`;
  const types = `the types are ${[...TYPES.keys()].join(", ")}`;
  return `unknown type "${name}" in is_type(): ${hint ?? types}`;
}
