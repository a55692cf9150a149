import { StepError } from "../../../base/errors.ts";
import { findExchangedSecrets } from "../../../secrets/find_secrets.ts";
import type { ActionContext, Dict } from "../../../action/action.ts";
import type { Permissions } from "../../../action/permissions/permissions.ts";
import type { Connection } from "../connection/connection.ts";
import { fromByteString } from "../request/http_syntax.ts";
import type { HttpRequest, RequestPlan } from "../request/read_request.ts";
import { readHead } from "../response/response.ts";
import { Call } from "../transport/call.ts";
import { isRedirect, redirectOf } from "../transport/redirects.ts";
import type { HttpClient } from "../transport/client.ts";
import { findHeader, type RawResponse } from "../transport/model.ts";
import { cookieRecords, Cookies } from "./cookies.ts";
import { openSession, type Sender, StepSession } from "./step_session.ts";

/**
 * Opens the session of a step, once its request is allowed: at once where nothing is to be read or
 * loaded for it. `sender` sends its requests.
 */
export function openStep(
  plan: RequestPlan,
  connection: Connection,
  client: HttpClient,
  sender: Sender,
  context: ActionContext,
): StepSession | Promise<StepSession> {
  const { request, cookies, auth } = plan;
  if (context.permissions || auth || cookies?.file !== undefined) {
    return openStepSlowly(plan, connection, client, sender, context);
  }
  return new StepSession(request, sender, cookies && new Cookies(cookies, context));
}

async function openStepSlowly(
  plan: RequestPlan,
  connection: Connection,
  client: HttpClient,
  sender: Sender,
  context: ActionContext,
): Promise<StepSession> {
  if (context.permissions) await checkRequest(context.permissions, plan.request);
  const sendAuth = (request: HttpRequest) =>
    sendAuxiliary(request, plan, connection, client, context);
  return await openSession(plan, sender, sendAuth, context);
}

/** Sends the request of a step and follows redirects. */
export function performRequest(
  plan: RequestPlan,
  session: StepSession,
  context: ActionContext,
): Promise<Followed> {
  const { maxRedirects, request: { url } } = plan;
  return session.send(plan.request).then((reply) => {
    if (maxRedirects !== undefined && isRedirect(reply)) {
      return follow(reply, maxRedirects, plan, session, context);
    }
    const followed = (cookies: readonly Dict[]) => ({
      reply,
      url: url.href,
      redirects: [],
      cookies,
    });
    const cookies = cookieRecords(reply, url);
    return cookies instanceof Promise ? cookies.then(followed) : followed(cookies);
  });
}

/** A request after its session has added headers to it. */
export function asSent(req: Dict, session: StepSession | undefined): Dict {
  if (!session?.added) return req;
  const { url, headers } = session.sent;
  return { ...req, url: url.href, headers };
}

/** Sends an auxiliary request, with the timeout and the TLS options of the step. */
async function sendAuxiliary(
  request: HttpRequest,
  plan: RequestPlan,
  connection: Connection,
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
export interface Followed {
  readonly reply: RawResponse;
  readonly url: string;
  /** Each redirect, as steps see it. */
  readonly redirects: readonly Dict[];
  /** The cookies that all responses set. */
  readonly cookies: readonly Dict[];
}

/** Follows redirects to the first response that is not one. */
async function follow(
  first: RawResponse,
  maxRedirects: number,
  { request: asked, cookies: use }: RequestPlan,
  session: StepSession,
  context: ActionContext,
): Promise<Followed> {
  let reply = first;
  let request = asked;
  const sent = [asked];
  const redirects: Dict[] = [];
  const cookies: Dict[] = [];
  for (let followed = 0;; followed++) {
    // Only the last response is part of the result, whose secrets the run finds.
    findExchangedSecrets({ ...readHead(reply) }, (text) => context.secrets.add(text));
    cookies.push(...await cookieRecords(reply, request.url));
    const next = redirectOf(request, reply, context.secrets);
    if (!next) return { reply, url: request.url.href, redirects, cookies };
    if (followed >= maxRedirects) {
      const { method, url } = asked;
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
      location: fromByteString(findHeader(reply.rawHeaders, "location") ?? ""),
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

/** Throws where the permissions of the run do not allow the request. */
async function checkRequest(
  permissions: Permissions,
  { method, url }: HttpRequest,
  failure = `cannot send ${method} "${url}"`,
): Promise<void> {
  const { netRefusal } = await import("../../../action/permissions/host_rule.ts");
  const refusal = netRefusal(permissions, url);
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
