import { joinTemplate, literalText } from "./literal.ts";
import type { Operation, Requirement, SecurityScheme } from "./model.ts";
import { snakeCase } from "./names.ts";
import { NO_CREDENTIAL, type Variables } from "./variables.ts";

/** What a request carries to be let in: templates by the names of headers and of the query. */
export interface Credentials {
  readonly headers: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
  /** Pairs of the `Cookie` header, which may have others beside them. */
  readonly cookies: readonly string[];
}

/** A request that needs nothing to be let in. */
export const NO_CREDENTIALS: Credentials = { headers: new Map(), query: new Map(), cookies: [] };

/** Finds the credentials of operations, and notes the schemes that it does not know. */
export class CredentialMaker {
  readonly #made = new Map<string, Credentials | undefined>();
  readonly unknown = new Map<string, string>();

  constructor(
    readonly schemes: ReadonlyMap<string, SecurityScheme>,
    readonly variables: Variables,
  ) {}

  /** For the first of the ways to be let in that can be gone. */
  credentialsOf({ security }: Operation): Credentials {
    for (const requirement of security) {
      const key = JSON.stringify(requirement);
      if (!this.#made.has(key)) this.#made.set(key, this.#make(requirement));
      const credentials = this.#made.get(key);
      if (credentials) return credentials;
    }
    return NO_CREDENTIALS;
  }

  #make(requirement: Requirement): Credentials | undefined {
    const [headers, query] = [new Map<string, string>(), new Map<string, string>()];
    const cookies: string[] = [];
    const known = requirement.flatMap((name) => {
      const scheme = this.schemes.get(name) ?? { kind: "unknown", type: "none" };
      if (scheme.kind !== "unknown") return [{ name, scheme }];
      this.unknown.set(name, scheme.type);
      return [];
    });
    if (known.length < requirement.length) return undefined;
    const taken = new Set<string>();
    for (const { name, scheme } of known) {
      const place = scheme.kind === "key" ? `${scheme.place} ${scheme.name}` : HEADER;
      // Two of them cannot stand in the same place.
      if (taken.has(place.toLowerCase())) return undefined;
      taken.add(place.toLowerCase());
      const expression = `vars.${this.#variableOf(name, scheme)}`;
      if (scheme.kind !== "key") {
        const word = scheme.kind === "basic" ? "Basic " : "Bearer ";
        headers.set("Authorization", joinTemplate([word, { expression }]));
      } else if (scheme.place === "cookie") {
        cookies.push(joinTemplate([`${scheme.name}=`, { expression }]));
      } else {
        const target = scheme.place === "header" ? headers : query;
        target.set(scheme.name, joinTemplate([{ expression }]));
      }
    }
    return { headers, query, cookies };
  }

  /** Alone of its kind, a scheme has a simple name; its own name where there are several. */
  #variableOf(name: string, scheme: SecurityScheme): string {
    const alike = [...this.schemes.values()].filter(({ kind }) => kind === scheme.kind);
    const own = alike.length === 1 ? "api" : snakeCase(name) ?? "api";
    if (scheme.kind === "basic") return this.variables.basicCredentials(own);
    const ending = scheme.kind === "key" ? "key" : "token";
    const full = own.endsWith(ending) ? own : `${own}_${ending}`;
    return this.variables.fromEnvironment(full, NO_CREDENTIAL);
  }
}

const HEADER = "header Authorization";

/** What a step adds to its headers, given those of the defaults of its job. */
export function headersOver(
  own: ReadonlyMap<string, string>,
  defaults: ReadonlyMap<string, string>,
): Record<string, string | null> {
  const headers: [string, string | null][] = [];
  for (const [name, value] of own) {
    if (defaults.get(name) !== value) headers.push([name, value]);
  }
  // Null leaves out what the defaults would send.
  for (const name of defaults.keys()) if (!own.has(name)) headers.push([name, null]);
  return Object.fromEntries(headers);
}

/** All headers of credentials, with their cookies and those of a request in one. */
export function headersOf(
  { headers, cookies }: Credentials,
  others: readonly string[] = [],
): Map<string, string> {
  const all = new Map(headers);
  const pairs = [...cookies, ...others];
  if (pairs.length > 0) all.set("Cookie", pairs.join("; "));
  return all;
}

/** The text of a header that is no template. */
export function headerText(text: string): string {
  return literalText(text.replace(/[\r\n]+/g, " "));
}
