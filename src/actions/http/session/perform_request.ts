import { readHead } from "../response/read_body.ts";
import type { ActionContext } from "../../../action/action.ts";
import type { Permissions } from "../../../action/permissions/permissions.ts";
import type { Trace } from "../../../base/trace.ts";
import { StepError } from "../../../base/errors.ts";
import type { Dict } from "../../../base/value/value.ts";
import { findExchangedSecrets } from "../../../secrets/find_secrets.ts";
import type { SignIn, SignInContext } from "../auth/sign_in.ts";
import type { ConnectionSettings } from "../connection/connection.ts";
import type { Auth } from "../http_params.ts";
import { basicHeader } from "../request/http_syntax.ts";
import { type HttpRequest, type RequestPlan, withHeaders } from "../request/read_request.ts";
import { Call, type HttpClient } from "../transport/client.ts";
import type { RawResponse } from "../transport/model.ts";
import { cookieRecords, Cookies } from "./step_cookies.ts";

/**
 * Opens the session of a step, once its request is allowed: at once where nothing is to be read or
 * loaded for it. `sender` sends its requests.
 */
export function openStep(
  plan: RequestPlan,
  connection: ConnectionSettings,
  client: HttpClient,
  sender: Sender,
  context: ActionContext,
): StepSender | Promise<StepSender> {
  const { request, cookies, auth } = plan;
  if (context.permissions || auth || cookies?.file !== undefined) {
    return openStepSlowly(plan, connection, client, sender, context);
  }
  const trace = plan.isTraced ? context.trace : undefined;
  return new StepSender(request, sender, trace, cookies && new Cookies(cookies, context));
}

async function openStepSlowly(
  plan: RequestPlan,
  connection: ConnectionSettings,
  client: HttpClient,
  sender: Sender,
  context: ActionContext,
): Promise<StepSender> {
  if (context.permissions) await checkRequest(context.permissions, plan.request);
  const sendAuth = (request: HttpRequest) =>
    sendAuxiliary(request, plan, connection, client, context);
  return await openSender(plan, sender, sendAuth, context);
}

/** Sends the request of a step and follows redirects. */
export function performRequest(
  plan: RequestPlan,
  session: StepSender,
  context: ActionContext,
): Promise<Followed> {
  const { maxRedirects, request: { url } } = plan;
  return session.send(plan.request).then((reply) => {
    if (maxRedirects !== undefined && isRedirect(reply)) {
      return follow(reply, maxRedirects, plan, session, context);
    }
    const followed = (cookies: readonly Dict[]) =>
      new Followed(reply, url.href, NO_REDIRECTS, cookies);
    const cookies = cookieRecords(reply, url);
    return cookies instanceof Promise ? cookies.then(followed) : followed(cookies);
  });
}

/** Sends an auxiliary request, with the timeout and the TLS options of the step. */
async function sendAuxiliary(
  request: HttpRequest,
  plan: RequestPlan,
  connection: ConnectionSettings,
  client: HttpClient,
  context: ActionContext,
): Promise<RawResponse> {
  if (context.permissions) await checkRequest(context.permissions, request);
  const { unixSocket, ...network } = connection;
  // The socket is that of one service, which is not the authorization server.
  const way = unixSocket === undefined ? connection : { ...network, id: `${connection.id} aside` };
  const call = new Call({ ...plan, request }, way, client, context);
  try {
    return await call.send(request);
  } finally {
    call.close();
  }
}

/** Where redirects led. */
export class Followed {
  constructor(
    readonly reply: RawResponse,
    readonly url: string,
    /** Each redirect, as steps see it. */
    readonly redirects: readonly Dict[],
    /** The cookies that all responses set. */
    readonly cookies: readonly Dict[],
  ) {}
}

const NO_REDIRECTS: readonly Dict[] = [];

/** Follows redirects to the first response that is not one. */
async function follow(
  first: RawResponse,
  maxRedirects: number,
  { request: original, cookies: use }: RequestPlan,
  session: StepSender,
  context: ActionContext,
): Promise<Followed> {
  const { locationOf, redirectOf } = await import("./redirect.ts");
  let reply = first;
  let request = original;
  const sent = [original];
  const redirects: Dict[] = [];
  const cookies: Dict[] = [];
  for (let followed = 0;; followed++) {
    // Only the last response is part of the result, whose secrets the run finds.
    findExchangedSecrets({ ...readHead(reply) }, (text) => context.secrets.add(text));
    cookies.push(...await cookieRecords(reply, request.url));
    const next = isRedirect(reply) ? redirectOf(request, reply, context.secrets) : undefined;
    if (!next) return { reply, url: request.url.href, redirects, cookies };
    if (followed >= maxRedirects) {
      const { method, url } = original;
      throw new StepError(
        `${method} "${url}" was redirected more than ${maxRedirects} times, the next to "${next.url}"`,
        sent.some((one) => isSame(one, next))
          ? `redirect loop; ${
            use?.isSent ? "" : "the server may expect a cookie: "
          }"follow_redirects: false" shows the redirect`
          : 'raise "max_redirects", or set "follow_redirects: false" to look at the redirect',
      );
    }
    if (context.permissions) await checkRedirect(context.permissions, request, next);
    redirects.push({
      code: reply.code,
      url: request.url.href,
      location: locationOf(reply) ?? "",
    });
    request = next;
    sent.push(next);
    reply = await session.send(request);
  }
}

/** Whether two requests must have the same answer: a form may redirect to its own page. */
function isSame(one: HttpRequest, other: HttpRequest): boolean {
  return one.method === other.method && one.url.href === other.url.href;
}

/** Throws if the permissions of the run do not allow the request. */
async function checkRequest(
  permissions: Permissions,
  { method, url }: HttpRequest,
  failure = `cannot send ${method} "${url}"`,
): Promise<void> {
  const { netDenial } = await import("../../../action/permissions/rules.ts");
  const refusal = netDenial(permissions, url);
  if (refusal) throw new StepError(`${failure}: ${refusal.message}`, refusal.hint);
}

async function checkRedirect(
  permissions: Permissions,
  from: HttpRequest,
  to: HttpRequest,
): Promise<void> {
  const failure = `cannot follow the redirect of ${from.method} "${from.url}" to "${to.url}"`;
  await checkRequest(permissions, to, failure);
}

/** Sends a request and returns its response. */
export interface Sender {
  send(request: HttpRequest): Promise<RawResponse>;
}

/** Sends the requests of a step with the cookies and the credentials that belong to them. */
export class StepSender implements Sender {
  /** The request of the step as it was sent last, before any redirect. */
  sent: HttpRequest;
  /** Whether it has headers that the step does not give. */
  added = false;
  readonly #original: HttpRequest;
  readonly #sender: Sender;
  readonly #trace: Trace | undefined;
  readonly #cookies: Cookies | undefined;
  #signIn: SignIn | undefined;

  constructor(
    original: HttpRequest,
    sender: Sender,
    trace?: Trace,
    cookies?: Cookies,
    signIn?: SignIn,
  ) {
    this.sent = original;
    this.#original = original;
    this.#sender = sender;
    this.#trace = trace;
    this.#cookies = cookies;
    this.#signIn = signIn;
  }

  send(request: HttpRequest): Promise<RawResponse> {
    const isFirst = request.url === this.#original.url;
    // The target of a redirect is chosen by another origin, even if it is the first origin again.
    if (!isFirst && request.url.origin !== this.#original.url.origin) this.#signIn = undefined;
    return this.#signIn
      ? this.#sendSigned(this.#signIn, request, isFirst)
      : this.#send(request, isFirst);
  }

  async #sendSigned(signIn: SignIn, request: HttpRequest, isFirst: boolean): Promise<RawResponse> {
    let signed = await signIn.sign(request);
    let reply = await this.#send(signed, isFirst);
    while (reply.code === 401) {
      const next = await signIn.again?.(signed, reply);
      if (!next) break;
      signed = next;
      reply = await this.#send(signed, isFirst);
    }
    return reply;
  }

  #send(request: HttpRequest, isFirst: boolean): Promise<RawResponse> {
    const cookies = this.#cookies;
    const header = cookies?.header(request.url, request.headers.Cookie);
    const traced = this.#trace?.header();
    const complete = header === undefined && !traced ? request : withHeaders(request, {
      ...header !== undefined && { Cookie: header },
      ...traced && { Traceparent: traced.traceparent },
    });
    if (isFirst) this.sent = complete;
    this.added = this.sent !== this.#original;
    const reply = this.#sender.send(complete);
    return cookies ? reply.then((reply) => cookies.keep(reply, request.url)) : reply;
  }
}

/** Opens the session of a step. `sendAuxiliary` sends auxiliary requests. */
async function openSender(
  { request, cookies: use, auth, isTraced }: RequestPlan,
  sender: Sender,
  sendAuxiliary: (request: HttpRequest) => Promise<RawResponse>,
  context: ActionContext,
): Promise<StepSender> {
  const cookies = use && new Cookies(use, context);
  if (use?.file !== undefined) await cookies!.readFile(use.file);
  const trace = isTraced ? context.trace : undefined;
  if (!auth) return new StepSender(request, sender, trace, cookies);
  const signIn = await openSignIn(auth, request, { context, sendAuxiliary });
  return new StepSender(request, sender, trace, cookies, signIn);
}

/** Opens the sign-in that the parameter `auth` describes; undefined if nothing is to be sent. */
async function openSignIn(
  { basic, bearer, digest, oauth2, aws, netrc }: Auth,
  request: HttpRequest,
  signIn: SignInContext,
): Promise<SignIn | undefined> {
  if (basic) return always(basicHeader(basic.username, basic.password));
  if (bearer !== undefined) return always(`Bearer ${bearer}`);
  if (digest) return (await import("../auth/sign_in.ts")).openDigest(digest, signIn);
  if (oauth2) return (await import("../auth/oauth2.ts")).openOauth2(oauth2, signIn);
  if (aws) return (await import("../auth/sign_in.ts")).openAws(aws);
  if (!netrc) return undefined;
  // Credentials in the URL are closer to the request.
  if (request.headers.Authorization !== undefined) return undefined;
  const { readNetrc } = await import("../auth/sign_in.ts");
  const login = await readNetrc(request.url, signIn.context);
  return login && always(basicHeader(login.username, login.password));
}

function always(authorization: string): SignIn {
  return { sign: (request) => withHeaders(request, { Authorization: authorization }) };
}

function isRedirect({ code }: RawResponse): boolean {
  return REDIRECTS.includes(code);
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
