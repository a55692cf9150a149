import type { MqttClient } from "mqtt";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Dict } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";
import { contentOf, readContent, textOrBytes } from "../broker.ts";
import type { MqttParams } from "./mqtt_params.ts";

/** Milliseconds that a server has to close the connection. */
const LONGEST_GOODBYE = 1000;

/** Milliseconds of reading after which timers and signals get a turn. */
const TURN = 20;

/** What an answer of the server calls, or the end of the connection. */
type Done<T> = (error?: Error | null, answer?: T) => void;

/** A connection that is signed in, which all steps may use at the same time. */
export class Client {
  /** Takes a message of so many bytes. One that it refuses is not confirmed, and none follows it. */
  take: (message: Dict, bytes: number) => boolean = () => true;
  /** Learns why the connection is over. */
  onLost: (error: Error) => void = () => {};
  #cause: Error | undefined;
  readonly #waiting = new Set<(error: Error) => void>();
  #turnBegan = performance.now();

  constructor(
    readonly mqtt: MqttClient,
    readonly hasWill: boolean,
    reasons: Readonly<Record<number, string>>,
  ) {
    mqtt.on("error", (error) => this.#cause ??= error);
    mqtt.on("disconnect", ({ reasonCode }) => {
      const reason = reasons[reasonCode ?? 0] || "no reason given";
      this.#cause ??= new Error(`the server ended the connection: ${reason}`);
    });
    mqtt.on("close", () => {
      const closed = Object.assign(new Error("the server closed the connection"), {
        code: "ECONNRESET",
      });
      const error = this.#cause ??= closed;
      this.onLost(error);
      for (const reject of this.#waiting) reject(error);
    });
    mqtt.handleMessage = (packet, done) => {
      if (!this.take(readMessage(packet as Packet), packet.payload.length)) return;
      if (performance.now() - this.#turnBegan < TURN) return done();
      setTimeout(() => {
        this.#turnBegan = performance.now();
        done();
      });
    };
  }

  get isLost(): boolean {
    return this.#cause !== undefined;
  }

  /** Waits for an answer of the server, or for the end of the connection. */
  async ask<T>(act: (done: Done<T>) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#cause) throw this.#cause;
    this.#waiting.add(reject);
    act((error, answer) => error ? reject(error) : resolve(answer as T));
    return await promise.finally(() => this.#waiting.delete(reject));
  }

  /** Ends the connection; without a goodbye if the server is to publish its will. */
  async close(): Promise<void> {
    if (this.isLost) return;
    this.#cause = new Error("the connection is closed");
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, LONGEST_GOODBYE);
    this.mqtt.on("close", () => resolve());
    if (this.hasWill) this.mqtt.stream.destroy();
    else this.mqtt.end(false, () => resolve());
    await promise;
    clearTimeout(late);
    this.mqtt.stream.destroy();
    this.mqtt.end(true);
  }
}

/** A message as the library gives it. */
interface Packet {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
  readonly retain: boolean;
  readonly properties?: {
    readonly contentType?: string;
    readonly responseTopic?: string;
    readonly correlationData?: Uint8Array;
    readonly messageExpiryInterval?: number;
    readonly userProperties?: Readonly<Record<string, string | string[]>>;
  };
}

/** A message as steps see it. */
function readMessage({ topic, payload, qos, retain, properties = {} }: Packet): Dict {
  const {
    contentType,
    responseTopic,
    correlationData,
    messageExpiryInterval,
    userProperties = {},
  } = properties;
  return {
    topic,
    ...readContent(payload, /\bjson\b/.test(contentType ?? "")),
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
  const { default: library } = await import("mqtt");
  const { Buffer } = await import("node:buffer");
  const socket = await attempt.socket(options);
  socket.setNoDelay(true);
  const stream = url.webSocket ? await openWebSocket(url.webSocket, socket, attempt) : socket;
  const mqtt = new library.MqttClient(() => stream as MqttClient["stream"], {
    protocolId: "MQTT",
    protocolVersion: version === "5" ? 5 : 4,
    clientId,
    ...url.username !== "" && { username: url.username },
    ...url.password !== "" && { password: Buffer.from(url.password) },
    ...will && {
      will: {
        topic: will.topic,
        payload: Buffer.from(await contentOf(will, attempt)),
        qos: will.qos,
        retain: will.retain,
      },
    },
    clean: true,
    keepalive: 60,
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    // The step has its own time.
    connectTimeout: 2 ** 31 - 1,
  });
  const client = new Client(mqtt, will !== undefined, library.ReasonCodes);
  attempt.undo(() => void mqtt.end(true));
  boundPackets(mqtt, stream);
  await client.ask<unknown>((done) => mqtt.once("connect", () => done()));
  return client;
}

/** Ends a connection whose server sends a packet without an end. */
function boundPackets(mqtt: MqttClient, stream: Duplex): void {
  let pending = 0;
  mqtt.on("packetreceive", () => pending = 0);
  stream.on("data", ({ length }: Uint8Array) => {
    pending += length;
    if (pending <= BODY_LIMIT) return;
    stream.destroy();
    mqtt.emit("error", new Error(`the server sent a message of more than ${BODY_LIMIT} bytes`));
  });
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
