import type { ActionContext, Dict } from "../../../action/action.ts";
import { onAbort } from "../../../action/on_abort.ts";
import { withHeaders } from "../request/with_headers.ts";
import { fetchToken, type Token } from "./fetch_token.ts";
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
export function openOauth2(oauth2: Dict, signIn: SignInContext): SignIn {
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
  oauth2: Dict,
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
  oauth2: Dict,
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
