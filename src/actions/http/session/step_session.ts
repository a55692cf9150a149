import type { ActionContext } from "../../../action/action.ts";
import type { SignIn } from "../auth/sign_in.ts";
import type { HttpRequest, RequestPlan } from "../request/read_request.ts";
import { withHeaders } from "../request/with_headers.ts";
import type { RawResponse } from "../transport/model.ts";
import { type Cookies, openCookies } from "./cookies.ts";

/** Sends the requests of a step with the cookies and the credentials that belong to them. */
export interface StepSession {
  /** The request of the step as it was sent last, before any redirect. */
  readonly sent: HttpRequest;
  /** Whether it has headers that the step does not give. */
  readonly added: boolean;
  send(request: HttpRequest): Promise<RawResponse>;
}

/** Sends a request and returns its response. */
export interface Sender {
  send(request: HttpRequest): Promise<RawResponse>;
}

/** Opens the session of a step. `sendAuxiliary` sends auxiliary requests. */
export async function openSession(
  { request: asked, cookies: use, auth }: RequestPlan,
  sender: Sender,
  sendAuxiliary: (request: HttpRequest) => Promise<RawResponse>,
  context: ActionContext,
): Promise<StepSession> {
  const cookies = use && await openCookies(use, context);
  let signIn: SignIn | undefined;
  if (auth) {
    const { openSignIn } = await import("../auth/open_sign_in.ts");
    signIn = await openSignIn(auth, asked, { context, sendAuxiliary });
  }
  const { origin } = asked.url;
  const send = async (request: HttpRequest, isFirst: boolean): Promise<RawResponse> => {
    const complete = withCookies(request, cookies);
    if (isFirst) session.sent = complete;
    session.added = session.sent !== asked;
    const reply = await sender.send(complete);
    await cookies?.keep(reply, request.url);
    return reply;
  };
  // Without getters: each object with its own ones would live until a full collection.
  const session = {
    sent: asked,
    added: false,
    async send(request: HttpRequest): Promise<RawResponse> {
      // The target of a redirect is chosen by another origin, even if it is the first origin again.
      if (request.url.origin !== origin) signIn = undefined;
      const isFirst = request.url === asked.url;
      if (!signIn) return await send(request, isFirst);
      let signed = await signIn.sign(request);
      let reply = await send(signed, isFirst);
      while (reply.code === 401) {
        const next = await signIn.again?.(signed, reply);
        if (!next) break;
        signed = next;
        reply = await send(signed, isFirst);
      }
      return reply;
    },
  };
  return session;
}

function withCookies(request: HttpRequest, cookies: Cookies | undefined): HttpRequest {
  const header = cookies?.header(request.url);
  return header === undefined ? request : withHeaders(request, { Cookie: header });
}
