import type { DagOptions } from "../../dag/make_dag.ts";
import type { Plan } from "../../plan/plan.ts";
import { addSecretsOf, addSecretValue } from "../../secrets/add_secrets.ts";
import type { Masker } from "../../secrets/masker.ts";
import type { Dict } from "../../base/value/value.ts";

/**
 * Takes secrets out of the names of jobs and steps, also those in the `vars` around them and those
 * that expressions name. The masker learns them.
 */
export function makeNameMask({ secrets }: Plan, masker: Masker): Required<DagOptions> {
  const addSecret: DagOptions["addSecret"] = (value) => addSecretValue(value, masker);
  for (const value of secrets) addSecret(value);
  const known = new Set<Dict>();
  return {
    addSecret,
    mask(name, vars) {
      if (!known.has(vars)) addSecretsOf(vars, masker);
      known.add(vars);
      return masker.mask(name);
    },
  };
}
