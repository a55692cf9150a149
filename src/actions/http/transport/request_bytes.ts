import { demand, demandCertificates } from "../../../host/deno_permissions.ts";
import { authorityOf } from "../../../action/net/endpoint.ts";
import type { Connection } from "../connection/connection.ts";
import { firstHop, type Route, routeOf } from "../connection/route.ts";
import type { HttpRequest } from "../request/read_request.ts";
import type { ContentStream } from "../request/request_body.ts";
import { wireHeaders } from "../request/request_headers.ts";
import { type Target, targetOf } from "./http_connection.ts";
import { findHeader } from "./model.ts";
import { proxyAuthorization } from "./proxy_handshake.ts";

const { Buffer } = await import("node:buffer");

/** A body up to this length is sent in one piece with the head. */
const SMALL_BODY = 65_536;

/** A request as it is sent over HTTP/1.1. */
export interface PreparedRequest {
  readonly target: Target;
  readonly connection: Connection;
  /** The head, with a small body. */
  readonly bytes: Uint8Array;
  /** A body that is sent after the head. */
  readonly body: Uint8Array | ContentStream | undefined;
  readonly isChunked: boolean;
  /** Whether the connection can be used again. */
  readonly isKept: boolean;
}

/** A step without templates sends the same request in every round. */
const known = new WeakMap<HttpRequest, PreparedRequest>();

/** Makes the bytes of a request, or takes those that were made before. */
export function prepare(request: HttpRequest, connection: Connection): PreparedRequest {
  let made = known.get(request);
  if (made?.connection !== connection) known.set(request, made = makePrepared(request, connection));
  return made;
}

function makePrepared(request: HttpRequest, connection: Connection): PreparedRequest {
  const { method, url, headers, body } = request;
  const target = targetOf(url, connection);
  const { route } = target;
  const isForward = route.kind === "forward";
  const access = isForward ? proxyAuthorization(route.proxy) : undefined;
  const wire = [
    ...wireHeaders(headers),
    ...access === undefined ? [] : ["Proxy-Authorization", access],
  ];
  let head = `${method} ${isForward ? url.href : url.pathname + url.search} HTTP/1.1\r\n`;
  for (let at = 0; at < wire.length; at += 2) head += `${wire[at]}: ${wire[at + 1]}\r\n`;
  const content = typeof body === "string" ? Buffer.from(body) : body;
  const isJoined = content instanceof Uint8Array && content.length <= SMALL_BODY;
  const bytes = Buffer.from(`${head}\r\n`, "latin1");
  return {
    target,
    connection,
    bytes: isJoined ? Buffer.concat([bytes, content]) : bytes,
    body: isJoined ? undefined : content,
    isChunked: headers["Transfer-Encoding"] !== undefined,
    isKept: !/\bclose\b/i.test(findHeader(wire, "connection") ?? ""),
  };
}

/** Throws where Deno would ask for what a connection needs. */
export function demandAccess({ url }: HttpRequest, connection: Connection): void {
  demandRoute(routeOf(url, connection));
  if (url.protocol === "https:") demandCertificates();
}

function demandRoute(route: Route): void {
  const hop = firstHop(route);
  if (hop) return demand({ name: "net", host: authorityOf(hop) });
  if (route.kind !== "unix") return;
  demand({ name: "read", path: route.path });
  demand({ name: "write", path: route.path });
}
