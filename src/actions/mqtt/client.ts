import type { IConnackPacket, IPublishPacket, Packet } from "mqtt-packet";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Dict } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";
import { bounded, goodbye, lost, readInTurns } from "../broker/connection.ts";
import { contentOf, readContent, textOrBytes } from "../broker/content.ts";
import type { Taker } from "../broker/receive.ts";
import type { MqttParams, Qos } from "./mqtt_params.ts";

const { Buffer } = await import("node:buffer");

/** Seconds without a word after which a server ends the connection; half of it, and we ask it. */
const KEEPALIVE = 60;

/** A server sends no more after so many that are not confirmed; Mosquitto after 20. */
const MAX_UNCONFIRMED = 15;

/** What 3.1.1 means by the codes from 1 on, and 5 by those from 128 on. */
const REFUSALS = {
  1: "Unacceptable protocol version;Identifier rejected;Server unavailable;" +
    "Bad user name or password;Not authorized",
  128: "Unspecified error;Malformed packet;Protocol error;Implementation specific error;" +
    "Unsupported protocol version;Client identifier not valid;Bad user name or password;" +
    "Not authorized;Server unavailable;Server busy;Banned;Server shutting down;" +
    "Bad authentication method;Keep alive timeout;Session taken over;Topic filter invalid;" +
    "Topic name invalid;Packet identifier in use;Packet identifier not found;" +
    "Receive maximum exceeded;Topic alias invalid;Packet too large;Message rate too high;" +
    "Quota exceeded;Administrative action;Payload format invalid;Retain not supported;" +
    "QoS not supported;Use another server;Server moved;Shared subscriptions not supported;" +
    "Connection rate exceeded;Maximum connect time;Subscription identifiers not supported;" +
    "Wildcard subscriptions not supported",
};

/** What a server answers. */
type Answer = Packet & {
  readonly reasonCode?: number;
  readonly properties?: { readonly reasonString?: string };
};

/**
 * A connection that all steps may use at the same time: `mqtt-packet` over a stream. The client of
 * the library `mqtt` confirms messages in the order in which they come, and steps take any.
 */
export class Client {
  /** Who gets its messages. */
  taker: Taker | undefined;
  #cause: Error | undefined;
  /** Who waits for the answer to a packet, by its identifier; 0 is that to the sign-in. */
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #lastId = 0;
  /** How many packets the server lets wait for an answer, and who waits to send one. */
  #maxWaiting = 65_535;
  readonly #next: (() => void)[] = [];
  /** The messages that are not confirmed yet, the oldest first. */
  readonly #unconfirmed = new Set<() => void>();
  #packets = 0;
  #pings: ReturnType<typeof setInterval> | undefined;

  constructor(
    readonly stream: Duplex,
    /** Whether it belongs to one step, as all its messages do. */
    readonly isExclusive: boolean,
    readonly hasWill: boolean,
    readonly library: typeof import("mqtt-packet"),
    readonly protocolVersion: 4 | 5,
  ) {
    const parser = library.parser({ protocolVersion });
    parser.on("packet", (packet) => this.#read(packet));
    parser.on("error", (error) => this.#end(error));
    readInTurns(stream, bounded((chunk) => (parser.parse(chunk as Buffer), this.#packets)));
    stream.on("close", () => this.#end(stream.errored ?? lost()));
  }

  /** Whether the next step needs another. */
  get isLost(): boolean {
    return this.#cause !== undefined || this.isExclusive;
  }

  /** Signs in. */
  async signIn(options: Partial<Packet>): Promise<void> {
    const { protocolVersion } = this;
    const packet = { cmd: "connect", protocolId: "MQTT", protocolVersion, clean: true, ...options };
    const { properties } = await this.#ask(
      { ...packet, keepalive: KEEPALIVE } as Packet,
      "Connection refused",
    ) as IConnackPacket;
    this.#maxWaiting = properties?.receiveMaximum ?? this.#maxWaiting;
    const keepalive = properties?.serverKeepAlive || KEEPALIVE;
    let heard = 0;
    this.#pings = setInterval(() => {
      if (heard === this.#packets) this.#end(new Error("the server does not answer any more"));
      heard = this.#packets;
      this.#send({ cmd: "pingreq" });
    }, keepalive * 500);
  }

  /** Publishes a message, and waits until the server has confirmed it, if it does. */
  async publish(packet: Omit<IPublishPacket, "cmd" | "dup">): Promise<void> {
    const whole: Packet = { cmd: "publish", dup: false, ...packet };
    if (packet.qos > 0) return void await this.#ask(whole, "Publish error");
    if (this.#cause) throw this.#cause;
    const sent = Promise.withResolvers<void>();
    this.#send(whole, (error) => error ? sent.reject(this.#cause ?? error) : sent.resolve());
    await sent.promise;
  }

  /** Subscribes to topics. */
  async subscribe(filters: readonly string[], qos: Qos): Promise<void> {
    const subscriptions = filters.map((topic) => ({ topic, qos }));
    await this.#ask({ cmd: "subscribe", subscriptions }, "Subscribe error");
  }

  /** Ends the connection; without a goodbye if the server is to publish its will. */
  async close(): Promise<void> {
    if (this.#cause) return;
    this.#cause = new Error("the connection is closed");
    const closed = new Promise<void>((resolve) => this.stream.on("close", resolve));
    if (this.hasWill) this.stream.destroy();
    else this.#send({ cmd: "disconnect" }, () => this.stream.end());
    await goodbye(closed);
    this.#end(this.#cause);
  }

  #send(packet: Packet, done?: (error?: Error | null) => void): void {
    const { library: { generate }, protocolVersion } = this;
    // What is sent in one turn is written at once.
    if (this.stream.writableCorked === 0) {
      this.stream.cork();
      queueMicrotask(() => this.stream.uncork());
    }
    this.stream.write(generate(packet, { protocolVersion }), done);
  }

  /** Sends a packet, and waits for its answer, which may be a refusal. */
  async #ask(packet: Packet, refused: string): Promise<Answer> {
    while (!this.#cause && this.#waiting.size >= this.#maxWaiting) {
      await new Promise<void>((resolve) => this.#next.push(resolve));
    }
    if (this.#cause) throw this.#cause;
    const isFirst = packet.cmd === "connect";
    do this.#lastId = isFirst ? 0 : this.#lastId % 65_535 + 1; while (
      this.#waiting.has(this.#lastId)
    );
    const messageId = this.#lastId;
    const answered = Promise.withResolvers<Answer>();
    this.#waiting.set(messageId, answered);
    this.#send({ ...packet, messageId });
    const answer = await answered.promise;
    const refusal = refusalOf(answer);
    if (refusal !== undefined) throw new Error(`${refused}: ${refusal}`);
    return answer;
  }

  #read(packet: Packet): void {
    this.#packets++;
    const { cmd, messageId } = packet;
    if (cmd === "publish") return this.#receive(packet);
    if (cmd === "pubrel") return this.#send({ cmd: "pubcomp", messageId: messageId! });
    if (cmd === "pubrec" && refusalOf(packet) === undefined) {
      return this.#send({ cmd: "pubrel", messageId: messageId! });
    }
    if (cmd === "disconnect") {
      const reason = refusalOf(packet) ?? "no reason given";
      return this.#end(new Error(`the server ended the connection: ${reason}`));
    }
    const id = cmd === "connack" ? 0 : messageId ?? -1;
    this.#waiting.get(id)?.resolve(packet);
    this.#waiting.delete(id);
    this.#next.shift()?.();
  }

  #receive(packet: IPublishPacket): void {
    const { qos, messageId } = packet;
    const acknowledge = () => {
      if (!this.#unconfirmed.delete(acknowledge)) return;
      this.#send({ cmd: qos === 1 ? "puback" : "pubrec", messageId: messageId! });
    };
    if (qos > 0) this.#unconfirmed.add(acknowledge);
    const [oldest] = this.#unconfirmed;
    if (this.#unconfirmed.size > MAX_UNCONFIRMED) oldest!();
    this.taker?.take(readMessage(packet), packet.payload.length, acknowledge);
  }

  #end(error: Error): void {
    this.#cause ??= error;
    clearInterval(this.#pings);
    this.stream.destroy();
    this.taker?.fail(this.#cause);
    for (const { reject } of this.#waiting.values()) reject(this.#cause);
    for (const resume of this.#next.splice(0)) resume();
    this.#waiting.clear();
  }
}

/** What the server refuses; undefined if it does not. */
function refusalOf(answer: Answer): string | undefined {
  const { returnCode } = answer as IConnackPacket;
  const granted = answer.cmd === "suback" ? answer.granted as number[] : [];
  const code = returnCode ?? answer.reasonCode ?? granted.find((code) => code >= 128) ?? 0;
  if (code === 0 || code < 128 && answer.cmd !== "connack") return undefined;
  const base = code < 128 ? 1 : 128;
  const reason = REFUSALS[base].split(";")[code - base] ?? `reason ${code}`;
  const more = answer.properties?.reasonString;
  return more ? `${reason} (${more})` : reason;
}

/** A message as steps see it. */
function readMessage({ topic, payload, qos, retain, properties = {} }: IPublishPacket): Dict {
  const {
    contentType,
    responseTopic,
    correlationData,
    messageExpiryInterval,
    userProperties = {},
  } = properties;
  return {
    topic,
    ...readContent(payload as Buffer, /\bjson\b/.test(contentType ?? "")),
    qos,
    retain,
    headers: { ...userProperties },
    properties: {
      ...contentType !== undefined && { content_type: contentType },
      ...responseTopic !== undefined && { response_topic: responseTopic },
      ...correlationData && { correlation_data: textOrBytes(correlationData) },
      ...messageExpiryInterval !== undefined && { message_expiry: messageExpiryInterval },
    },
  };
}

/** Connects to a server and signs in. */
export async function openMqtt(params: MqttParams, attempt: ActionAttempt): Promise<Client> {
  const { url, tls = {}, will, version, client_id: clientId = randomId() } = params;
  const options = await attempt.secure(url.isSecure ? tls : undefined);
  const { default: library } = await import("mqtt-packet");
  const socket = await attempt.socket(options);
  socket.setNoDelay(true);
  const stream = url.scheme.startsWith("ws")
    ? await openWebSocket(url.bare, socket, attempt)
    : socket;
  const protocolVersion = version === "5" ? 5 : 4;
  const isExclusive = params.subscribe !== undefined;
  const client = new Client(stream, isExclusive, will !== undefined, library, protocolVersion);
  attempt.undo(() => stream.destroy());
  await client.signIn({
    clientId,
    ...url.username !== "" && { username: url.username },
    ...url.password !== "" && { password: Buffer.from(url.password) },
    ...will && { will: { ...will, payload: Buffer.from(await contentOf(will, attempt)) } },
  });
  return client;
}

async function openWebSocket(url: string, socket: Socket, attempt: ActionAttempt): Promise<Duplex> {
  const { loadWs, streamOf } = await import("../websocket/open_websocket.ts");
  const WebSocket = await loadWs();
  const opening = new WebSocket(url, ["mqtt"], {
    createConnection: () => socket,
    headers: {},
    maxPayload: BODY_LIMIT,
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  opening.on("open", resolve);
  opening.on("error", reject);
  opening.on("close", () => reject(new Error("the server closed the WebSocket")));
  attempt.undo(() => opening.terminate());
  const stream = await streamOf(opening);
  stream.on("error", reject);
  await promise;
  return stream;
}

function randomId(): string {
  return `runner-${crypto.randomUUID().slice(0, 13)}`;
}
