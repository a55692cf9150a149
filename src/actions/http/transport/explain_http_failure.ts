import type { Dict } from "../../../action/action.ts";
import { addressOf, bracketed, codeOf } from "../../../action/net/endpoint.ts";
import { explainUnreachable } from "../../../action/target.ts";
import { explainTls, type TlsExplanation } from "../../../action/tls/explain_tls.ts";
import { StepError } from "../../../base/errors.ts";
import { explainDenial } from "../../../host/explain_denial.ts";
import type { Clock } from "../../../host/host.ts";
import { describeRoute, firstHop, routeOf } from "../connection/connection.ts";
import { describeProxy, ProxyFailure } from "../connection/proxy.ts";
import { hostOf, portOf } from "../request/http_syntax.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { BadEncoding } from "../response/decode_content.ts";
import {
  BodyTooLarge,
  ClosedEarly,
  InvalidStatus,
  MalformedResponse,
  type Phase,
  ProtocolChanged,
  SendFailure,
} from "./model.ts";

/**
 * The error that the user sees if an action failed: which request, to which host and port,
 * and why there was no response. `first` is the request of the step, `req` the same for reports,
 * `failure` begins the message for an action other than http.
 */
export async function explainFailure(
  error: unknown,
  first: HttpRequest,
  req: Dict,
  clock: Clock,
  failure?: string,
): Promise<unknown> {
  if (error instanceof SendFailure) {
    const { cause, request } = error;
    // A file of the step is to blame, and not the server.
    if (cause instanceof StepError && cause.details.parameter !== undefined) {
      return new StepError(cause.message, cause.hint, { ...cause.details, req });
    }
    const reason = cause instanceof StepError
      ? { message: `${cause.message} ${phaseText(error)}`, hint: cause.hint }
      : await explainCause(cause, error, clock);
    const isUnreachable = UNREACHABLE.has(codeOf(cause));
    const isRead = error.phase === "receiving" || isOfBody(cause) || cause instanceof InvalidStatus;
    const what = isRead ? "read the response to" : "send";
    return failed(
      failure ?? `cannot ${what} ${nameOf(request)}`,
      reason,
      req,
      isUnreachable ? { cause: reason.message } : isClosed(cause) ? { isClosed: true } : {},
    );
  }
  if (isOfBody(error)) {
    const what = failure ?? `cannot read the response to ${nameOf(first)}`;
    return failed(what, explainBody(error), req);
  }
  if (error instanceof StepError) {
    return new StepError(error.message, error.hint, { ...error.details, req });
  }
  return error;
}

function nameOf({ method, url }: HttpRequest): string {
  return `${method} "${url}"`;
}

function failed(
  failure: string,
  { message, hint }: { readonly message: string; readonly hint?: string | undefined },
  req: Dict,
  details: { readonly cause?: string; readonly isClosed?: boolean } = {},
): StepError {
  return new StepError(`${failure}: ${message}`, hint, { ...details, req });
}

function isClosed(cause: unknown): boolean {
  return ["ECONNRESET", "EPIPE"].includes(codeOf(cause)) || cause instanceof ClosedEarly;
}

/** Codes of a server that no request can reach. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_NONAME", "EAI_NODATA", "EAI_AGAIN"],
  ...["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
]);

async function explainCause(
  cause: unknown,
  failure: SendFailure,
  clock: Clock,
): Promise<TlsExplanation> {
  if (isOfBody(cause)) return explainBody(cause);
  const { url } = failure.request;
  const hop = hopOf(failure);
  if (cause instanceof ProxyFailure) {
    return { message: cause.message, hint: cause.hint };
  }
  if (cause instanceof ProtocolChanged) {
    return { message: `${hop} switched to another protocol (101), which is not supported` };
  }
  if (cause instanceof InvalidStatus) {
    return { message: `the response of ${hop} has the invalid status code ${cause.code}` };
  }
  const denial = explainDenial(cause);
  if (denial && !/ net access /.test((cause as Error).message)) return denial;
  if (denial || codeOf(cause) === "EPERM") {
    return {
      message: `Deno does not allow access to ${hop}`,
      hint: `run it with deno run --allow-net=${url.hostname}:${portOf(url)}`,
    };
  }
  const code = codeOf(cause);
  return explainAddress(code, hop, failure) ?? explainUnreachable(code, hop, hostIn(failure)) ??
    await explainSecure(code, cause, failure, clock) ??
    explainStream(code, cause, failure) ??
    { message: `${cause instanceof Error ? cause.message : String(cause)} (${hop})` };
}

function explainAddress(
  code: string,
  hop: string,
  { connection: { localAddress } }: SendFailure,
): TlsExplanation | undefined {
  switch (code) {
    case "ENOENT":
      return { message: `${hop} does not exist (${code})` };
    case "EACCES":
      return { message: `${hop} may not be used by this user (${code})` };
    case "EADDRNOTAVAIL":
      return localAddress === undefined ? undefined : {
        message: `no connection to ${hop} from here (${code})`,
        hint: 'this machine has to have the "local_address"',
      };
    default:
      return undefined;
  }
}

const HTTP_HINT = 'if it serves plain HTTP there, use "http://"';
const HTTPS_HINT = 'if it expects TLS there, use "https://"';

async function explainSecure(
  code: string,
  cause: unknown,
  { request: { url }, connection, phase }: SendFailure,
  clock: Clock,
): Promise<TlsExplanation | undefined> {
  const route = routeOf(url, connection);
  const isOfProxy = route.kind === "forward" || route.kind === "tunnel" && phase === "connecting";
  if (isOfProxy && route.proxy.kind === "https") {
    return await explainTls(cause, { ...route.proxy, clock });
  }
  if (isOfProxy || url.protocol !== "https:") return undefined;
  const { tls: options } = connection;
  const peer = { host: hostOf(url), port: Number(portOf(url)), clock, options };
  const found = await explainTls(cause, peer);
  return found && code === "ERR_SSL_WRONG_VERSION_NUMBER" ? { ...found, hint: HTTP_HINT } : found;
}

/** Connections that ended early, and responses that are not HTTP. */
function explainStream(
  code: string,
  cause: unknown,
  failure: SendFailure,
): TlsExplanation | undefined {
  const { phase, received, request } = failure;
  const hop = hopOf(failure);
  if (code.startsWith("HPE_")) return explainMalformed(code, packetOf(cause), hop, phase);
  if (!isClosed(cause)) return undefined;
  const ending = `${hop} closed the connection`;
  if (phase === "receiving") {
    return { message: `${ending} after ${received} bytes of the body, before its end` };
  }
  // Some servers end the connection instead of saying what is wrong with the certificate.
  const isSigned = request.url.protocol === "https:" && failure.connection.tls.cert !== undefined;
  const refusal = isSigned ? "the server may have refused the client certificate" : undefined;
  const shownCode = code === "" ? "" : ` (${code})`;
  if (phase === "securing") {
    const message = `${ending} during the TLS handshake${shownCode}`;
    return { message, hint: refusal ?? HTTP_HINT };
  }
  const message = `${ending} without an answer${shownCode}`;
  if (request.url.protocol === "http:") return { message, hint: HTTPS_HINT };
  return refusal === undefined ? { message } : { message, hint: refusal };
}

/** The beginning of bytes that are not HTTP; the runtime reads the handshake of a WebSocket. */
function packetOf(cause: unknown): Uint8Array {
  if (cause instanceof MalformedResponse) return cause.packet;
  const { rawPacket } = cause as { readonly rawPacket?: unknown };
  return rawPacket instanceof Uint8Array ? rawPacket : new Uint8Array();
}

function explainMalformed(
  code: string,
  packet: Uint8Array,
  hop: string,
  phase: Phase,
): TlsExplanation {
  if (code === "HPE_HEADER_OVERFLOW") {
    return { message: `the headers that ${hop} sent are larger than 16 KB (${code})` };
  }
  if (phase === "receiving") {
    return { message: `the body that ${hop} sent is not valid HTTP (${code})` };
  }
  // Most servers send an alert of TLS if they receive no handshake.
  if (packet[0] === 0x15 && packet[1] === 0x03) {
    return { message: `${hop} expects TLS, not plain HTTP`, hint: 'use "https://"' };
  }
  if (packet[3] === HTTP2_SETTINGS && packet.subarray(4, 9).every((byte) => byte === 0)) {
    return {
      message: `${hop} speaks HTTP/2, not HTTP/1.1`,
      hint: 'use http with version: "2", or grpc if it is a gRPC server',
    };
  }
  return { message: `the answer of ${hop} is not HTTP (${code})` };
}

/** The type of the frame with which a server of HTTP/2 begins, after three bytes of its length. */
const HTTP2_SETTINGS = 0x04;

/** Whether the response came, and its body is not one that can be used. */
function isOfBody(error: unknown): error is BodyTooLarge | BadEncoding {
  return error instanceof BodyTooLarge || error instanceof BadEncoding;
}

function explainBody(error: BodyTooLarge | BadEncoding): TlsExplanation {
  if (error instanceof BadEncoding) {
    return { message: `the body of the response is not complete ${error.encoding} data` };
  }
  return {
    message: `the body of the response is larger than the limit of ${formatSize(error.limit)}`,
    hint: `raise "max_body"${error.isSaved ? "" : ', or write the body to a file with "save"'}`,
  };
}

function phaseText(failure: SendFailure): string {
  const { phase, received } = failure;
  const hop = hopOf(failure);
  switch (phase) {
    case "connecting":
      return `while connecting to ${hop}`;
    case "securing":
      return `in the TLS handshake with ${hop}`;
    case "waiting":
      return `while waiting for the answer of ${hop}`;
    case "receiving":
      return `while receiving the body from ${hop}, after ${received} bytes`;
  }
}

/** Where it failed: the address that the request connects to, or the end of a tunnel to there. */
function hopOf({ request, connection, phase }: SendFailure): string {
  const route = routeOf(request.url, connection);
  if (route.kind !== "tunnel" || phase === "connecting") return describeRoute(request, route);
  return `${addressOf(route.to)} (through ${describeProxy(route.proxy)})`;
}

/** The name that has to be looked up. */
function hostIn({ request: { url }, connection }: SendFailure): string {
  const hop = firstHop(routeOf(url, connection));
  return hop ? bracketed(hop.host) : url.hostname;
}

/** A size for people: `64 MiB`, `200 MB`, `12 bytes`. */
function formatSize(bytes: number): string {
  for (const [unit, factor] of [["GiB", 1024 ** 3], ["MiB", 1024 ** 2]] as const) {
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor} ${unit}`;
  }
  for (const [unit, factor] of [["GB", 1000 ** 3], ["MB", 1000 ** 2], ["kB", 1000]] as const) {
    if (bytes >= factor) return `${Number((bytes / factor).toFixed(2))} ${unit}`;
  }
  return `${bytes} bytes`;
}
