import type { Socket } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { isGranted } from "../../host/deno_permissions.ts";
import type { TlsOptions } from "./tls_options.ts";

const { isIP } = await import("node:net");
// Loaded while requests are under way, it makes the runtime panic (denoland/deno#36258).
const { checkServerIdentity, connect, getCACertificates } = await import("node:tls");

/** Where to connect, or the socket that goes over to TLS, and the host that the server must be. */
type Destination = ConnectionOptions & { readonly host: string; readonly socket?: Socket };

/** The authorities of NODE_EXTRA_CA_CERTS; none where Deno would ask for a permission. */
let extraAuthorities: string[] | undefined;

function readExtraAuthorities(): string[] {
  // The types do not know of this kind.
  return isGranted({ name: "sys", kind: "ca" as "hostname" }) ? getCACertificates("extra") : [];
}

/**
 * Opens a TLS connection, or starts TLS on a socket. The handshake takes any certificate, so that
 * errors have the one that is refused. Nothing may be written before `onSecure`, which is called
 * once the certificate is accepted: by its chain, its dates and its host.
 */
export function secureSocket(
  options: TlsOptions & ConnectionOptions,
  to: Destination,
  onSecure: () => void,
): TLSSocket {
  const name = options.servername ?? to.host;
  extraAuthorities ??= readExtraAuthorities();
  const socket = connect({
    ...to,
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    // By itself, the runtime refuses a server whose own certificate is one of them.
    ...extraAuthorities.length > 0 && { ca: extraAuthorities },
    ...options,
    servername: isIP(name) ? "" : name,
    rejectUnauthorized: false,
  }, () => {
    if (!options.rejectUnauthorized || socket.authorized) return onSecure();
    const code = String(socket.authorizationError ?? "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    const error = new Error(`the certificate is not trusted: ${code}`);
    socket.destroy(Object.assign(error, { code, cert: socket.getPeerCertificate() }));
  });
  return socket;
}
