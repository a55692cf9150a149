import { findExchangedSecrets, findVariableSecrets, type MessageField } from "./find_secrets.ts";
import { Masker } from "./masker.ts";
import { SHORTEST_ISSUED } from "./secrets.ts";
import { type Dict, isNumber, type Value } from "../base/value/value.ts";

/** Knows what has a secret name in any of these. */
export function makeMasker(sources: readonly Readonly<Record<string, unknown>>[]): Masker {
  const masker = new Masker();
  for (const values of sources) addSecretsOf(values, masker);
  return masker;
}

/** Adds the secrets among variables: see `findVariableSecrets`. */
export function addSecretsOf(values: Readonly<Record<string, unknown>>, masker: Masker): void {
  findVariableSecrets(values, (text, shortest) => masker.add(text, shortest));
}

/** Adds the secrets among outputs of a step. */
export function addOutputSecrets(values: Dict, masker: Masker): void {
  findVariableSecrets(values, (text, shortest) => masker.add(text, shortest), SHORTEST_ISSUED);
}

/** Adds the secrets in a message. An action may know its fields. */
export type AddExchangedSecrets = (data: Dict, fields?: readonly MessageField[]) => void;

/** Adds the secrets in what actions were sources, sent or received: see `findExchangedSecrets`. */
export function exchangedSecretsAdder(masker: Masker): AddExchangedSecrets {
  // A request without templates is the same in every round; what is received never is.
  const seen = new WeakSet<Dict>();
  return (data, fields) => {
    if (!fields) {
      if (seen.has(data)) return;
      seen.add(data);
    }
    findExchangedSecrets(data, (text, shortest) => masker.add(text, shortest), fields);
  };
}

/** An explicit secret may be as short as a PIN. */
const SHORTEST_SAID = 4;

/** Adds a value that an expression declares secret, with everything inside it. */
export function addSecretValue(value: Value, masker: Masker): void {
  const seen = new Set<object>();
  const add = (value: Value) => {
    if (typeof value === "string" || isNumber(value)) {
      masker.add(String(value), SHORTEST_SAID);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const part of Object.values(value)) add(part);
    }
  };
  add(value);
}

/** The secrets in a value that a masker knows, with everything inside it. */
export function* secretsIn(value: Value, masker: Masker): Iterable<string> {
  if (typeof value === "string" || isNumber(value)) {
    const text = String(value);
    for (const { start, end } of masker.find(text)) yield text.slice(start, end);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) yield* secretsIn(part, masker);
  }
}
