import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { onAbort } from "../../../action/on_abort.ts";
import { StepError } from "../../../base/errors.ts";
import { openServerSocket } from "../connection/open_server_socket.ts";
import { namesAndValues, toByteString } from "../request/http_syntax.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { isStream } from "../request/request_body.ts";
import type { SavedBody } from "../response/save_body.ts";
import { addChunk, BodyTooLarge, counted } from "./body_chunks.ts";
import { measure, takeMarks } from "./phases.ts";
import {
  ClosedEarly,
  demandAccess,
  findHeader,
  type Phase,
  type RawResponse,
  secureFacts,
  send,
  SendFailure,
  type SendOptions,
} from "./send.ts";
import { sendContent } from "./send_content.ts";
import type { Sockets } from "./sockets.ts";

const { connect: connectHttp2, constants } = await import("node:http2");

/** A request that is under way, over whatever version of HTTP. */
interface UnderWay {
  readonly reply: Promise<RawResponse>;
  abort(reason: unknown): void;
}

/** A session, or that the server speaks HTTP/1.1 alone. */
type Opened = { readonly session: ClientHttp2Session; readonly socket: Socket } | "1.1";

/** The sessions of a run, by connection and origin. */
const known = new WeakMap<Sockets, Map<string, Promise<Opened>>>();

/**
 * Sends a request over HTTP/2: all requests to an origin share one session. With `auto`, a server
 * that does not speak it gets the request over HTTP/1.1.
 */
export function sendHttp2(request: HttpRequest, options: SendOptions): UnderWay {
  const isPlain = request.url.protocol === "http:";
  if (isPlain && options.connection.version === "auto") return send(request, options);
  return new Http2Exchange(request, options);
}

/** A request under way. */
class Http2Exchange implements UnderWay {
  /** Rejects with `SendFailure` alone. */
  readonly reply: Promise<RawResponse>;
  readonly #request: HttpRequest;
  readonly #options: SendOptions;
  readonly #stop = new AbortController();
  #stream: ClientHttp2Stream | undefined;
  #older: UnderWay | undefined;
  #phase: Phase = "connecting";
  #received = 0;
  #isReused = false;

  constructor(request: HttpRequest, options: SendOptions) {
    this.#request = request;
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
    this.#options.onDispatch();
    demandAccess(this.#request, this.#options.connection);
    let { fresh } = this.#options;
    for (;;) {
      const opened = await this.#unlessStopped(this.#open(fresh));
      if (opened === "1.1") {
        this.#older = send(this.#request, this.#options);
        return await this.#older.reply;
      }
      try {
        return await this.#unlessStopped(this.#exchange(opened));
      } catch (error) {
        // The server says that it did nothing with the request.
        if (!(error instanceof Unprocessed) || fresh) throw error;
        fresh = true;
      }
    }
  }

  #open(fresh: boolean): Promise<Opened> {
    const { sockets, connection } = this.#options;
    let sessions = known.get(sockets);
    if (!sessions) known.set(sockets, sessions = new Map());
    const key = `${connection.id} ${this.#request.url.origin}`;
    const before = fresh ? undefined : sessions.get(key);
    this.#isReused = before !== undefined;
    if (before) return before;
    const opening = openSession(this.#request, this.#options);
    const forget = () => {
      if (sessions.get(key) === opening) sessions.delete(key);
    };
    opening.then((opened) => {
      if (opened === "1.1") return;
      const { session } = opened;
      sockets.others.add(session);
      session.on("goaway", forget);
      session.on("close", () => {
        sockets.others.delete(session);
        forget();
      });
    }, forget);
    sessions.set(key, opening);
    return opening;
  }

  #exchange({ session, socket }: Exclude<Opened, "1.1">): Promise<RawResponse> {
    const { clock, maxBody, sink } = this.#options;
    const { body, method } = this.#request;
    const chunks: Uint8Array[] = [];
    let rawHeaders: readonly string[] = [];
    let rawTrailers: readonly string[] = [];
    let code = 0;
    let answered = 0;
    const sent = clock.ticks();
    if (session.closed || session.destroyed) throw new Unprocessed();
    const stream = session.request(headersOf(this.#request), { endStream: body === undefined });
    this.#stream = stream;
    this.#phase = "waiting";
    return new Promise((resolve, reject) => {
      let lastStream: number | undefined;
      const onGoaway = (_code: number, last: number) => lastStream = last;
      session.once("goaway", onGoaway);
      let failed: unknown;
      let saving: Promise<SavedBody | undefined> | undefined;
      stream.on("response", (headers, _flags, ...[raw]: string[][]) => {
        answered = clock.ticks();
        code = Number(headers[":status"]);
        rawHeaders = withoutPseudo(raw ?? namesAndValues(headers));
        this.#phase = "receiving";
        if (!sink?.takes(code, rawHeaders) || method === "HEAD" || code === 204) return collect();
        const encoding = findHeader(rawHeaders, "content-encoding") ?? "";
        saving = sink.save(counted(stream, (length) => this.#received += length), encoding);
        saving.catch((error) => {
          if (error instanceof StepError) failed ??= error;
          stream.close(constants.NGHTTP2_CANCEL);
        });
      });
      stream.on("trailers", (headers, _flags, ...[raw]: string[][]) => {
        rawTrailers = withoutPseudo(raw ?? namesAndValues(headers));
      });
      const collect = () =>
        void stream.on("data", (chunk: Uint8Array) => {
          this.#received += chunk.length;
          if (this.#received <= maxBody) return addChunk(chunks, chunk);
          failed = new BodyTooLarge(maxBody);
          stream.close(constants.NGHTTP2_CANCEL);
        });
      stream.on("error", (error) => failed ??= error);
      // A server that answers early wants no more of the body, and may never read it.
      stream.on("end", () => {
        if (!stream.writableFinished) stream.close(constants.NGHTTP2_CANCEL);
      });
      stream.on("close", () => {
        session.off("goaway", onGoaway);
        const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ||
          lastStream !== undefined && (stream.id ?? Infinity) > lastStream;
        if (code === 0 && isRefused) return reject(new Unprocessed());
        // A server may refuse the rest of the body without an error, too.
        const isWhole = stream.readableEnded &&
          (stream.rstCode === constants.NGHTTP2_NO_ERROR || failed === undefined);
        if (code === 0 || !isWhole) return reject(failed ?? new ClosedEarly());
        const tls = secureFacts(socket, clock);
        const phases = measure(takeMarks(socket), { sent, answered, ended: clock.ticks() });
        const reply: RawResponse = {
          ...{ code, reason: "", rawHeaders, rawTrailers, chunks, phases, version: "2" },
          ...tls ? { tls } : {},
        };
        if (saving) saving.then((saved) => resolve(saved ? { ...reply, saved } : reply), reject);
        else resolve(reply);
      });
      if (isStream(body)) sendContent(body, stream).catch((error) => this.abort(error));
      else if (body !== undefined) stream.end(body);
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
    const cause = error instanceof Unprocessed
      ? new StepError("the server refuses streams (REFUSED_STREAM)")
      : error;
    const isStale = this.#isReused && this.#phase === "waiting" && !this.#stop.signal.aborted;
    const { connection } = this.#options;
    return new SendFailure(cause, this.#request, this.#phase, this.#received, isStale, connection);
  }
}

/**
 * The bytes that a server may send before it hears that they were read: the 64 KB of the protocol
 * would bound a download by the time that this takes.
 */
const STREAM_WINDOW = 4 * 1024 * 1024;
const SESSION_WINDOW = 4 * STREAM_WINDOW;

/** The server did not process a request, so that it may be sent again. */
class Unprocessed extends Error {}

async function openSession(request: HttpRequest, options: SendOptions): Promise<Opened> {
  const { connection, clock } = options;
  const { url } = request;
  const isSecure = url.protocol === "https:";
  const { version } = connection;
  const protocols = version === "auto" ? ["h2", "http/1.1"] : ["h2"];
  const used = await openServerSocket(url, connection, { clock, protocols });
  const { alpnProtocol } = used as { readonly alpnProtocol?: string | false };
  if (isSecure && alpnProtocol !== "h2") {
    used.destroy();
    if (connection.version === "auto") return "1.1";
    throw new StepError(
      "the server does not speak HTTP/2 (ALPN)",
      'leave "version" out, or set it to auto',
    );
  }
  // Where it is empty, as for an address, the runtime makes an invalid URL of it.
  if (isSecure) Object.defineProperty(used, "servername", { value: url.hostname });
  const session = connectHttp2(url.origin, {
    createConnection: () => used as never,
    settings: { initialWindowSize: STREAM_WINDOW },
  });
  session.setLocalWindowSize(SESSION_WINDOW);
  // Each request under way has one.
  session.setMaxListeners(0);
  // Each stream fails by itself.
  session.on("error", () => {});
  return { session, socket: used };
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
    wire[lower] = typeof value === "string" ? toByteString(value) : value.map(toByteString);
  }
  return wire;
}

/** Names and values in turn, without those that take the place of the first line. */
function withoutPseudo(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !raw[at - at % 2]!.startsWith(":"));
}
