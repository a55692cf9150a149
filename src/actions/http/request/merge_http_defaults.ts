import { type Dict, isDict, mergeDicts, type Value } from "../../../base/value/value.ts";
import { SAME_MEANING } from "./http_syntax.ts";

/**
 * The parameters of a step laid over the defaults of its job: key by key, also in nested objects.
 * Names of headers ignore case, and a step's method in any form beats one from the defaults. How a
 * step signs in, by `auth` or by the header, replaces both in the defaults as a whole.
 */
export function mergeHttpDefaults(defaults: Dict, params: Dict): Dict {
  const hasAuth = Object.hasOwn(params, "auth");
  const kept = Object.entries(defaults).filter(([key]) =>
    !(key === "auth" && (hasAuth || hasAuthorization(params.headers))) &&
    !SAME_MEANING.some(({ names }) =>
      names.includes(key) && names.some((other) => isGiven(params, other))
    )
  );
  const base: Record<string, Value> = Object.create(null);
  for (const [key, value] of kept) base[key] = value;
  if (hasAuth && isDict(base.headers)) base.headers = withoutAuthorization(base.headers);
  // A step says what differs about the description of its job.
  if (isDict(params.openapi) && typeof base.openapi === "string") {
    base.openapi = { file: base.openapi };
  }
  const merged = mergeDicts(base, params);
  const inherited = base.headers;
  const headers = params.headers;
  if (!isDict(inherited) || !isDict(headers)) return merged;
  return { ...merged, headers: mergeHeaders(inherited, headers) };
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === "authorization";
}

function hasAuthorization(headers: Value | undefined): boolean {
  return isDict(headers) && Object.keys(headers).some(isAuthorization);
}

function withoutAuthorization(headers: Dict): Dict {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isAuthorization(name)));
}

/** A parameter that is null counts as not given. */
function isGiven(params: Dict, key: string): boolean {
  return Object.hasOwn(params, key) && params[key] !== null;
}

function mergeHeaders(inherited: Dict, params: Dict): Dict {
  const names = new Set(Object.keys(params).map((name) => name.toLowerCase()));
  const merged: Record<string, Value> = Object.create(null);
  for (const [name, value] of Object.entries(inherited)) {
    if (!names.has(name.toLowerCase())) merged[name] = value;
  }
  for (const [name, value] of Object.entries(params)) merged[name] = value;
  return merged;
}
