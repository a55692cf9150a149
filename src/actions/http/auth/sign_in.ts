import type { ActionContext } from "../../../action/action.ts";
import type { HttpRequest } from "../request/read_request.ts";
import type { RawResponse } from "../transport/model.ts";

/** Adds the credentials of a step to its requests. */
export interface SignIn {
  sign(request: HttpRequest): HttpRequest | Promise<HttpRequest>;
  /** The request to send after one was refused with 401; undefined if that would not help. */
  again?(request: HttpRequest, refused: RawResponse): Promise<HttpRequest | undefined>;
}

/** The context that a sign-in needs besides its parameters. */
export interface SignInContext {
  readonly context: ActionContext;
  /** Sends an auxiliary request, for example for a token. */
  readonly sendAuxiliary: (request: HttpRequest) => Promise<RawResponse>;
}
