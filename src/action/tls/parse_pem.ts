import { StepError } from "../../base/errors.ts";

const { createPrivateKey, X509Certificate } = await import("node:crypto");
type Certificate = InstanceType<typeof X509Certificate>;
type Key = ReturnType<typeof createPrivateKey>;

/** The source of a certificate or a key. */
export interface Material {
  /** Its name in messages: `the CA certificate "ca.pem"`. */
  readonly label: string;
  readonly bytes: Uint8Array;
}

/** A certificate with its chain and its key, both in PEM form; the key is not encrypted. */
export interface ClientCertificate {
  /** The certificate, in PEM form. */
  readonly cert: string;
  /** Its key, likewise. */
  readonly key: string;
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
