import { StepError, UsageError } from "../../base/errors.ts";
import type { Host } from "../../host/host.ts";
import type { RunTls } from "../action.ts";
import { type ClientCertificate, isPem } from "./tls_options.ts";

const { createPrivateKey, X509Certificate } = await import("node:crypto");
type Certificate = InstanceType<typeof X509Certificate>;
type Key = ReturnType<typeof createPrivateKey>;

/** The source of a certificate or a key. */
export interface Material {
  /** Its name in messages: `the CA certificate "ca.pem"`. */
  readonly label: string;
  readonly bytes: Uint8Array;
}

/** Certificates of authorities, one by one in PEM form. Throws `StepError`. */
export function parseAuthorities(material: Material): string[] {
  return parseCertificates(material).map((certificate) => certificate.toString());
}

/** A certificate and its key, which may be encrypted. Throws `StepError`. */
export function parseClientCertificate(
  cert: Material,
  key: Material,
  passphrase: string | undefined,
): ClientCertificate {
  const chain = parseCertificates(cert);
  const privateKey = parseKey(key, passphrase);
  if (!chain[0]!.checkPrivateKey(privateKey)) {
    throw unusable(key, `does not belong to ${cert.label}`, "the two have to be a pair");
  }
  return {
    cert: chain.map((certificate) => certificate.toString()).join(""),
    key: String(privateKey.export({ type: "pkcs8", format: "pem" })),
  };
}

/** The client certificate in a PFX (PKCS #12) file. Throws `StepError`. */
export async function parsePfx(
  { label, bytes }: Material,
  passphrase: string | undefined,
): Promise<ClientCertificate> {
  const { createSecureContext } = await import("node:tls");
  const { Buffer } = await import("node:buffer");
  try {
    const options = { pfx: Buffer.from(bytes), passphrase: passphrase ?? "" };
    const { context } = createSecureContext(options) as unknown as {
      readonly context: { readonly cert: string; readonly key: string };
    };
    return { cert: context.cert, key: context.key };
  } catch (error) {
    const isLocked = error instanceof Error && /mac verify/.test(error.message);
    throw isLocked
      ? unusable({ label, bytes }, `${lockedBy(passphrase)} (mac verify failure)`, PASSPHRASE)
      : unusable({ label, bytes }, "is not in PKCS #12 form");
  }
}

function lockedBy(passphrase: string | undefined): string {
  return passphrase === undefined ? "is encrypted" : "has another passphrase";
}

const PASSPHRASE = 'give its passphrase: "passphrase" of "tls"';

function parseCertificates(material: Material): Certificate[] {
  const text = new TextDecoder().decode(material.bytes);
  const blocks = text.match(
    /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^]*?-----END [^-]+-----/g,
  );
  const parts = blocks ?? (text.includes("-----BEGIN ") ? [] : [material.bytes]);
  if (parts.length === 0) throw unusable(material, "holds no certificate");
  return parts.map((part) => {
    try {
      return new X509Certificate(part);
    } catch {
      throw unusable(
        material,
        "is not a certificate in PEM or DER form",
        "PEM is text that begins with -----BEGIN CERTIFICATE-----",
      );
    }
  });
}

function parseKey(material: Material, passphrase: string | undefined): Key {
  const text = new TextDecoder().decode(material.bytes);
  const [block] = /-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----[^]*?-----END [^-]+-----/.exec(text) ??
    [];
  if (block === undefined) {
    throw unusable(
      material,
      "holds no private key in PEM form",
      text.includes("-----BEGIN CERTIFICATE")
        ? 'a certificate is not enough: give its "key" too'
        : "PEM is text that begins with -----BEGIN PRIVATE KEY-----",
    );
  }
  try {
    return createPrivateKey({ key: block, passphrase });
  } catch (error) {
    if (/ENCRYPTED/.test(block)) throw unusable(material, lockedBy(passphrase), PASSPHRASE);
    const reason = error instanceof Error ? `: ${error.message}` : "";
    throw unusable(material, `is not a key that can be used${reason}`);
  }
}

function unusable({ label }: Material, reason: string, hint?: string): StepError {
  return new StepError(`${label} ${reason}`, hint, { parameter: "tls" });
}

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
