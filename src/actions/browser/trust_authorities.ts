import type { Clock } from "../../host/host.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import type { Browser } from "./puppeteer.ts";

/** The time that a server may take to present its certificate once more, in milliseconds. */
const LONGEST = 5000;

/**
 * Has a browser accept the certificates that authorities of `tls` signed. A browser takes no
 * authorities on its command line, and does not say which certificate it refuses, so this connects
 * to the server itself to verify it.
 */
export async function trustAuthorities(
  browser: Browser,
  tls: TlsOptions,
  clock: Clock,
): Promise<void> {
  const devtools = await browser.target().createCDPSession();
  const verified = new Map<string, Promise<boolean>>();
  devtools.on("Security.certificateError", async ({ eventId, requestURL }) => {
    const { host } = new URL(requestURL);
    const isGood = verified.get(host) ?? verify(new URL(requestURL), tls, clock);
    verified.set(host, isGood);
    const action = await isGood ? "continue" : "cancel";
    await devtools.send("Security.handleCertificateError", { eventId, action }).catch(() => {});
  });
  await devtools.send("Security.enable");
  await devtools.send("Security.setOverrideCertificateErrors", { override: true });
}

/** Whether the certificate of a server is valid by these options. */
async function verify(
  { hostname, port }: URL,
  tls: TlsOptions,
  clock: Clock,
): Promise<boolean> {
  const [{ connect }, { isIP }] = await Promise.all([import("node:tls"), import("node:net")]);
  const host = hostname.replace(/^\[|\]$/g, "");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const options = { ...tls, host, port: Number(port) || 443, servername: isIP(host) ? "" : host };
  const socket = connect(options, () => resolve(true));
  socket.on("error", () => resolve(false));
  socket.on("close", () => resolve(false));
  const cancel = clock.after(LONGEST, () => resolve(false));
  return await promise.finally(() => {
    cancel();
    socket.destroy();
  });
}
