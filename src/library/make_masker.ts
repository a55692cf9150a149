import { addSecretsOf } from "../run/secrets.ts";
import { Masker } from "../value/masker.ts";

/** Knows what has a secret name in any of these. */
export function makeMasker(given: readonly Readonly<Record<string, unknown>>[]): Masker {
  const masker = new Masker();
  for (const values of given) addSecretsOf(values, masker);
  return masker;
}
