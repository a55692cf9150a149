import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { codeOf } from "../../../action/net/endpoint.ts";
import { onAbort } from "../../../action/on_abort.ts";
import { StepError } from "../../../base/errors.ts";
import { demandAccess } from "../connection/connection.ts";
import { type ContentStream, isStream } from "../request/body.ts";
import { isSafe } from "../request/http_syntax.ts";
import { type HttpRequest, wireValue } from "../request/read_request.ts";
import { type OpenedSocket, openSocket } from "./http_connection.ts";
import {
  type Client,
  ClosedEarly,
  findHeader,
  type HttpExchange,
  NO_OPENING,
  type Opening,
  OpeningFailure,
  type Phase,
  type RawResponse,
  ResponseBody,
  type SavedBody,
  SendFailure,
  type SendOptions,
} from "./model.ts";

const { connect: connectHttp2, constants } = await import("node:http2");

/** A session and its connection, or that the server speaks HTTP/1.1 alone. */
type Opened =
  | { readonly session: ClientHttp2Session; readonly tls: OpenedSocket["tls"]; opening: Opening }
  | "1.1";

/** The sessions of a run, by connection and origin. */
const sessionsByClient = new WeakMap<Client, Map<string, Promise<Opened>>>();

/**
 * Sends a request over HTTP/2: all requests to an origin share one session. With `auto`, a server
 * that does not speak it gets the request over HTTP/1.1.
 */
export function sendHttp2(
  client: Client,
  request: HttpRequest,
  options: SendOptions,
): HttpExchange {
  const isPlain = request.url.protocol === "http:";
  if (isPlain && options.connection.version === "auto") {
    return client.send(request, options);
  }
  return new Http2Exchange(request, client, options);
}

/** A request under way. */
class Http2Exchange implements HttpExchange {
  readonly reply: Promise<RawResponse>;
  readonly #request: HttpRequest;
  readonly #client: Client;
  readonly #options: SendOptions;
  readonly #stop = new AbortController();
  #stream: ClientHttp2Stream | undefined;
  #older: HttpExchange | undefined;
  #phase: Phase = "connecting";
  #body: ResponseBody | undefined;
  #isReused = false;
  #isResent = false;

  constructor(request: HttpRequest, client: Client, options: SendOptions) {
    this.#request = request;
    this.#client = client;
    this.#options = options;
    this.reply = this.#run().catch((error) => {
      throw error instanceof SendFailure ? error : this.#failure(error);
    });
  }

  abort(reason: unknown): void {
    this.#older?.abort(reason);
    this.#stop.abort(reason);
    this.#stream?.close(constants.NGHTTP2_CANCEL);
  }

  async #run(): Promise<RawResponse> {
    const options = this.#options;
    const { connection } = options;
    const { method, url } = this.#request;
    options.onDispatch();
    demandAccess(this.#request, connection);
    for (let isFresh = false;; isFresh = true) {
      const opened = await this.#unlessStopped(this.#open(isFresh));
      if (opened === "1.1") {
        this.#older = this.#client.send(this.#request, this.#options);
        return await this.#older.reply;
      }
      try {
        return await this.#unlessStopped(this.#exchange(opened));
      } catch (error) {
        if (isFresh || this.#stop.signal.aborted) throw error;
        // The server says that it did nothing with the request.
        if (error instanceof Unprocessed) continue;
        const isReset = error instanceof StepError || codeOf(error) === "ERR_HTTP2_STREAM_ERROR";
        const isStale = this.#isReused && this.#phase === "waiting" && !isReset;
        if (!isStale || !isSafe(method)) throw error;
        this.#isResent = true;
        options.log(
          `${method} ${url} is sent again: the server closed the connection without an answer`,
        );
      }
    }
  }

  #open(isFresh: boolean): Promise<Opened> {
    const client = this.#client;
    const { connection } = this.#options;
    let sessions = sessionsByClient.get(client);
    if (!sessions) sessionsByClient.set(client, sessions = new Map());
    const key = `${connection.id} ${this.#request.url.origin}`;
    const before = isFresh ? undefined : sessions.get(key);
    this.#isReused = before !== undefined;
    if (before) return before;
    const opening = openSession(this.#request, this.#options);
    const forget = () => {
      if (sessions.get(key) === opening) sessions.delete(key);
    };
    opening.then((opened) => {
      if (opened === "1.1") return;
      const { session } = opened;
      client.others.add(session);
      session.on("goaway", forget);
      session.on("close", () => {
        client.others.delete(session);
        forget();
      });
    }, forget);
    sessions.set(key, opening);
    return opening;
  }

  #exchange(opened: Exclude<Opened, "1.1">): Promise<RawResponse> {
    const { session, tls, opening } = opened;
    const { clock, maxBody, sink } = this.#options;
    const { body: content, method } = this.#request;
    let rawHeaders: readonly string[] = [];
    let rawTrailers: readonly string[] = [];
    let code = 0;
    let answered = 0;
    const sent = clock.ticks();
    if (session.closed || session.destroyed) throw new Unprocessed();
    const stream = session.request(headersOf(this.#request), { endStream: content === undefined });
    opened.opening = NO_OPENING;
    this.#stream = stream;
    this.#phase = "waiting";
    const hasEnded = watchEnd(stream);
    return new Promise((resolve, reject) => {
      let lastStream: number | undefined;
      const onGoaway = (_code: number, last: number) => lastStream = last;
      session.once("goaway", onGoaway);
      let failed: unknown;
      let saving: Promise<SavedBody | undefined> | undefined;
      const cancel = () => stream.close(constants.NGHTTP2_CANCEL);
      stream.on("response", (headers, _flags, ...[raw]: string[][]) => {
        answered = clock.ticks();
        code = Number(headers[":status"]);
        rawHeaders = withoutPseudo(raw ?? namesAndValues(headers));
        this.#phase = "receiving";
        const isSaved = sink?.takes(code, rawHeaders) && method !== "HEAD" && code !== 204;
        const source = {
          pause: () => void stream.pause(),
          resume: () => void stream.resume(),
          cancelBody: cancel,
        };
        const body = this.#body = new ResponseBody(
          source,
          undefined,
          isSaved ? undefined : maxBody,
        );
        stream.on("data", (chunk: Uint8Array) => {
          try {
            body.append(chunk, 0, chunk.length);
          } catch (error) {
            failed ??= error;
            cancel();
          }
        });
        if (!isSaved) return;
        saving = sink!.save(body, findHeader(rawHeaders, "content-encoding") ?? "");
        saving.catch((error) => {
          failed ??= error;
          cancel();
        });
      });
      stream.on("trailers", (headers, _flags, ...[raw]: string[][]) => {
        rawTrailers = withoutPseudo(raw ?? namesAndValues(headers));
      });
      stream.on("error", (error) => failed ??= error);
      stream.on("end", () => {
        if (hasEnded()) this.#body?.complete();
        // A server that answers early wants no more of the body, and may never read it.
        if (!stream.writableFinished) cancel();
      });
      stream.on("close", () => {
        session.off("goaway", onGoaway);
        const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ||
          lastStream !== undefined && (stream.id ?? Infinity) > lastStream;
        if (code === 0 && isRefused) return reject(new Unprocessed());
        // A server may refuse the rest of the body of a request after its response.
        const isWhole = hasEnded() && stream.readableEnded &&
          (stream.rstCode === constants.NGHTTP2_NO_ERROR || failed === undefined);
        if (code === 0 || !isWhole && !(saving && sink?.isDone)) {
          const error = failed ?? (session.closed ? new ClosedEarly() : resetBy(stream));
          this.#body?.fail(error);
          return reject(error);
        }
        const ended = clock.ticks();
        const phases = { ...opening, first_byte: answered - sent, download: ended - answered };
        const isResent = this.#isResent;
        const head = {
          code,
          reason: "",
          rawHeaders,
          rawTrailers,
          version: "2",
          phases,
          tls,
          isResent,
        };
        if (!saving) return resolve({ ...head, body: this.#body!.take() });
        saving.then((saved) => resolve({ ...head, body: new Uint8Array(), saved }), reject);
      });
      if (isStream(content)) sendStream(content, stream).catch((error) => this.abort(error));
      else if (content !== undefined) stream.end(content);
    });
  }

  /** Resolves like a promise, or rejects with the reason to stop. */
  #unlessStopped<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this.#stop;
    return new Promise((resolve, reject) => {
      const forget = onAbort(signal, reject);
      promise.then(resolve, reject).finally(forget);
    });
  }

  #failure(error: unknown): SendFailure {
    const isOpening = error instanceof OpeningFailure;
    const cause = error instanceof Unprocessed
      ? new StepError("the server refuses streams (REFUSED_STREAM)")
      : isOpening
      ? error.cause
      : error;
    const { connection } = this.#options;
    return new SendFailure(
      cause,
      this.#request,
      isOpening ? error.stage : this.#phase,
      this.#body?.received ?? 0,
      connection,
    );
  }
}

/**
 * Watches whether the server ends its response (END_STREAM). A reader sees the same end where it
 * resets the stream without an error, or closes the connection.
 */
function watchEnd(stream: ClientHttp2Stream): () => boolean {
  let hasEnded = false;
  const push = stream.push;
  stream.push = (chunk, encoding) => {
    // The runtime closes the stream first in the other cases.
    hasEnded ||= chunk === null && !stream.closed;
    return push.call(stream, chunk, encoding);
  };
  return () => hasEnded;
}

/** The codes of a reset without an error; the runtime says the others. */
function resetBy({ rstCode }: ClientHttp2Stream): StepError {
  const name = rstCode === constants.NGHTTP2_CANCEL ? "CANCEL" : "NO_ERROR";
  return new StepError(`the server reset the stream (${name})`);
}

/** Sends a body as the server takes it. Stops silently if the stream is closed. */
async function sendStream(content: ContentStream, stream: ClientHttp2Stream): Promise<void> {
  for await (const chunk of content.open()) {
    if (stream.destroyed) return;
    if (stream.write(chunk)) continue;
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const event of ["drain", "close", "error"]) stream.once(event, () => resolve());
    await promise;
  }
  stream.end();
}

/**
 * The bytes that a server may send before it hears that they were read: the 64 KB of the protocol
 * would bound a download by the time that this takes.
 */
const STREAM_WINDOW = 4 * 1024 * 1024;
const SESSION_WINDOW = 4 * STREAM_WINDOW;

/** The server did not process a request: it may be sent again. */
class Unprocessed extends Error {}

async function openSession({ url }: HttpRequest, options: SendOptions): Promise<Opened> {
  const { connection, clock } = options;
  const isSecure = url.protocol === "https:";
  const { version } = connection;
  const protocols = version === "auto" ? ["h2", "http/1.1"] : ["h2"];
  const { socket, tls, opening } = await openSocket(url, connection, { clock, protocols });
  if (isSecure && tls?.alpn !== "h2") {
    socket.destroy();
    if (connection.version === "auto") return "1.1";
    throw new StepError(
      "the server does not speak HTTP/2 (ALPN)",
      'leave "version" out, or set it to auto',
    );
  }
  // The runtime makes an invalid URL of an empty one, as for an address.
  if (isSecure) Object.defineProperty(socket, "servername", { value: url.hostname });
  const session = connectHttp2(url.origin, {
    createConnection: () => socket as never,
    settings: { initialWindowSize: STREAM_WINDOW },
  });
  session.setLocalWindowSize(SESSION_WINDOW);
  // Each request under way has one.
  session.setMaxListeners(0);
  // Each stream fails by itself.
  session.on("error", () => {});
  return { session, tls, opening };
}

/** Headers of a connection, which HTTP/2 does not allow. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  ...["host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"],
]);

function headersOf({ method, url, headers }: HttpRequest): Record<string, string | string[]> {
  const wire: Record<string, string | string[]> = {
    ":method": method,
    ":scheme": url.protocol.slice(0, -1),
    ":authority": String(headers.Host ?? url.host),
    ":path": url.pathname + url.search,
  };
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (OF_CONNECTION.has(lower)) continue;
    wire[lower] = typeof value === "string"
      ? wireValue(name, value)
      : value.map((one) => wireValue(name, one));
  }
  return wire;
}

/** Names and values in turn, without the pseudo-headers. */
function withoutPseudo(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !raw[at - at % 2]!.startsWith(":"));
}

/** The headers of node:http2 as node:http gives them: names and values in turn. */
function namesAndValues(headers: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [name, String(one)])
  );
}
