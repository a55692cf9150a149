import { StepError } from "../../base/errors.ts";

/** The server's replies about a mail. */
export interface Delivery {
  readonly accepted: readonly string[];
  readonly rejected: readonly Rejection[];
  /** Its reply to the mail, or the one that refuses it. */
  readonly reply: string;
  readonly isSent: boolean;
}

/** A recipient, or the sender, that the server refused. */
export interface Rejection {
  readonly address: string;
  readonly reply: string;
}

/** An error of the library. */
export interface MailError extends Error {
  readonly code?: string | undefined;
  /** The command that the server has answered. */
  readonly command?: string | undefined;
  readonly originalCode?: string | undefined;
  readonly response?: string | undefined;
  readonly rejectedErrors?:
    | readonly (MailError & { readonly recipient?: string | undefined })[]
    | undefined;
}

/** The recipients that the server refused, and its replies. */
export function rejections(errors: MailError["rejectedErrors"]): Rejection[] {
  return (errors ?? []).map(({ recipient = "", response = "" }) => ({
    address: recipient,
    reply: response.trim(),
  }));
}

/** The server's reply if it refused a mail; undefined if there was none. */
export function refusalOf(
  given: unknown,
  from: string,
  to: readonly string[],
): Delivery | undefined {
  if (!(given instanceof Error) || given instanceof StepError) return undefined;
  const { response, code, command, message, rejectedErrors } = given as MailError;
  const isTooLarge = code === "EMESSAGE" && response === undefined;
  if (response === undefined && !isTooLarge) return undefined;
  const reply = response?.trim() ?? message;
  const rejected = rejections(rejectedErrors);
  const refused = command === "MAIL FROM" && response !== undefined ? [from] : to;
  return {
    accepted: [],
    rejected: rejected.length > 0 ? rejected : refused.map((address) => ({ address, reply })),
    reply,
    isSent: false,
  };
}
