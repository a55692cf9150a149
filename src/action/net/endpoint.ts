/** A host and a port to connect to. An IPv6 address has no brackets. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A host as URLs write it. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** A host and a port as messages name them: `localhost port 6379`. */
export function addressOf({ host, port }: Endpoint): string {
  return `${bracketed(host)} port ${port}`;
}

/** A host and a port as URLs write them: `localhost:6379`. */
export function authorityOf({ host, port }: Endpoint): string {
  return `${bracketed(host)}:${port}`;
}

/** The code of an error of the system or of a driver, `ECONNREFUSED`; empty if it has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  // The runtime has no code for an address or port that this machine does not have.
  if (code === "EINVAL" && /^(?:bind|connect) (?!.*fe80:)/i.test((error as Error).message)) {
    return "EADDRNOTAVAIL";
  }
  return typeof code === "string" ? code : "";
}
