import type { Socket } from "node:net";
import type {
  AMQPBaseClient,
  AMQPChannel,
  AMQPMessage,
  AMQPProperties,
} from "@cloudamqp/amqp-client";
import type { ActionAttempt } from "../../action/attempt.ts";
import { StepError } from "../../base/errors.ts";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";
import { goodbye, lost, readInTurns } from "../broker/connection.ts";
import type { AmqpParams } from "./amqp_params.ts";

export type { AMQPChannel, AMQPMessage, AMQPProperties, Field } from "@cloudamqp/amqp-client";

/** The parts of a frame before and after its payload. */
const [HEAD, TAIL] = [7, 1];

/** The type of a frame with the size of a message, and where that is. */
const [HEADER, CONTENT_SIZE] = [2, 11];

/** Connects to a server and signs in. */
export async function openAmqp(
  { url, tls = {} }: Pick<AmqpParams, "url" | "tls">,
  attempt: ActionAttempt,
): Promise<Client> {
  const options = await attempt.secure(url.isSecure ? tls : undefined);
  const { AMQPBaseClient, AMQPView } = await loadLibrary();
  const socket = await attempt.socket(options);
  socket.setNoDelay(true);

  /** The library over a socket of ours, which reads no frame whose size is not allowed. */
  class Connection extends AMQPBaseClient {
    #rest: Uint8Array = new Uint8Array();

    override connect(): Promise<AMQPBaseClient> {
      const { promise, resolve, reject } = Promise.withResolvers<AMQPBaseClient>();
      this.connectPromise = [resolve, reject];
      readInTurns(socket, (chunk) => this.#read(chunk));
      socket.on("close", () => {
        const error = socket.errored ?? lost();
        reject(error);
        this.closed = true;
        for (const channel of this.channels) channel?.setClosed(error);
      });
      if (socket.destroyed) reject(socket.errored ?? lost());
      socket.write("AMQP\0\0\x09\x01");
      return promise;
    }

    override send(bytes: Uint8Array): Promise<void> {
      // The library uses the buffer again.
      socket.write(bytes.slice());
      return Promise.resolve();
    }

    protected override closeSocket(): void {
      socket.end();
    }

    #read(chunk: Uint8Array): void {
      const bytes = this.#rest.length === 0 ? chunk : concat(this.#rest, chunk);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      let at = 0;
      while (bytes.length - at >= HEAD) {
        const type = bytes[at]!;
        const size = view.getUint32(at + 3);
        if (![1, HEADER, 3, 8].includes(type) || size > this.frameMax) {
          throw new StepError("it answers, but not as an AMQP server");
        }
        const end = at + HEAD + size + TAIL;
        if (end > bytes.length) break;
        if (type === HEADER && view.getBigUint64(at + CONTENT_SIZE) > BODY_LIMIT) {
          throw new StepError(`a message is larger than ${BODY_LIMIT} bytes`);
        }
        this.parseFrames(
          new AMQPView(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, end - at),
        );
        at = end;
      }
      this.#rest = bytes.slice(at);
    }
  }

  const connection = new Connection(
    url.path || "/",
    url.username || "guest",
    url.password || "guest",
    "runner",
  );
  // Its channels say why they were closed.
  connection.onerror = () => {};
  await connection.connect().catch((error) => Promise.reject(plainError(error)));
  return new Client(connection, socket);
}

async function loadLibrary() {
  const { AMQPBaseClient } = await import("@cloudamqp/amqp-client/amqp-base-client");
  const { AMQPView } = await import("@cloudamqp/amqp-client/amqp-view");
  return { AMQPBaseClient, AMQPView };
}

/** What the server said, without what was closed for that. */
export function plainError(error: unknown): unknown {
  if (error instanceof Error) {
    error.message = error.message.replace(/^(?:channel \d+|connection) closed: /, "");
  }
  return error;
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** A message on its way. */
class Publication {
  /** The reply code and text with which the server sent it back. */
  returned: string | undefined;

  constructor(readonly routingKey: string) {}
}

/** A channel to publish on, and the messages that are not confirmed. */
class Publisher {
  readonly #open = new Set<Publication>();

  constructor(readonly channel: AMQPChannel) {
    channel.onReturn = ({ routingKey, replyCode, replyText }: AMQPMessage) => {
      // The server sends messages back in their order, and before it confirms them.
      for (const publication of this.#open) {
        if (publication.routingKey !== routingKey || publication.returned) continue;
        publication.returned = `${replyCode} ${replyText}`;
        return;
      }
    };
  }

  /** Publishes a message; returns why the server could not route it. */
  async publish(
    exchange: string,
    routingKey: string,
    content: Uint8Array,
    properties: AMQPProperties,
    isMandatory: boolean,
  ): Promise<string | undefined> {
    const publication = new Publication(routingKey);
    this.#open.add(publication);
    try {
      await this.channel.basicPublish(exchange, routingKey, content, properties, isMandatory);
      return publication.returned;
    } catch (error) {
      throw plainError(error);
    } finally {
      this.#open.delete(publication);
    }
  }
}

/** A connection that is signed in, which all steps may use at the same time. */
export class Client {
  readonly #publishers = new Map<string, Promise<Publisher>>();

  constructor(readonly connection: AMQPBaseClient, readonly socket: Socket) {}

  get isLost(): boolean {
    return this.connection.closed;
  }

  /** A channel to publish to an exchange: a server that refuses a message closes its channel. */
  async publisher(exchange: string, isConfirmed: boolean): Promise<Publisher> {
    const key = `${isConfirmed} ${exchange}`;
    const open = async () => {
      const channel = await this.connection.channel();
      if (isConfirmed) await channel.confirmSelect();
      return new Publisher(channel);
    };
    const opened = this.#publishers.get(key) ?? open();
    this.#publishers.set(key, opened);
    const publisher = await opened.catch(() => undefined);
    if (publisher?.channel.closed === false) return publisher;
    if (this.#publishers.get(key) === opened) this.#publishers.delete(key);
    await opened;
    return await this.publisher(exchange, isConfirmed);
  }

  /** Does something on a channel of its own: a server that refuses it closes the channel. */
  async onChannel<T>(use: (channel: AMQPChannel) => Promise<T>): Promise<T> {
    const channel = await this.connection.channel();
    try {
      return await use(channel);
    } catch (error) {
      throw plainError(error);
    } finally {
      if (!channel.closed) await channel.close();
    }
  }

  async close(): Promise<void> {
    if (!this.isLost) await goodbye(this.connection.close());
    this.socket.destroy();
  }
}
