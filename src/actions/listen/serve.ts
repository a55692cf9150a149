import type { IncomingMessage, ServerResponse } from "node:http";
import type { ActionContext, Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { readRendered } from "../../action/make_action.ts";
import type { OpenStep } from "../../action/open_step.ts";
import { textOf } from "../../action/parameter.ts";
import { codeOf } from "../../action/net/endpoint.ts";
import { describeTarget } from "../../action/target.ts";
import { isPem } from "../../action/tls/tls_options.ts";
import { StepError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { isDict } from "../../base/value/value.ts";
import { typeByExtension } from "../http/request/body.ts";
import { decodeBody } from "../http/response/decode_content.ts";
import { decodeText, readFields, textFields } from "../http/response/read_body.ts";
import { LIMITS, listenProblem, openServer } from "./open_server.ts";
import { RESPONSE, ROUTE, type Route } from "./routes.ts";

/** The parameters of a step. */
interface ListenParams {
  readonly host: string;
  readonly port?: number | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly routes?: readonly Route[] | undefined;
}

const MAX_BODY = 16 * 1024 * 1024;

/** Opens a server that stays open until the run ends, and keeps the requests that come. */
export async function serve(
  { host, port = 0, cert, key, routes }: ListenParams,
  open: OpenStep,
  attempt: ActionAttempt,
  limits = LIMITS,
) {
  const { context } = attempt;
  const answers = await Promise.all(
    (routes ?? []).map((route, index) => readAnswer(route, index, context)),
  );
  const mock = new Mock(routes ? answers : undefined, open, attempt);
  const take = (request: IncomingMessage, response: ServerResponse) => mock.take(request, response);
  const pem = async (text: string, parameter: string) =>
    isPem(text) ? text : await attempt.readText(text, parameter);
  const tls = cert !== undefined && key !== undefined
    ? { cert: await pem(cert, "cert"), key: await pem(key, "key") }
    : undefined;
  const server = await attempt.during(
    "opening the server",
    openServer({ host, port, tls }, take, limits, () => {
      const most = countOf(limits.connections, "connection");
      open.context.warn(`"${open.name}" has ${most}: it closes others`);
    }).catch((error) => {
      throw explainListening(error, describeTarget(attempt.target).failing);
    }),
  );
  open.onClose(async () => {
    await server.close();
    await mock.settled();
  });
  return { res: { url: server.url, host: server.host, port: server.port }, brief: "open" };
}

function explainListening(error: Error, failing: string): StepError {
  const { reason, hint } = listenProblem(error);
  const inUse = 'leave "port" out to use a free one, which res.port has';
  return new StepError(`${failing}: ${reason}`, codeOf(error) === "EADDRINUSE" ? inUse : hint);
}

/** A route, and its responses in turn: templates that see the request. */
class Answer {
  #next = 0;

  constructor(
    readonly on: string,
    readonly method: string,
    readonly parts: readonly string[],
    readonly responses: readonly ((names: Dict) => Value)[],
  ) {}

  /** With the parts of a path that the route names; undefined where it does not fit. */
  match(method: string, parts: readonly string[]) {
    if (method !== this.method || parts.length !== this.parts.length) return undefined;
    const params: Record<string, Value> = {};
    for (const [index, part] of this.parts.entries()) {
      const actual = parts[index]!;
      if (part.startsWith(":")) params[part.slice(1)] = decoded(actual);
      else if (decoded(part) !== decoded(actual)) return undefined;
    }
    return { answer: this, params };
  }

  /** The next of its responses; the last one again and again. */
  next(): ((names: Dict) => Value) | undefined {
    return this.responses[Math.min(this.#next++, this.responses.length - 1)];
  }
}

async function readAnswer(
  { on, respond }: Route,
  index: number,
  context: ActionContext,
): Promise<Answer> {
  const late = await context.late!();
  const render = (value: Value, ...path: (string | number)[]) =>
    late.readTemplates(["routes", index, ...path], value);
  const rendered = textOf(render(on, "on")({ request: null }));
  const [, method = "", path = ""] = ROUTE.exec(rendered) ?? [];
  if (method === "") {
    const hint = "write it like POST /hooks/:shop";
    throw new StepError(`invalid route "${rendered}"`, hint, { parameter: "routes" });
  }
  const responses =
    await (Array.isArray(respond)
      ? Promise.all(respond.map((one, at) => render(one, "respond", at)))
      : respond === undefined
      ? []
      : Promise.all([render(respond, "respond")]));
  return new Answer(rendered, method, path.split("/"), responses);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What a server answers, and where its requests are kept. */
class Mock {
  readonly #answering = new Set<Promise<void>>();

  /** `answers` are undefined where every request gets 204. */
  constructor(
    readonly answers: readonly Answer[] | undefined,
    readonly open: OpenStep,
    readonly attempt: ActionAttempt,
  ) {}

  take(request: IncomingMessage, response: ServerResponse): void {
    const answering = this.#answer(request, response)
      .finally(() => this.#answering.delete(answering));
    this.#answering.add(answering);
  }

  /** Waits for the answers under way, which may fail the run. */
  async settled(): Promise<void> {
    await Promise.all(this.#answering);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name, context } = this.open;
    // A path may begin with two slashes, and a proxy's client sends a whole URL.
    const { url: target = "/" } = request;
    const url = URL.parse(
      target.startsWith("/") ? `http://localhost${target}` : target,
      "http://localhost",
    );
    if (!url) return refuse(response, 400, "the URL of the request is invalid");
    const bytes = await readBytes(request).catch(() => null);
    // The client is gone.
    if (bytes === null) return;
    if (!bytes) {
      context.warn(`a request to "${name}" is too large: it got 413`);
      return refuse(response, 413, `the body is larger than ${MAX_BODY} bytes`);
    }
    try {
      await this.#answerTo(request, url, bytes, response);
    } catch (error) {
      // Before the client knows: the run may end with its answer.
      await (await context.late!()).failRun(error);
      refuse(response, 500, "the response of this route cannot be made: see the run");
    }
  }

  async #answerTo(
    { method = "GET", rawHeaders }: IncomingMessage,
    { pathname, searchParams }: URL,
    bytes: Uint8Array<ArrayBuffer>,
    response: ServerResponse,
  ): Promise<void> {
    const headers = readFields(rawHeaders);
    const parts = pathname.split("/");
    const found = this.answers?.map((answer) => answer.match(method, parts)).find((one) => one);
    const message = {
      method,
      path: decoded(pathname),
      params: found?.params ?? {},
      query: queryOf(searchParams),
      headers,
      ...await bodyOf(bytes, headers),
      route: found?.answer.on ?? null,
    };
    this.open.add(message, Math.max(bytes.length, message.raw.length));
    const next = found?.answer.next();
    if (next) return await respond(next, message, response, this.attempt);
    if (this.answers && !found) return refuse(response, 404, `no route for ${method} ${pathname}`);
    response.statusCode = 204;
    response.end();
  }
}

/** Answers with a code and a line of text. */
function refuse(response: ServerResponse, code: number, text: string): void {
  response.statusCode = code;
  if (code !== 404) response.setHeader("Connection", "close");
  response.end(`${text}\n`);
}

async function respond(
  render: (names: Dict) => Value,
  request: Dict,
  response: ServerResponse,
  attempt: ActionAttempt,
): Promise<void> {
  const { context } = attempt;
  const rendered = render({ request });
  if (!isDict(rendered)) throw new StepError('"respond" must be a map');
  const values = readRendered("listen", RESPONSE, rendered, context.secrets);
  const { headers = {}, json, body, file, delay = 0 } = values;
  const content = json !== undefined
    ? JSON.stringify(json)
    : file !== undefined
    ? await attempt.read(file, "routes")
    : body;
  if (delay > 0) await pause(delay, response, context);
  response.statusCode = values.code ?? (content === undefined ? 204 : 200);
  if (json !== undefined) response.setHeader("Content-Type", "application/json");
  else if (file !== undefined) response.setHeader("Content-Type", typeByExtension(file));
  else if (body !== undefined) response.setHeader("Content-Type", "text/plain; charset=utf-8");
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, Array.isArray(value) ? value.map(textOf) : textOf(value));
  }
  response.end(content ?? "");
}

/** Waits, or until the client is gone. */
async function pause(
  milliseconds: number,
  response: ServerResponse,
  { deadline }: ActionContext,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = deadline.after(milliseconds, resolve);
  response.once("close", resolve);
  await promise;
  timer.cancel();
}

/** The body of a request; undefined if it is too large, of which the rest is not kept. */
async function readBytes(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
    else chunks = [];
  }
  return size <= MAX_BODY ? await new Blob(chunks).bytes() : undefined;
}

function queryOf(search: URLSearchParams): Dict {
  const query: Record<string, Value> = {};
  for (const name of new Set(search.keys())) {
    const values = search.getAll(name);
    query[name] = values.length === 1 ? values[0]! : values;
  }
  return query;
}

/** The body as steps see it, by the rules of http; bytes that are no text are `{ base64: … }`. */
async function bodyOf(
  bytes: Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly body: Value; readonly raw: string }> {
  const encoding = headers["Content-Encoding"];
  const content = encoding === undefined
    ? bytes
    : await decodeBody(bytes, encoding, MAX_BODY).catch(() => bytes);
  const type = headers["Content-Type"] ?? "";
  const text = decodeText(content, type);
  if (text === undefined) return { body: { base64: content.toBase64() }, raw: "" };
  return { body: textFields(text, type, content.length).body!, raw: text };
}
