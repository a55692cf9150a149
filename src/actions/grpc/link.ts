import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import { ConnectionLost, type GrpcCall, type GrpcResponse, makeCall } from "./grpc_call.ts";
import type { FileRegistry } from "./link_files.ts";
import { type GrpcSession, openGrpcSession } from "./grpc_session.ts";

/** The connection to a server and its services, which all steps of a scope share. */
export interface GrpcLink {
  readonly endpoint: Endpoint;
  readonly tls: TlsOptions | undefined;
  readonly session: Shared<GrpcSession>;
  /** By the name that a step gives. */
  readonly services: Map<string, Shared<ServiceTypes>>;
  /** Whether the server has ever answered. */
  hasAnswered: boolean;
}

/** The types of a service, and its full name. */
export interface ServiceTypes {
  readonly types: FileRegistry;
  readonly service: string;
}

/** Something that several steps share, made by the first of them. */
export interface Shared<T> {
  current: Promise<T> | undefined;
}

/** A link to a server, which connects with the first call. */
export function makeLink(endpoint: Endpoint, tls: TlsOptions | undefined): GrpcLink {
  return {
    endpoint,
    tls,
    session: { current: undefined },
    services: new Map(),
    hasAnswered: false,
  };
}

/** Closes the connection, if there is one. */
export async function closeLink({ session }: GrpcLink): Promise<void> {
  const open = await session.current?.catch(() => undefined);
  open?.close();
}

/**
 * Returns the shared value, or creates it. If a step fails to create it, the next step that
 * waits tries again, with its own timeout. `activity` is what it waits for.
 */
export async function share<T>(
  shared: Shared<T>,
  make: () => Promise<T>,
  activity: string,
  { signal }: ActionContext,
  isGood: (made: T) => boolean = () => true,
): Promise<T> {
  for (;;) {
    if (!shared.current) {
      const created = shared.current = make();
      try {
        return await created;
      } catch (error) {
        if (shared.current === created) shared.current = undefined;
        throw error;
      }
    }
    const { current } = shared;
    const stopped = Promise.withResolvers<never>();
    const forget = onAbort(signal, ({ message, hint }) => {
      stopped.reject(new StepError(`${message} while ${activity}`, hint));
    });
    try {
      const made = await Promise.race([current, stopped.promise]);
      if (isGood(made)) return made;
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      forget();
    }
    if (shared.current === current) shared.current = undefined;
  }
}

/** Makes a call over a link. `activity` is what it waits for: `the answer of demo.v1.Users/Get`. */
export async function callOver(
  link: GrpcLink,
  call: GrpcCall,
  activity: string,
  context: ActionContext,
): Promise<GrpcResponse> {
  for (let isAgain = false;; isAgain = true) {
    const open = () => openGrpcSession(link.endpoint, link.tls, context);
    const connecting = `connecting to ${placeOf(link.endpoint)}`;
    const session = await share(
      link.session,
      open,
      connecting,
      context,
      ({ isOpen }) => isOpen,
    );
    const { clock } = context.host;
    const began = clock.ticks();
    try {
      const answer = await makeCall(session, call, context);
      link.hasAnswered = true;
      if (isTimeout(answer, call, clock.ticks() - began)) await untilAborted(context);
      return answer;
    } catch (error) {
      if (error instanceof StepError) {
        const address = placeOf(link.endpoint);
        throw new StepError(
          `${error.message} while waiting for ${activity} from ${address}`,
          error.hint,
        );
      }
      if (!(error instanceof ConnectionLost)) throw error;
      link.session.current = undefined;
      session.close();
      if (error.isUnprocessed && link.hasAnswered && !isAgain) continue;
      throw await explainLoss(link, error, activity, context);
    }
  }
}

const DEADLINE_EXCEEDED = 4;

/** Milliseconds by which the clock of a server may be ahead. */
const AHEAD = 100;

/** Whether a server ended a call because our own timeout is over, which it knows. */
function isTimeout(
  { status }: GrpcResponse,
  { timeout, deadline }: GrpcCall,
  elapsed: number,
): boolean {
  return status.code === DEADLINE_EXCEEDED && timeout < (deadline ?? Infinity) &&
    elapsed > timeout - AHEAD;
}

/** Waits until the attempt ends, and throws the reason; it does not wait long. */
async function untilAborted({ signal, deadline }: ActionContext): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const forget = onAbort(signal, reject);
  const limit = deadline.after(2 * AHEAD, resolve);
  try {
    await promise;
  } finally {
    forget();
    limit.cancel();
  }
}

async function explainLoss(
  { endpoint, tls, hasAnswered }: GrpcLink,
  { cause, received }: ConnectionLost,
  activity: string,
  { host }: ActionContext,
): Promise<StepError> {
  const address = placeOf(endpoint);
  const after = received === 0 ? "" : ` after ${received} message${received === 1 ? "" : "s"}`;
  const message = `the connection to ${address} was lost while waiting for ${activity}${after}`;
  const { message: reason, hint } = cause === undefined
    ? { message: "the server closed it", hint: undefined }
    : await explainConnection(cause, endpoint, host.clock, tls);
  if (hasAnswered) return new StepError(`${message}: ${reason}`, hint, { cause: reason });
  const doubt = !tls
    ? 'does a gRPC server listen there? if it expects TLS, write "tls: true"'
    : tls.cert === undefined
    ? "it may want a client certificate: tls: { cert: client.pem, key: client_key.pem }"
    : "the server may have refused the client certificate";
  return new StepError(`${message}: ${reason}`, hint ?? doubt, { cause: reason });
}
