import { addSecretsOf } from "../../run/mask/secrets.ts";
import type { Masker } from "../../value/masker.ts";
import type { Dict } from "../../value/value.ts";

/**
 * Takes secrets out of the names of jobs and steps, those that the `vars` around them hold too,
 * which the masker learns.
 */
export function makeNameMask(masker: Masker): (name: string, vars: Dict) => string {
  const known = new Set<Dict>();
  return (name, vars) => {
    if (!known.has(vars)) addSecretsOf(vars, masker);
    known.add(vars);
    return masker.mask(name);
  };
}
