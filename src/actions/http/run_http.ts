import type { ActionContext, ActionResult, Demand, Dict } from "../../action/action.ts";
import { compiledAction, EVERYTHING, isDemanded } from "../../action/compiled_action.ts";
import { Call } from "./transport/call.ts";
import { explainFailure } from "./transport/explain_http_failure.ts";
import { connectionOf } from "./connection/read_connection.ts";
import { acquireSlot, clientOf } from "./transport/client.ts";
import { graphqlFields, hasGraphqlErrors } from "./request/bodies/graphql.ts";
import { type HttpRequest, readRequest, type RequestPlan } from "./request/read_request.ts";
import { DIGESTS, digestsOf } from "./response/body_facts.ts";
import { readBody } from "./response/read_body.ts";
import { readHead, type ResponseHead } from "./response/response.ts";
import type { SaveFile } from "./response/save_body.ts";
import { asSent, openStep, performRequest } from "./session/perform_request.ts";
import type { StepSession } from "./session/step_session.ts";
import { connectionFacts } from "./response/connection_facts.ts";

/**
 * Sends the request that `params` describe, follows redirects and reads the response. Where there
 * is an API description, both are held against it.
 */
export function runHttp(
  params: Dict,
  context: ActionContext,
  { res: demanded }: Demand = EVERYTHING,
): Promise<ActionResult> {
  const needsDigests = DIGESTS.some((name) => isDemanded(demanded, name));
  return (params.openapi ?? context.openapi) === undefined
    ? exchange(params, context, needsDigests)
    : exchangeAsDescribed(params, context, needsDigests);
}

async function exchangeAsDescribed(
  params: Dict,
  context: ActionContext,
  needsDigests: boolean,
): Promise<ActionResult> {
  // Problems of the description are reported before anything is sent.
  const { openCheck } = await import("./check_contract.ts");
  const check = await openCheck(params, context);
  return await check(await exchange(params, context, needsDigests));
}

/** The action: it leaves out digests that nobody reads. */
export const httpRunner = compiledAction((params, demand) => (context) =>
  runHttp(params, context, demand)
);

async function exchange(
  params: Dict,
  context: ActionContext,
  needsDigests: boolean,
): Promise<ActionResult> {
  const { clock } = context.host;
  const began = clock.ticks();
  const client = clientOf(context);
  // Ten thousand actions may wait here. What they need later is made later, so that waiting
  // costs little memory, and keeps new data apart from old data for the garbage collector.
  try {
    const wait = acquireSlot(client.limiter, context);
    if (wait) await wait;
  } catch (reason) {
    const { plan, req } = prepare(params, context);
    throw await explainFailure(reason, plan.request, req, context.host.clock);
  }
  try {
    const prepared = prepare(params, context);
    const { plan, req } = prepared.plan.upload ? await openBody(prepared, context) : prepared;
    const reading = connectionOf(params, context);
    const connection = reading instanceof Promise ? await reading : reading;
    const saveFile = plan.save === undefined ? undefined : await openFile(plan.save, context);
    const call = new Call(plan, connection, client, context, saveFile);
    let session: StepSession | undefined;
    try {
      const opening = openStep(plan, connection, client, call, context);
      session = opening instanceof Promise ? await opening : opening;
      const { reply, url, redirects, cookies } = await performRequest(plan, session, context);
      const { elapsed } = call;
      // What follows is work of this program, and not a part of the exchange.
      const facts = connectionFacts(reply, call.phases, clock.ticks() - began);
      const head = readHead(reply);
      const decoding = readBody(reply, head, plan.maxBody, context);
      const { fields: body, bytes, filepath } = decoding instanceof Promise
        ? await decoding
        : decoding;
      call.checkStopped();
      const graphql = plan.isGraphql ? graphqlFields(body.body) : {};
      const hasErrors = hasGraphqlErrors(graphql);
      const isSuccess = reply.code >= 200 && reply.code <= 299 && !hasErrors;
      const resWith = (digests: Dict) => ({
        ...head,
        cookies,
        ...body,
        ...digests,
        ...filepath === undefined ? {} : { filepath },
        ...graphql,
        url,
        redirects,
        ...facts,
      });
      const sent = asSent(req, session);
      return {
        req: sent,
        res: resWith(bytes && needsDigests ? digestsOf(bytes) : {}),
        ...bytes && !needsDigests && {
          whole: () => ({ req: sent, res: resWith(digestsOf(bytes)) }),
        },
        status: isSuccess ? 0 : 1,
        brief: `HTTP ${reply.code}${hasErrors ? " with errors" : ""}`,
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
    client.limiter.release();
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

function describe({ method, url, headers, body }: HttpRequest): Dict {
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
