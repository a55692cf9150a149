/** The TLS options for `connect()` of node:tls and libraries built on it. */
export interface TlsOptions extends Partial<ClientCertificate> {
  /** Certificates in PEM form that are trusted in place of those of the system. */
  readonly ca?: string[];
  /** For SNI and the check of the certificate; absent for the host to connect to. */
  readonly servername?: string;
  /** The oldest version that is accepted. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3";
  /** Whether to verify the certificate of the server. */
  readonly rejectUnauthorized: boolean;
}

/** Whether a text is a certificate or a key itself, and not the path of one. */
export function isPem(value: unknown): value is string {
  return typeof value === "string" && value.includes("-----BEGIN ");
}

/** A certificate with its chain and its key, both in PEM form; the key is not encrypted. */
export interface ClientCertificate {
  /** The certificate, in PEM form. */
  readonly cert: string;
  /** Its key, likewise. */
  readonly key: string;
}
