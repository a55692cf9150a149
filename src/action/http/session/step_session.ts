import { ignoreCase } from "../../../value/plain.ts";
import type { ActionContext } from "../../action.ts";
import type { Request, RequestPlan } from "../request/read_request.ts";
import type { Call } from "../transport/call.ts";
import type { Reply } from "../transport/send.ts";
import { type Cookies, openCookies } from "./cookies.ts";

/** Sends the requests of a step with the cookies that belong to them. */
export interface StepSession {
  /** The request of the step as it was sent last, before any redirect. */
  readonly sent: Request;
  /** Whether it has headers that the step does not give. */
  readonly added: boolean;
  send(request: Request): Promise<Reply>;
}

/** Opens the session of a step. */
export async function openSession(
  { request: asked, cookies: use }: RequestPlan,
  call: Call,
  context: ActionContext,
): Promise<StepSession> {
  const cookies = use && await openCookies(use, context);
  let sent = asked;
  return {
    get sent() {
      return sent;
    },
    get added() {
      return sent !== asked;
    },
    async send(request) {
      const complete = withCookies(request, cookies);
      if (request === asked) sent = complete;
      const reply = await call.send(complete);
      await cookies?.keep(reply, request.url);
      return reply;
    },
  };
}

function withCookies(request: Request, cookies: Cookies | undefined): Request {
  const header = cookies?.header(request.url);
  return header === undefined ? request : withHeaders(request, { Cookie: header });
}

/** A request with further headers; those of the same name are replaced. */
export function withHeaders(request: Request, headers: Readonly<Record<string, string>>): Request {
  const all: Record<string, string | readonly string[]> = ignoreCase(Object.create(null));
  return { ...request, headers: Object.assign(all, request.headers, headers) };
}
