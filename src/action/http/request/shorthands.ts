import type { Alternatives, Dict } from "../../action.ts";

/** Parameters that give the method and where it goes in one: `get: /pets`. */
export const SHORTHANDS = ["get", "post", "put", "patch", "delete", "head", "options"] as const;

/** Parameters that say the same thing, so that one of a step takes the place of all defaults. */
export const SAME_MEANING: readonly Alternatives[] = [
  { names: ["method", ...SHORTHANDS], required: true },
  { names: ["verify_ssl", "insecure"] },
];

/** The parameters in `params` that say which method to use; one is right. */
export function methodKeys(params: Dict): string[] {
  return ["method", ...SHORTHANDS].filter((key) =>
    Object.hasOwn(params, key) && params[key] !== null
  );
}
