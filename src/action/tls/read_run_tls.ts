import type { Host } from "../../host/host.ts";
import { StepError, UsageError } from "../../base/errors.ts";
import type { RunTls } from "../action.ts";
import { type Material, parseAuthorities, parseClientCertificate } from "./parse_pem.ts";
import { isPem } from "./tls_options.ts";

/** The TLS settings of a whole run: paths from the current directory, or PEM text. */
interface GivenRunTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  /** The key of `cert`; one file may hold both. */
  readonly key?: string | undefined;
  readonly insecure?: boolean | undefined;
}

/**
 * Reads the certificates that all TLS connections of a run use, before it begins. `nameOf` says
 * how messages name an option. Throws `UsageError`.
 */
export async function readRunTls(
  { ca, cert, key, insecure }: GivenRunTls,
  host: Host,
  nameOf: (option: "ca" | "cert" | "key") => string,
): Promise<RunTls> {
  if (key !== undefined && cert === undefined) {
    const message = `${nameOf("key")} requires ${nameOf("cert")}`;
    throw new UsageError(message, "it is the key of the client certificate");
  }
  try {
    const read = (option: "ca" | "cert" | "key", value: string) =>
      readMaterial(nameOf(option), value, host);
    const client = cert === undefined ? undefined : parseClientCertificate(
      await read("cert", cert),
      await read(key === undefined ? "cert" : "key", key ?? cert),
      undefined,
    );
    return {
      ca: ca === undefined ? undefined : parseAuthorities(await read("ca", ca)).join(""),
      ...client,
      insecure: insecure || undefined,
    };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    throw new UsageError(error.message, error.hint);
  }
}

async function readMaterial(option: string, value: string, host: Host): Promise<Material> {
  if (isPem(value)) {
    return { label: `PEM text of ${option}`, bytes: new TextEncoder().encode(value) };
  }
  const label = `file "${value}" of ${option}`;
  try {
    return { label, bytes: await host.files.read(value) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const reason = error instanceof Deno.errors.NotFound ? "no such file (ENOENT)" : error.message;
    throw new UsageError(`cannot read the ${label}: ${reason}`);
  }
}
