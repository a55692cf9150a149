import { isSecretName } from "../../value/secrets.ts";
import type { Value } from "../../value/value.ts";
import { joinTemplate, literalText, quoteText } from "./literal.ts";
import { environmentName, snakeCase, UniqueNames } from "../read/names.ts";

/** The `vars` of a workflow while it is being made. */
export class Variables {
  readonly #names = new UniqueNames();
  readonly #values = new Map<string, Value>();
  /** Names by what they are for, so that the same thing has one variable. */
  readonly #known = new Map<string, string>();
  readonly #environment = new Set<string>();

  /** A value that the user may change; the same name and value are one variable. */
  constant(name: string, value: Value, qualifier?: string): string {
    const plain = snakeCase(name) ?? "value";
    const key = `constant ${plain} ${JSON.stringify(value)}`;
    return this.#take(key, () => {
      const isFree = !this.#values.has(plain) && !GENERAL.has(plain);
      const longer = snakeCase(`${qualifier ?? ""}_${plain}`) ?? plain;
      return [isFree ? plain : longer, literalValue(value)];
    });
  }

  /** A value from the environment, or what an expression gives where it is not set. */
  fromEnvironment(name: string, fallback: string): string {
    const plain = snakeCase(name) ?? "value";
    return this.#take(`environment ${plain}`, () => [plain, this.readEnvironment(plain, fallback)]);
  }

  /** A value from the environment; null, which is not sent, where it is not set. */
  optional(name: string): string {
    const plain = snakeCase(name) ?? "value";
    return this.#take(
      `optional ${plain}`,
      () => [`optional_${plain}`, this.readEnvironment(plain, "nil")],
    );
  }

  /** The template that reads the environment in the value of a variable. */
  readEnvironment(name: string, fallback: string): string {
    const variable = environmentName(name);
    this.#environment.add(variable);
    return joinTemplate([{ expression: `${variable} ?? ${fallback}` }]);
  }

  /** User and password from the environment, as HTTP wants them. */
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

  /** All variables by name, as they stand in the workflow. */
  all(): Record<string, Value> {
    return Object.fromEntries(this.#values);
  }

  /** What a variable is; undefined where there is none of that name. */
  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  /** The environment variables that they read. */
  environment(): string[] {
    return [...this.#environment];
  }

  #take(key: string, make: () => [name: string, value: Value]): string {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [wanted, value] = make();
    const name = this.#names.take(wanted);
    this.#values.set(name, value);
    this.#known.set(key, name);
    return name;
  }
}

/** Names that say nothing without what they belong to. */
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

/** Data whose texts render to themselves. */
export function literalValue(value: Value): Value {
  if (typeof value === "string") return literalText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(literalValue);
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, literalValue(field)]),
  );
}

/** Whether the value of a name is a secret, and not only something about one like `key_id`. */
export function namesSecret(name: string): boolean {
  const last = snakeCase(name)?.split("_").at(-1);
  return isSecretName(name) && last !== undefined && isSecretName(last);
}

/** What stands for credentials that nobody has set. */
export const NO_CREDENTIAL = quoteText("");

/** What stands for other secrets that nobody has set, such as the password of a new user. */
export const ANY_SECRET = "random_str(12)";
