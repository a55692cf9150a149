import { explainDenial } from "../../../host/explain_denial.ts";
import { StepError } from "../../../source/errors.ts";
import { isDict } from "../../../value/value.ts";
import type { Dict } from "../../action.ts";
import { BadEncoding } from "../response/decode_body.ts";
import type { Request } from "../request/read_request.ts";
import {
  BODY_LIMIT,
  BodyTooLarge,
  ClosedEarly,
  type Phase,
  ProtocolChanged,
  SendFailure,
} from "./send.ts";

/** A cause in plain words, and what could be done. */
interface Explanation {
  readonly words: string;
  readonly hint?: string;
}

/**
 * What ended an action, as the error that the user sees: which request, to which host and port,
 * and why there was no response. `first` is the request of the step, `req` the same for reports.
 */
export function explainFailure(error: unknown, first: Request, req: Dict): unknown {
  if (error instanceof SendFailure) {
    const { cause, request } = error;
    const reason = cause instanceof StepError
      ? { words: `${cause.message} ${whileDoing(error)}`, hint: cause.hint }
      : explainCause(cause, error);
    const doing = cause instanceof BodyTooLarge ? "read the response to" : "send";
    return tell(doing, request, reason, req);
  }
  if (error instanceof BodyTooLarge || error instanceof BadEncoding) {
    return tell("read the response to", first, explainBody(error), req);
  }
  if (error instanceof StepError) return new StepError(error.message, error.hint, { req });
  return error;
}

function tell(
  doing: "send" | "read the response to",
  { method, url }: Request,
  { words, hint }: { readonly words: string; readonly hint?: string | undefined },
  req: Dict,
): StepError {
  return new StepError(`cannot ${doing} ${method} "${url}": ${words}`, hint, { req });
}

function explainCause(cause: unknown, failure: SendFailure): Explanation {
  if (cause instanceof BodyTooLarge) return explainBody(cause);
  const place = hostAndPort(failure.request);
  if (cause instanceof ProtocolChanged) {
    return {
      words: `${place} answered 101 and changed the protocol, which http steps cannot follow`,
    };
  }
  const denial = explainDenial(cause);
  if (denial && !/ net access /.test((cause as Error).message)) return denial;
  if (denial || codeOf(cause) === "EPERM") {
    return {
      words: `Deno does not let it reach ${place}`,
      hint: `run it with deno run --allow-net=${failure.request.url.hostname}:${
        portOf(failure.request)
      }`,
    };
  }
  const code = codeOf(cause);
  const known = explainCode(code, place, failure.request) ?? explainTls(code, place, cause);
  if (known) return known;
  if (code.startsWith("HPE_")) return explainParser(code, place, failure.phase);
  if (isClosed(code, cause)) return explainClosed(place, failure);
  return { words: `${cause instanceof Error ? cause.message : String(cause)} (${place})` };
}

function explainCode(code: string, place: string, { url }: Request): Explanation | undefined {
  switch (code) {
    case "ECONNREFUSED":
      return { words: `${place} refused the connection`, hint: "is the server running there?" };
    case "ENOTFOUND":
    case "EAI_NONAME":
    case "EAI_NODATA":
      return { words: `there is no host "${url.hostname}" (${place})` };
    case "EAI_AGAIN":
      return { words: `the address of "${url.hostname}" could not be looked up (${place})` };
    case "ETIMEDOUT":
      return { words: `${place} did not take the connection in time` };
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return { words: `there is no way to ${place} through the network` };
    default:
      return undefined;
  }
}

const INSECURE_HINT = 'set "insecure: true" to take the certificate as it is';
const AUTHORITY_HINT = "trust who has signed it with NODE_EXTRA_CA_CERTS=ca.pem in the " +
  `environment, or ${INSECURE_HINT}`;
/** Errors about who has signed a certificate, rather than what is in it. */
const IS_ABOUT_AUTHORITY = /SELF_SIGNED|^UNABLE_TO_/;

function explainTls(code: string, place: string, cause: unknown): Explanation | undefined {
  const words = CERTIFICATES[code];
  if (words !== undefined) {
    const hint = IS_ABOUT_AUTHORITY.test(code) ? AUTHORITY_HINT : INSECURE_HINT;
    return { words: `the certificate of ${place} ${words}${namesIn(cause)}`, hint };
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    return { words: `${place} does not speak TLS`, hint: 'is it "http://"?' };
  }
  const message = cause instanceof Error ? cause.message : "";
  if (/certificate/i.test(message)) {
    return { words: `the certificate of ${place} is not good: ${message}`, hint: INSECURE_HINT };
  }
  if (/^ERR_(SSL|TLS)_|^EPROTO$/.test(code)) {
    return { words: `no secure connection to ${place}: ${message}` };
  }
  return undefined;
}

/** More names than these tell nothing more. */
const MOST_NAMES = 5;

/** The hosts that a certificate is for, where the error is about them. */
function namesIn(cause: unknown): string {
  const cert = cause instanceof Error && "cert" in cause ? cause.cert : undefined;
  if (!isDict(cert) || typeof cert.subjectaltname !== "string") return "";
  const names = [...cert.subjectaltname.matchAll(/(?:DNS|IP Address):([^\s,"]+)/g)];
  const shown = names.slice(0, MOST_NAMES).map(([, name]) => name);
  if (names.length > MOST_NAMES) shown.push("…");
  return shown.length === 0 ? "" : `: ${shown.join(", ")}`;
}

const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  CERT_REVOKED: "was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "comes from an authority that is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another host",
  HOSTNAME_MISMATCH: "is for another host",
  UNABLE_TO_GET_ISSUER_CERT: "comes from an authority that is not known here",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "comes from an authority that is not known here",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "comes from an authority that is not known here",
};

function explainParser(code: string, place: string, phase: Phase): Explanation {
  if (code === "HPE_HEADER_OVERFLOW") {
    return { words: `the headers that ${place} sent are larger than 16 KB` };
  }
  if (phase === "receiving") return { words: `the body that ${place} sent is not valid HTTP` };
  return {
    words: `what ${place} answered is not HTTP`,
    hint: 'is it "https://" or another service?',
  };
}

function explainClosed(place: string, { phase, received }: SendFailure): Explanation {
  return {
    words: phase === "receiving"
      ? `${place} closed the connection after ${received} bytes of the body, before its end`
      : `${place} closed the connection without an answer`,
  };
}

function explainBody(error: BodyTooLarge | BadEncoding): Explanation {
  if (error instanceof BadEncoding) {
    return { words: `the body of the response is not complete ${error.encoding} data` };
  }
  const limit = BODY_LIMIT / 1024 / 1024;
  return { words: `the body of the response is larger than ${limit} MB, the most that is kept` };
}

function whileDoing({ phase, request, received }: SendFailure): string {
  const place = hostAndPort(request);
  switch (phase) {
    case "connecting":
      return `while it connected to ${place}`;
    case "waiting":
      return `while it waited for the answer of ${place}`;
    case "receiving":
      return `while it received the body from ${place}, after ${received} bytes`;
  }
}

function hostAndPort(request: Request): string {
  return `${request.url.hostname} port ${portOf(request)}`;
}

function portOf({ url }: Request): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

function codeOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : "";
}

function isClosed(code: string, cause: unknown): boolean {
  return code === "ECONNRESET" || code === "EPIPE" || cause instanceof ClosedEarly;
}
