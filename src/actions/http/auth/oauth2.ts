import type { ActionContext } from "../../../action/action.ts";
import { onAbort } from "../../../action/on_abort.ts";
import { StepError } from "../../../base/errors.ts";
import { BODY_LIMIT } from "../../../base/value/byte_size.ts";
import { type Dict, dictOf, type Value } from "../../../base/value/value.ts";
import { findExchangedSecrets } from "../../../secrets/find_secrets.ts";
import type { Oauth2 } from "../http_params.ts";
import { basicHeader, encodePairs } from "../request/http_syntax.ts";
import { bareUrl, type HttpRequest, requestHeaders, withHeaders } from "../request/read_request.ts";
import { readBody, readHead } from "../response/read_body.ts";
import type { SignIn, SignInContext } from "./sign_in.ts";

/** The token of some parameters, which all steps of a run with these parameters share. */
interface TokenSource {
  token?: Token;
  /** The request for a token that is under way. */
  pending?: Promise<Token>;
  /** The refresh token that replaces the first one. */
  refreshToken?: string;
}

/** The step that asked for a token was stopped, which must not fail other steps. */
class Abandoned extends Error {}

/** Signs in with a token of OAuth 2. */
export function openOauth2(oauth2: Oauth2, signIn: SignInContext): SignIn {
  const { context } = signIn;
  const sources = context.scope.run.resource(
    "http oauth2 tokens",
    () => new Map<string, TokenSource>(),
  );
  const key = JSON.stringify(Object.entries(oauth2).sort(([a], [b]) => a < b ? -1 : 1));
  let source = sources.get(key);
  if (!source) sources.set(key, source = {});
  const tokens = source;
  let used: string | undefined;
  let wasRefused = false;
  return {
    async sign(request) {
      used = (await getToken(tokens, oauth2, signIn)).value;
      return withHeaders(request, { Authorization: `Bearer ${used}` });
    },
    async again(request) {
      if (wasRefused) return undefined;
      wasRefused = true;
      context.log(`${request.url.host} refused the token (401); another one is fetched`);
      used = (await getToken(tokens, oauth2, signIn, used)).value;
      return withHeaders(request, { Authorization: `Bearer ${used}` });
    },
  };
}

/** A token that is valid and is not the one that was refused. */
async function getToken(
  source: TokenSource,
  oauth2: Oauth2,
  signIn: SignInContext,
  refused?: string,
): Promise<Token> {
  const { context } = signIn;
  const { clock } = context.host;
  for (;;) {
    const { token, pending } = source;
    if (token && token.value !== refused && clock.ticks() < token.until) return token;
    if (!pending) return await fetchShared(source, oauth2, signIn);
    try {
      const fetched = await unlessStopped(pending, context);
      // It was asked for after the other one was refused, even if the server repeats itself.
      if (clock.ticks() < fetched.until) return fetched;
    } catch (error) {
      if (!(error instanceof Abandoned)) throw error;
    }
  }
}

/** Fetches a token, which others that need it at the same time wait for. */
async function fetchShared(
  source: TokenSource,
  oauth2: Oauth2,
  signIn: SignInContext,
): Promise<Token> {
  const shared = Promise.withResolvers<Token>();
  shared.promise.catch(() => {});
  source.pending = shared.promise;
  try {
    const token = await fetchToken(oauth2, source.refreshToken, signIn);
    source.token = token;
    if (token.refreshToken !== undefined) source.refreshToken = token.refreshToken;
    shared.resolve(token);
    return token;
  } catch (error) {
    shared.reject(signIn.context.signal.aborted ? new Abandoned() : error);
    throw error;
  } finally {
    delete source.pending;
  }
}

/** Resolves like a promise, unless the attempt has to end before. */
async function unlessStopped<T>(promise: Promise<T>, { signal }: ActionContext): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const forget = onAbort(signal, (reason) => stopped.reject(reason));
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    forget();
  }
}

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
async function fetchToken(
  oauth2: Oauth2,
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
  const answer = dictOf(body);
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

function tokenRequest(oauth2: Oauth2): HttpRequest {
  const { grant, client_id: id, client_secret: secret, scope, audience, resource, send } = oauth2;
  const inHeader = secret !== undefined && send !== "body";
  const body = encodePairs("auth", {
    grant_type: grant,
    ...grant === "password" && { username: oauth2.username!, password: oauth2.password! },
    ...grant === "refresh_token" && { refresh_token: oauth2.refresh_token! },
    ...scope !== undefined && { scope: [scope].flat().join(" ") },
    ...audience !== undefined && { audience },
    ...resource !== undefined && { resource },
    ...!inHeader && { client_id: id, ...secret !== undefined && { client_secret: secret } },
  });
  const given = {
    "Content-Type": "application/x-www-form-urlencoded",
    Accept: "application/json",
    ...inHeader && { Authorization: basicHeader(formEncoded(id), formEncoded(secret)) },
  };
  const url = bareUrl(oauth2.token_url);
  const headers = requestHeaders("POST", url, given, { content: body });
  return { method: "POST", url, headers, body };
}

/** Encodes ID and secret for the header as RFC 6749 requires. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

function refusal({ url }: HttpRequest, status: string, answer: Dict, oauth2: Oauth2): StepError {
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
function hintFor(error: Value | undefined, { grant, send }: Oauth2): string | undefined {
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
