import type { SecretSink } from "../../../action/action.ts";
import { StepError } from "../../../base/errors.ts";
import { isSecretHeader, withoutPassword } from "../../../secrets/secrets.ts";
import { fromByteString, readUrl } from "../request/http_syntax.ts";
import { bareUrl, type Headers, type HttpRequest } from "../request/read_request.ts";
import { findHeader, type RawResponse } from "../transport/model.ts";

/**
 * The request that a redirect asks for; undefined if it says nothing of where. Another origin gets
 * no header that has a secret name or holds a secret.
 */
export function redirectOf(
  request: HttpRequest,
  reply: RawResponse,
  secrets: SecretSink,
): HttpRequest | undefined {
  const location = locationOf(reply);
  if (location === undefined) return undefined;
  const url = resolve(request, location);
  const becomesGet = reply.code === 303
    ? request.method !== "GET" && request.method !== "HEAD"
    : (reply.code === 301 || reply.code === 302) && request.method === "POST";
  const isElsewhere = url.origin !== request.url.origin;
  const headers = keepHeaders(
    request.headers,
    (name, value) =>
      !(isElsewhere &&
        (name === "Host" || isSecretHeader(name) ||
          [value].flat().some((text) => secrets.find(text).length > 0))) &&
      !(becomesGet && name.startsWith("Content-")),
  );
  if (isElsewhere) headers.Host = url.host;
  if (becomesGet) return { method: "GET", url, headers };
  return { ...request, url, headers };
}

/** Where a redirect leads, as the server writes it. */
export function locationOf({ rawHeaders }: RawResponse): string | undefined {
  const location = findHeader(rawHeaders, "location");
  return location === undefined ? undefined : fromByteString(location);
}

function resolve({ method, url }: HttpRequest, location: string): URL {
  const text = URL.parse(location, url)?.href ?? location;
  const target = readUrl(text);
  if (target instanceof URL) return bareUrl(target);
  throw new StepError(
    `cannot follow the redirect of ${method} "${url}" to "${
      withoutPassword(location)
    }": ${target.message}`,
    target.hint,
  );
}

function keepHeaders(
  headers: Headers,
  keep: (name: string, value: Headers[string]) => boolean,
): Record<string, Headers[string]> {
  const kept: Record<string, Headers[string]> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) if (keep(name, value)) kept[name] = value;
  return kept;
}
