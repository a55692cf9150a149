import type { Request } from "./read_request.ts";
import { wireHeaders } from "./request_headers.ts";
import { hostOf, portOf } from "./request_url.ts";
import type { SocketOptions, Sockets } from "../transport/sockets.ts";

const { globalAgent } = await import("node:https");
const { isIP } = await import("node:net");

/** A step without templates sends the same request in every round. */
const known = new WeakMap<Request, SocketOptions>();

/** A request as node:http takes it; `isNew` asks for a connection that nothing else is sent over. */
export function wireOptions(
  request: Request,
  { sockets, verify }: { readonly sockets: Sockets; readonly verify: boolean },
  isNew: boolean,
): SocketOptions {
  if (isNew) return describe(request, sockets, verify, true);
  let made = known.get(request);
  if (made?.agent !== sockets || made.rejectUnauthorized !== verify) {
    known.set(request, made = describe(request, sockets, verify, false));
  }
  return made;
}

function describe(
  { method, url, headers }: Request,
  agent: Sockets,
  verify: boolean,
  isNew: boolean,
): SocketOptions {
  const secure = url.protocol === "https:";
  const host = hostOf(url);
  const port = portOf(url);
  const scheme = !secure ? "http" : verify ? "https" : "insecure https";
  return {
    agent,
    // The request takes its scheme from it.
    ...(secure ? { _defaultAgent: globalAgent } : {}),
    host,
    port,
    method,
    path: url.pathname + url.search,
    headers: wireHeaders(headers, isNew ? "close" : undefined),
    pool: `${isNew ? "new" : "kept"} ${scheme} ${host} ${port}`,
    secure,
    // Whatever the header "Host" says, the server has to prove that it is the host of the URL.
    servername: isIP(host) ? "" : host,
    rejectUnauthorized: verify,
  };
}
