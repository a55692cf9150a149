import type { Operation, Requirement, SecurityScheme } from "./api.ts";
import { joinTemplate, quoteText, snakeCase } from "../../draft/draft.ts";
import type { Variables } from "./variables.ts";

const NO_CREDENTIAL = quoteText("");

/** The credentials of a request: templates by the names of headers and query fields. */
export interface ApiCredentials {
  readonly headers: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
  /** Pairs of the `Cookie` header, to which others may be added. */
  readonly cookies: readonly string[];
}

/** A request without credentials. */
const NO_CREDENTIALS: ApiCredentials = { headers: new Map(), query: new Map(), cookies: [] };

/** Finds the credentials of operations, and collects the operations without usable ones. */
export class CredentialMaker {
  readonly #made = new Map<string, ApiCredentials | string>();
  /** Operations without usable credentials, by reason. */
  readonly refused = new Map<string, Operation[]>();

  constructor(
    readonly schemes: ReadonlyMap<string, SecurityScheme>,
    readonly variables: Variables,
  ) {}

  /** Credentials for the first security requirement that is supported. */
  credentialsOf(operation: Operation): ApiCredentials {
    let reason: string | undefined;
    for (const requirement of operation.security) {
      const key = JSON.stringify(requirement);
      const made = this.#made.get(key) ?? this.#make(requirement);
      this.#made.set(key, made);
      if (typeof made !== "string") return made;
      reason ??= made;
    }
    if (reason !== undefined) this.#refuse(reason, operation);
    return NO_CREDENTIALS;
  }

  #refuse(reason: string, operation: Operation): void {
    const known = this.refused.getOrInsertComputed(reason, () => []);
    if (!known.includes(operation)) known.push(operation);
  }

  /** The credentials of a requirement, or the reason why it is not supported. */
  #make(requirement: Requirement): ApiCredentials | string {
    const taken = new Set<string>();
    for (const name of requirement) {
      const scheme = this.schemes.get(name);
      if (!scheme) return `unknown security scheme "${name}"`;
      if (scheme.kind === "unknown") {
        return `the security scheme "${name}" has the unsupported type "${scheme.type}"`;
      }
      const slot = slotOf(scheme);
      if (taken.has(slot)) return "two security schemes need the same header";
      taken.add(slot);
    }
    const [headers, query] = [new Map<string, string>(), new Map<string, string>()];
    const cookies: string[] = [];
    for (const name of requirement) {
      const scheme = this.schemes.get(name)!;
      const expression = `vars.${this.#variableOf(name, scheme)}`;
      if (scheme.kind !== "key") {
        const word = scheme.kind === "basic" ? "Basic " : "Bearer ";
        headers.set("Authorization", joinTemplate([word, { expression }]));
      } else if (scheme.location === "cookie") {
        cookies.push(joinTemplate([`${scheme.name}=`, { expression }]));
      } else {
        const target = scheme.location === "header" ? headers : query;
        target.set(scheme.name, joinTemplate([{ expression }]));
      }
    }
    return { headers, query, cookies };
  }

  /** A scheme that is the only one of its kind has a simple name; several have their own names. */
  #variableOf(name: string, scheme: SecurityScheme): string {
    const alike = [...this.schemes.values()].filter(({ kind }) => kind === scheme.kind);
    const prefix = alike.length === 1 ? "api" : snakeCase(name) ?? "api";
    if (scheme.kind === "basic") return this.variables.basicCredentials(prefix);
    const full = /(?:token|key|secret)$/.test(prefix)
      ? prefix
      : `${prefix}_${scheme.kind === "key" ? "key" : "token"}`;
    return this.variables.fromEnvironment(full, NO_CREDENTIAL);
  }
}

/** The part of the request that only one scheme can fill. */
function slotOf(scheme: SecurityScheme): string {
  if (scheme.kind !== "key") return "header authorization";
  const { location, name } = scheme;
  return `${location} ${location === "header" ? name.toLowerCase() : name}`;
}

/** All headers of credentials; their cookies and those of the request are joined. */
export function headersOf(
  { headers, cookies }: ApiCredentials,
  others: readonly string[] = [],
): Map<string, string> {
  const all = new Map(headers);
  const pairs = [...cookies, ...others];
  if (pairs.length > 0) all.set("Cookie", pairs.join("; "));
  return all;
}
