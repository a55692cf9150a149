import { BODY_LIMIT } from "../../../base/value/byte_size.ts";
import { StepError } from "../../../base/errors.ts";
import { findExchangedSecrets } from "../../../secrets/find_secrets.ts";
import { type Dict, isDict, type Value } from "../../../base/value/value.ts";
import { encodePairs } from "../request/request_url.ts";
import { requestHeaders } from "../request/request_headers.ts";
import { bareUrl, type HttpRequest } from "../request/read_request.ts";
import { withHeaders } from "../request/with_headers.ts";
import { readBody } from "../response/read_body.ts";
import { readHead } from "../response/response.ts";
import { basicHeader } from "../request/http_syntax.ts";
import type { SignInContext } from "./sign_in.ts";

/** An access token. */
export interface Token {
  readonly value: string;
  /** Until when it is used, by the clock that only moves forward; before it expires. */
  readonly until: number;
  /** The refresh token that replaces the one that was sent. */
  readonly refreshToken: string | undefined;
}

/** A token is not used in the last seconds before it expires: requests take time. */
const MARGIN = 30;

/** Asks the authorization server for a token. */
export async function fetchToken(
  oauth2: Dict,
  refreshToken: string | undefined,
  { context, sendAuxiliary }: SignInContext,
): Promise<Token> {
  const request = tokenRequest(
    refreshToken === undefined ? oauth2 : { ...oauth2, refresh_token: refreshToken },
  );
  const began = context.host.clock.ticks();
  const reply = await sendAuxiliary(request);
  const head = readHead(reply);
  const { fields: { body } } = await readBody(reply, head, BODY_LIMIT, context);
  const answer = isDict(body) ? body : {};
  const { access_token: token, expires_in: seconds, refresh_token: next } = answer;
  for (const secret of [token, next]) if (typeof secret === "string") context.secrets.add(secret);
  findExchangedSecrets({ body: answer }, (text) => context.secrets.add(text));
  if (reply.code < 200 || reply.code > 299 || typeof token !== "string" || token === "") {
    throw refusal(request, head.status, answer, oauth2);
  }
  const lifetime = Number(seconds ?? Infinity);
  const margin = Math.min(MARGIN, lifetime / 10);
  return {
    value: token,
    until: Number.isNaN(lifetime) ? Infinity : began + (lifetime - margin) * 1000,
    refreshToken: typeof next === "string" && oauth2.grant === "refresh_token" ? next : undefined,
  };
}

function tokenRequest(oauth2: Dict): HttpRequest {
  const grant = oauth2.grant ?? "client_credentials";
  const { token_url: target, client_id: id, client_secret: secret, scope } = oauth2;
  const inHeader = isSet(secret) && oauth2.send !== "body";
  const fields: Record<string, Value> = { grant_type: grant };
  if (grant === "password") {
    fields.username = oauth2.username!;
    fields.password = oauth2.password!;
  }
  if (grant === "refresh_token") fields.refresh_token = oauth2.refresh_token!;
  if (isSet(scope)) fields.scope = [scope!].flat().join(" ");
  for (const name of ["audience", "resource"]) {
    if (isSet(oauth2[name])) fields[name] = oauth2[name]!;
  }
  if (!inHeader) {
    fields.client_id = id!;
    if (isSet(secret)) fields.client_secret = secret!;
  }
  const asked = {
    "Content-Type": "application/x-www-form-urlencoded",
    Accept: "application/json",
    ...inHeader ? { Authorization: basicHeader(formEncoded(id), formEncoded(secret)) } : {},
  };
  const body = encodePairs("auth", fields);
  const url = bareUrl(new URL(String(target)));
  const request = {
    method: "POST",
    url,
    headers: requestHeaders("POST", url, asked, undefined),
    body,
  };
  return withHeaders(request, { "Content-Length": String(body.length) });
}

function isSet(value: Value | undefined): boolean {
  return value !== undefined && value !== null;
}

/** Encodes ID and secret for the header as RFC 6749 requires. */
function formEncoded(value: Value | undefined): string {
  return new URLSearchParams([["", String(value)]]).toString().slice(1);
}

function refusal({ url }: HttpRequest, status: string, answer: Dict, oauth2: Dict): StepError {
  const { error, error_description: description } = answer;
  const reason = typeof error === "string"
    ? `${error}${typeof description === "string" ? `: ${description}` : ""} (${status})`
    : /^2/.test(status)
    ? `the response (${status}) has no "access_token"`
    : status;
  return new StepError(`cannot get a token from "${url}": ${reason}`, hintFor(error, oauth2), {
    parameter: "auth",
  });
}

/** Hints for error codes (RFC 6749). */
function hintFor(error: Value | undefined, { grant, send }: Dict): string | undefined {
  switch (error) {
    case "invalid_client": {
      const other = send === "body" ? "header" : "body";
      return `check client_id and client_secret; some servers want them with "send: ${other}"`;
    }
    case "invalid_grant":
      return grant === "refresh_token"
        ? "the refresh token may have expired or been used before"
        : "check username and password";
    case "invalid_scope":
      return 'check "scope"';
    case "unauthorized_client":
    case "unsupported_grant_type":
      return 'the client may not use this "grant"';
    default:
      return typeof error === "string" ? undefined : "check token_url";
  }
}
