import { isSecretName } from "../../secrets/secrets.ts";
import type { Value } from "../../base/value/value.ts";
import {
  environmentName,
  joinTemplate,
  mapTexts,
  snakeCase,
  UniqueNames,
  writeText,
} from "../../draft/draft.ts";

/** Collects the `vars` of a workflow. */
export class Variables {
  readonly #names = new UniqueNames();
  readonly #values = new Map<string, Value>();
  /** Names by purpose, so that the same value has one variable. */
  readonly #known = new Map<string, string>();
  readonly #environment = new Set<string>();

  /** A value that users may change; the same name and value share a variable. */
  constant(name: string, value: Value, qualifier?: string): string {
    const plain = snakeCase(name) ?? "value";
    const key = `constant ${plain} ${JSON.stringify(value)}`;
    return this.#take(key, () => {
      const isFree = !this.#values.has(plain) && !GENERAL.has(plain);
      const longer = snakeCase(`${qualifier ?? ""}_${plain}`) ?? plain;
      return [isFree ? plain : longer, mapTexts(value, writeText) as Value];
    });
  }

  /** A value from the environment, or the value of a fallback expression. */
  fromEnvironment(name: string, fallback: string): string {
    const plain = snakeCase(name) ?? "value";
    return this.#take(
      `environment ${plain} ${fallback}`,
      () => [plain, (name) => this.readEnvironment(name, fallback)],
    );
  }

  /** A value from the environment; null, which is not sent, if it is not set. */
  optional(name: string): string {
    const plain = snakeCase(name) ?? "value";
    return this.#take(
      `optional ${plain}`,
      () => [`optional_${plain}`, this.readEnvironment(plain, "nil")],
    );
  }

  readEnvironment(name: string, fallback: string): string {
    const variable = environmentName(name);
    this.#environment.add(variable);
    return joinTemplate([{ expression: `${variable} ?? ${fallback}` }]);
  }

  /** An expression in `vars` that reads an environment variable, which must be set. */
  requireEnvironment(name: string): string {
    const variable = environmentName(name);
    this.#environment.add(variable);
    return variable;
  }

  /** User and password from the environment, encoded for basic authentication. */
  basicCredentials(name: string): string {
    const [user, password] = [
      environmentName(`${name}_username`),
      environmentName(`${name}_password`),
    ];
    return this.#take(`basic ${name}`, () => {
      for (const variable of [user, password]) this.#environment.add(variable);
      const pair = `(${user} ?? '') + ':' + (${password} ?? '')`;
      return [`${name}_credentials`, joinTemplate([{ expression: `encode_base64(${pair})` }])];
    });
  }

  /** All variables by name, in the order of the workflow. */
  all(): Record<string, Value> {
    return Object.fromEntries(this.#values);
  }

  /** The value of a variable; undefined if there is none of that name. */
  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  /** The environment variables that the workflow reads. */
  environment(): string[] {
    return [...this.#environment];
  }

  #take(key: string, make: () => [name: string, value: Value | ((name: string) => Value)]): string {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [wanted, value] = make();
    const name = this.#names.take(wanted);
    this.#values.set(name, typeof value === "function" ? value(name) : value);
    this.#known.set(key, name);
    return name;
  }
}

/** Names that are too general without a qualifier. */
const GENERAL: ReadonlySet<string> = new Set([
  "id",
  "uuid",
  "guid",
  "name",
  "slug",
  "key",
  "code",
  "number",
  "type",
  "version",
  "value",
]);

/** Whether a name is that of a secret, and not of an attribute such as `key_id`. */
export function namesSecret(name: string): boolean {
  const last = snakeCase(name)?.split("_").at(-1);
  return isSecretName(name) && last !== undefined && isSecretName(last);
}

/** The fallback for other secrets, such as the password of a new user. */
export const ANY_SECRET = "random_str(12)";
