import type { Socket } from "node:net";
import { StepError } from "../../base/errors.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import type { ConnectRequest, DatabaseServer } from "./database.ts";

/** What is known of an error of a driver while it connected. */
interface Cause {
  /** The code by which the server refused, if it was the server. */
  readonly refusal?: { readonly code: string; readonly isSignIn: boolean } | undefined;
  /** Whether the server does not speak TLS. */
  readonly isPlain: boolean;
  /** Whether the server is one of something else. */
  readonly isForeign: boolean;
  readonly usualPort: number;
  /** Connects once more up to where TLS begins. */
  readonly look: (server: DatabaseServer) => Promise<Socket>;
}

/** Why there is no connection to a server of that product. */
export async function connectProblem(
  product: string,
  error: unknown,
  { server, tls, context }: ConnectRequest,
  { refusal, isPlain, isForeign, usualPort, look }: Cause,
): Promise<StepError> {
  const place = `${product} at ${server.socket ?? placeOf(server)}`;
  const doing = `cannot connect to ${place}`;
  if (error instanceof StepError) {
    return new StepError(`${error.message} while connecting to ${place}`, error.hint);
  }
  if (refusal) {
    const { code, isSignIn } = refusal;
    const message = error instanceof Error ? error.message : String(error);
    return new StepError(
      `${doing}: ${isSignIn ? "sign-in failed: " : ""}${message} (${code})`,
      isSignIn ? 'check the user name and the password in "dsn"' : undefined,
    );
  }
  if (isPlain) {
    return new StepError(
      `${doing}: the server does not speak TLS`,
      "write sslmode=disable or sslmode=prefer in the DSN to go without",
    );
  }
  if (isForeign) {
    return new StepError(
      `${doing}: the server does not speak the protocol of ${product}`,
      `check the port: ${product} is usually at ${usualPort}`,
    );
  }
  if (error instanceof Error && /password must be a string/.test(error.message)) {
    return new StepError(
      `${doing}: the server asks for a password`,
      'write it in "dsn": postgres://user:password@host/name',
    );
  }
  const { words, hint } = await explainConnection(
    error,
    server,
    context.host.clock,
    tls?.options,
    () => look(server),
  );
  return new StepError(`${doing}: ${words}`, hint, { cause: words });
}
