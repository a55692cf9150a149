import type { ActionContext } from "../../../action/action.ts";
import type { SignIn } from "../auth/sign_in.ts";
import type { HttpRequest, RequestPlan } from "../request/read_request.ts";
import { withHeaders } from "../request/with_headers.ts";
import type { RawResponse } from "../transport/model.ts";
import { Cookies } from "./cookies.ts";

/** Sends a request and returns its response. */
export interface Sender {
  send(request: HttpRequest): Promise<RawResponse>;
}

/** Sends the requests of a step with the cookies and the credentials that belong to them. */
export class StepSession implements Sender {
  /** The request of the step as it was sent last, before any redirect. */
  sent: HttpRequest;
  /** Whether it has headers that the step does not give. */
  added = false;
  readonly #asked: HttpRequest;
  readonly #sender: Sender;
  readonly #cookies: Cookies | undefined;
  #signIn: SignIn | undefined;

  constructor(asked: HttpRequest, sender: Sender, cookies?: Cookies, signIn?: SignIn) {
    this.sent = asked;
    this.#asked = asked;
    this.#sender = sender;
    this.#cookies = cookies;
    this.#signIn = signIn;
  }

  send(request: HttpRequest): Promise<RawResponse> {
    const isFirst = request.url === this.#asked.url;
    // The target of a redirect is chosen by another origin, even if it is the first origin again.
    if (!isFirst && request.url.origin !== this.#asked.url.origin) this.#signIn = undefined;
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
    const header = cookies?.header(request.url);
    const complete = header === undefined ? request : withHeaders(request, { Cookie: header });
    if (isFirst) this.sent = complete;
    this.added = this.sent !== this.#asked;
    const reply = this.#sender.send(complete);
    return cookies ? reply.then((reply) => cookies.keep(reply, request.url)) : reply;
  }
}

/** Opens the session of a step. `sendAuxiliary` sends auxiliary requests. */
export async function openSession(
  { request, cookies: use, auth }: RequestPlan,
  sender: Sender,
  sendAuxiliary: (request: HttpRequest) => Promise<RawResponse>,
  context: ActionContext,
): Promise<StepSession> {
  const cookies = use && new Cookies(use, context);
  if (use?.file !== undefined) await cookies!.readFile(use.file);
  if (!auth) return new StepSession(request, sender, cookies);
  const { openSignIn } = await import("../auth/open_sign_in.ts");
  const signIn = await openSignIn(auth, request, { context, sendAuxiliary });
  return new StepSession(request, sender, cookies, signIn);
}
