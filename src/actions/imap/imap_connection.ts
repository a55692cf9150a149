import type { ImapFlow, ImapFlowError } from "imapflow";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { codeOf, type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { checkNet } from "../../action/net/open_socket.ts";
import { speakUntilTls } from "../../action/net/speak_until_tls.ts";
import { onAbort } from "../../action/on_abort.ts";
import { GIVE_CERTIFICATE } from "../../action/tls/explain_tls.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";

export type {
  FetchMessageObject,
  FetchQueryObject,
  ImapFlow,
  ImapFlowError,
  MailboxObject,
  MessageAddressObject,
  SearchObject,
} from "imapflow";

/** Where the server is, and as whom to sign in. */
export interface ImapServer extends Endpoint {
  readonly username: string;
  readonly password?: string;
  readonly accessToken?: string;
  readonly tls: TlsOptions & { readonly checkServerIdentity?: () => undefined };
  /** When TLS begins. */
  readonly security: "tls" | "starttls" | "none";
}

/** A connection that is signed in, and what its last command failed with. */
export interface ImapConnection {
  readonly client: ImapFlow;
  /** Returns the last refusal of the server, and clears it. */
  takeError(): ImapFlowError | undefined;
  /** Why the server closed the connection, if that is the last thing it said. */
  lastRefusal(): string | undefined;
}

/** All waiting is bounded by the attempt; the timeouts of the library are out of the way. */
const NEVER = 86_400_000;

const SPEAKS_TLS = "does the port speak TLS? write tls: true";

/** Connects and signs in. */
export async function openImap(
  server: ImapServer,
  context: ActionContext,
): Promise<ImapConnection> {
  await checkNet(server, context);
  const { ImapFlow } = await import("imapflow");
  let refused: ImapFlowError | undefined;
  const note = (entry: { readonly err?: ImapFlowError }) => {
    refused = entry.err ?? refused;
  };
  let heard = "";
  const hear = ({ src, data = "" }: { readonly src?: string; readonly data?: string }) => {
    if (src !== "s") return;
    // The library would wait for a greeting on and on.
    if (heard === "" && data !== "" && !atob(data).startsWith("*")) {
      aborted.reject(speaksOther(server, atob(data), context));
    }
    heard = data;
  };
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const { password, accessToken } = server;
  const client = new ImapFlow({
    host: server.host,
    port: server.port,
    secure: server.security === "tls",
    doSTARTTLS: server.security === "starttls",
    auth: {
      user: server.username,
      ...accessToken === undefined ? { pass: password } : { accessToken },
    },
    tls: { ...server.tls },
    ...server.tls.servername === undefined ? {} : { servername: server.tls.servername },
    clientInfo: { name: "runner" },
    logger: { trace: hear, debug: () => {}, info: () => {}, warn: note, error: note },
    // The library does not parse what came together with the end of the connection.
    logRaw: true,
    disableAutoIdle: true,
    connectionTimeout: NEVER,
    greetingTimeout: NEVER,
    socketTimeout: NEVER,
  });
  // A command that is waiting reports the error itself.
  client.on("error", () => {});
  const forget = onAbort(context.signal, (reason) => {
    const place = `the mailbox server at ${placeOf(server)}`;
    const doing = client.connectedAt === null
      ? `connecting to ${place}`
      : client.greeting === undefined
      ? `waiting for the greeting of ${place}`
      : `signing in to ${place}`;
    const isSilent = client.connectedAt !== null && client.greeting === undefined;
    const hint = isSilent && server.security !== "tls" ? SPEAKS_TLS : reason.hint;
    aborted.reject(new StepError(`${reason.message} while ${doing}`, hint));
  });
  try {
    await Promise.race([client.connect(), aborted.promise]);
  } catch (error) {
    client.close();
    throw error instanceof StepError
      ? error
      : await explain(error as ImapFlowError, lastRefusal(heard), server, context);
  } finally {
    forget();
  }
  return {
    client,
    lastRefusal: () => lastRefusal(heard),
    takeError() {
      const taken = refused;
      refused = undefined;
      return taken;
    },
  };
}

/** A server sent something else than a greeting. */
function speaksOther(server: ImapServer, sent: string, { secrets }: ActionContext): StepError {
  return new StepError(
    `cannot connect to the mailbox server at ${placeOf(server)}: it does not speak IMAP: ` +
      `it sent ${JSON.stringify(excerpt(sent.trimEnd(), secrets))}`,
    "check the port: IMAP is at 143 or 993",
  );
}

/** Whether the server closed the connection; `reason` is what it said to that. */
export function isClosed(error: unknown): boolean {
  return /^(NoConnection|EConnectionClosed|ClosedAfterConnect)/.test(codeOf(error));
}

/** The response of the server that refused a command. */
export function refusalOf({ responseText, serverResponseCode, message }: ImapFlowError): string {
  const code = serverResponseCode ? ` (${serverResponseCode})` : "";
  return `${responseText ?? message}${code}`;
}

/** The refusal at the end of what came last, in base64: `Too many connections (LIMIT)`. */
function lastRefusal(heard: string): string | undefined {
  // More is a mail, and no refusal.
  if (heard.length > 2000) return undefined;
  const last = atob(heard).trimEnd().split("\n").at(-1)!;
  const [, code, text] = /^\S+ (?:NO|BAD|BYE) (?:\[([^\]]+)\] *)?(.*)/.exec(last) ?? [];
  return code === undefined ? text : `${text} (${code})`;
}

/** Codes of a refusal that has other reasons than the password. */
const NOT_THE_PASSWORD = /^(LIMIT|INUSE|UNAVAILABLE|CONTACTADMIN|SERVERBUG|PRIVACYREQUIRED)$/;

/** The dialogue up to where STARTTLS begins. */
const UNTIL_TLS = [
  { reply: /^\* OK[^\n]*\n/m, send: "a STARTTLS\r\n" },
  { reply: /^a OK[^\n]*\n/m },
];

async function explain(
  error: ImapFlowError,
  refusal: string | undefined,
  server: ImapServer,
  context: ActionContext,
): Promise<StepError> {
  const place = `the mailbox server at ${placeOf(server)}`;
  const doing = `cannot connect to ${place}`;
  if (error.authenticationFailed) {
    const said = typeof error.response === "string" ? error.response.replace(/^\S+ /, "") : "";
    const { serverResponseCode: reason = "" } = error;
    const isOther = NOT_THE_PASSWORD.test(reason);
    return new StepError(
      `cannot sign in to ${place} as ${JSON.stringify(server.username)}: ${
        isOther ? refusalOf(error) : error.responseText ?? (said || error.message)
      }`,
      reason === "PRIVACYREQUIRED"
        ? "write tls: true, or starttls: true"
        : /certificate/i.test(error.responseText ?? "") && server.tls.cert === undefined
        ? GIVE_CERTIFICATE
        : isOther
        ? undefined
        : 'check "username" and "password"',
    );
  }
  if (/STARTTLS/.test(error.message) && error.tlsFailed) {
    return new StepError(
      `${doing}: it does not offer STARTTLS`,
      "leave out starttls, or write tls: true for a port that speaks TLS from the first byte",
    );
  }
  const { code = "" } = error;
  if (isClosed(error)) {
    return new StepError(
      `${doing}: it closed the connection${refusal ? `: ${refusal}` : ` (${code})`}`,
      server.security === "tls" || refusal ? undefined : SPEAKS_TLS,
      { cause: `${placeOf(server)} closed the connection` },
    );
  }
  if (/^(ParserError|InvalidResponse|UnexpectedTag|MissingTag)/.test(code)) {
    return new StepError(`${doing}: it does not speak IMAP: ${error.message} (${code})`);
  }
  const { words, hint } = await explainConnection(
    error,
    server,
    context.host.clock,
    server.tls,
    server.security === "starttls" ? () => speakUntilTls(server, UNTIL_TLS) : undefined,
  );
  return new StepError(`${doing}: ${words}`, hint, { cause: words });
}
