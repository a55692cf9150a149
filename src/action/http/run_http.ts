import { StepError } from "../../source/errors.ts";
import { findExchangedSecrets } from "../../value/find_secrets.ts";
import type { ActionContext, ActionResult, Dict } from "../action.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { Call } from "./transport/call.ts";
import { explainFailure } from "./transport/explain_http_failure.ts";
import type { Connection } from "./connection/connection.ts";
import { connectionOf } from "./connection/read_connection.ts";
import { acquireSlot } from "./transport/concurrency_limiter.ts";
import { graphqlFields, hasErrors } from "./request/bodies/graphql.ts";
import { fromByteString } from "./request/http_syntax.ts";
import { readRequest, type Request, type RequestPlan } from "./request/read_request.ts";
import { isRedirect, redirectOf } from "./transport/redirects.ts";
import { readBody } from "./response/read_body.ts";
import { readHead, type ResponseHead } from "./response/response.ts";
import type { SaveFile } from "./response/save_body.ts";
import { cookieRecords } from "./session/cookies.ts";
import { openSession, type StepSession } from "./session/step_session.ts";
import { findHeader, type Reply } from "./transport/send.ts";
import { connectionFacts } from "./response/connection_facts.ts";
import { type Sockets, socketsOf } from "./transport/sockets.ts";

/** Sends the request that `params` describe, follows redirects and reads the response. */
export async function runHttp(params: Dict, context: ActionContext): Promise<ActionResult> {
  const { clock } = context.host;
  const began = clock.ticks();
  const sockets = socketsOf(context);
  // Ten thousand actions may wait here. What they need later is made later, so that waiting
  // costs little memory, and what is new is not tied to what is old when it is collected.
  try {
    await acquireSlot(sockets.limiter, context);
  } catch (reason) {
    const { plan, req } = prepare(params, context);
    throw await explainFailure(reason, plan.request, req, context.host.clock);
  }
  try {
    const prepared = prepare(params, context);
    const { plan, req } = prepared.plan.upload ? await openBody(prepared, context) : prepared;
    const connection = await connectionOf(params, context);
    const saveFile = plan.save === undefined ? undefined : await openFile(plan.save, context);
    const call = new Call(plan, connection, sockets, context, saveFile);
    let session: StepSession | undefined;
    try {
      const { maxRedirects } = plan;
      if (context.permissions) await checkRequest(context.permissions, plan.request);
      const aside = (request: Request) => sendAside(request, plan, connection, sockets, context);
      session = await openSession(plan, call, aside, context);
      const first = await session.send(plan.request);
      const { reply, url, redirects, cookies } = maxRedirects !== undefined && isRedirect(first)
        ? await follow(first, maxRedirects, plan, session, context)
        : { reply: first, url: plan.request.url.href, redirects: [], cookies: undefined };
      const { elapsed } = call;
      const head = readHead(reply);
      const body = await readBody(reply, head, plan.maxBody, context);
      call.checkStopped();
      const graphql = plan.isGraphql ? graphqlFields(body.body) : {};
      const isSuccess = reply.code >= 200 && reply.code <= 299 && !hasErrors(graphql);
      return {
        req: asSent(req, session),
        res: {
          ...head,
          cookies: cookies ?? await cookieRecords(reply, plan.request.url),
          ...body,
          ...graphql,
          url,
          redirects,
          ...connectionFacts(reply, call.phases, clock.ticks() - began),
        },
        status: isSuccess ? 0 : 1,
        brief: `HTTP ${reply.code}`,
        elapsed,
        ...call.phases ? { phases: { ...call.phases } } : {},
        ...retryAfterOf(head, context),
      };
    } catch (error) {
      throw await explainFailure(error, plan.request, asSent(req, session), context.host.clock);
    } finally {
      call.close();
    }
  } finally {
    sockets.limiter.release();
  }
}

/** The time of a header `Retry-After`, which has seconds or a date. */
function retryAfterOf(
  { headers }: ResponseHead,
  { host: { clock } }: ActionContext,
): { readonly retryAfter?: number } {
  const value = headers["Retry-After"];
  if (value === undefined) return {};
  const time = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.now();
  return Number.isNaN(time) ? {} : { retryAfter: Math.max(0, time) };
}

/** A request that is ready to be sent, and how expressions and reports see it. */
interface Prepared {
  readonly plan: RequestPlan;
  readonly req: Dict;
}

/** Reads the parameters. */
function prepare(params: Dict, { scope }: ActionContext): Prepared {
  // By `with`, which is the same object in every round where it has no template.
  const known = scope.run.resource("http requests", () => new WeakMap<Dict, Prepared>());
  let made = known.get(params);
  if (made) return made;
  const plan = readRequest(params);
  known.set(params, made = { plan, req: describe(plan.request) });
  return made;
}

/** Sends an auxiliary request, with the timeout and the TLS options of the step. */
async function sendAside(
  request: Request,
  plan: RequestPlan,
  connection: Connection,
  sockets: Sockets,
  context: ActionContext,
): Promise<Reply> {
  if (context.permissions) await checkRequest(context.permissions, request);
  const { unixSocket, ...network } = connection;
  // The socket is that of one service, which is not the authorization server.
  const way = unixSocket === undefined ? connection : { ...network, id: `${connection.id} aside` };
  const call = new Call({ ...plan, request }, way, sockets, context);
  try {
    return await call.send(request);
  } finally {
    call.close();
  }
}

/** How a request is seen once its session has added headers to it. */
function asSent(req: Dict, session: StepSession | undefined): Dict {
  return session?.added ? { ...req, headers: session.sent.headers } : req;
}

function describe({ method, url, headers, body }: Request): Dict {
  return { method, url: url.href, headers, body: typeof body === "string" ? body : "" };
}

async function openFile(path: string, context: ActionContext): Promise<SaveFile> {
  const { openSaveFile } = await import("./response/save_body.ts");
  return await openSaveFile(path, context);
}

/** Finds the files of the body, which may be others in each attempt. */
async function openBody({ plan }: Prepared, context: ActionContext): Promise<Prepared> {
  const { upload, attach, contentType } = plan.upload!;
  const { openUpload } = await import("./request/bodies/open_upload.ts");
  const { body, shown } = await openUpload(upload, contentType, context);
  const request = attach(body);
  return { plan: { ...plan, request }, req: { ...describe(request), ...shown } };
}

/** Where redirects led. */
interface Followed {
  readonly reply: Reply;
  readonly url: string;
  /** Each redirect, as steps see it. */
  readonly redirects: readonly Dict[];
  /** What all responses set. */
  readonly cookies: readonly Dict[];
}

/** Follows redirects to the first response that is not one. */
async function follow(
  first: Reply,
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
function isSame(one: Request, other: Request): boolean {
  return one.method === other.method && one.url.href === other.url.href;
}

/** Throws where the permissions of the run do not allow the request. */
async function checkRequest(
  permissions: Permissions,
  { method, url }: Request,
  doing = `cannot send ${method} "${url}"`,
): Promise<void> {
  const { netRefusal } = await import("../permissions/host_rule.ts");
  const refusal = netRefusal(permissions, url);
  if (refusal) throw new StepError(`${doing}: ${refusal.message}`, refusal.hint);
}

async function checkRedirect(permissions: Permissions, from: Request, to: Request): Promise<void> {
  const doing = `cannot follow the redirect of ${from.method} "${from.url}" to "${to.url}"`;
  await checkRequest(permissions, to, doing);
}
