/** A local HTTP server on a free port, for as long as a test needs it. */
export interface TestServer extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
}

/** Certificate and key of a server that speaks TLS, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Starts a server that answers with `handler`: `await using server = withServer(…)`. */
export function withServer(
  handler: (request: Request, info: Deno.ServeHandlerInfo) => Response | Promise<Response>,
  certificate?: Certificate,
): TestServer {
  const base = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = certificate
    ? Deno.serve({ ...base, ...certificate }, handler)
    : Deno.serve(base, handler);
  const { port } = server.addr;
  return {
    url: `${certificate ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
