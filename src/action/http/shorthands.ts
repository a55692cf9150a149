import type { Dict } from "../action.ts";

/** Parameters that give the method and where it goes in one: `get: /pets`. */
export const SHORTHANDS = ["get", "post", "put", "patch", "delete", "head", "options"] as const;

/** The parameters in `params` that say which method to use; one is right. */
export function methodKeys(params: Dict): string[] {
  return ["method", ...SHORTHANDS].filter((key) =>
    Object.hasOwn(params, key) && params[key] !== null
  );
}
