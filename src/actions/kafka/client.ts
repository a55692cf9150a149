import type { Socket } from "node:net";
import type { ZlibOptions } from "node:zlib";
import type {
  Cluster as LibraryCluster,
  Kafka,
  KafkaMessage,
  Message,
  PartitionMetadata,
} from "kafkajs";
import type { ActionAttempt } from "../../action/attempt.ts";
import { addressOf, type Endpoint } from "../../action/net/endpoint.ts";
import { allow, explainConnection } from "../../action/target.ts";
import type { secureSocket } from "../../action/tls/secure_socket.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import { StepError } from "../../base/errors.ts";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";
import { lost, readInTurns } from "../broker/connection.ts";
import type { Start } from "../broker/params.ts";
import type { KafkaParams } from "./kafka_params.ts";

export type { IHeaders, KafkaMessage, Message } from "kafkajs";

const [{ connect }, { promisify }, { default: zlib }] = await Promise.all([
  import("node:net"),
  import("node:util"),
  import("node:zlib"),
]);

/** The part of the library below its clients: those of groups join them, and poll without end. */
type Cluster = LibraryCluster & {
  readonly brokerPool: {
    readonly connectionPoolBuilder: {
      build(to?: Endpoint): Promise<{
        readonly pool: readonly { readonly requestQueue: RequestQueue }[];
      }>;
    };
  };
};

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: unknown;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

type MakeCluster = (options: { readonly allowAutoTopicCreation: boolean }) => Cluster;

/** All waiting is bounded by the attempt; the timeouts of the library are out of the way. */
const NEVER = 86_400_000;

/** Milliseconds for which a server waits for messages before it replies that there are none. */
export const POLL = 300;

/** Bytes that one reply has of a partition. */
const FETCH_BYTES = 1024 * 1024;

/** A topic that was just created has no leader for a moment. */
const RETRY = { retries: 5, initialRetryTime: 50, maxRetryTime: 500 };

/** Connects to the first broker that can be reached, and signs in. */
export async function openKafka(params: KafkaParams, attempt: ActionAttempt): Promise<Client> {
  const tls = await attempt.secure(params.tls);
  const secure = tls && (await import("../../action/tls/secure_socket.ts")).secureSocket;
  const { default: library } = await import("kafkajs");
  const codecs = [["GZIP", zlib.gunzip], ["ZSTD", zlib.zstdDecompress]] as const;
  for (const [type, decompress] of codecs) {
    const inBounds = promisify(decompress) as (
      bytes: Uint8Array,
      options: ZlibOptions,
    ) => Promise<Uint8Array>;
    library.CompressionCodecs[library.CompressionTypes[type]] = () => ({
      decompress: (bytes: Uint8Array) => inBounds(bytes, { maxOutputLength: BODY_LIMIT }),
    });
  }
  const links = new Links(params.brokers, attempt, tls, secure);
  const kafka = new library.Kafka({
    clientId: "runner",
    brokers: ["unused"],
    ...params.sasl && { sasl: { ...params.sasl } as never },
    connectionTimeout: NEVER,
    authenticationTimeout: NEVER,
    requestTimeout: NEVER,
    logLevel: library.logLevel.NOTHING,
    retry: RETRY,
    socketFactory: ({ host, port, onConnect }) => links.open({ host, port }, onConnect),
  });
  const makeCluster = clusterMaker(kafka, links);
  attempt.undo(() => links.close());
  const cluster = makeCluster({ allowAutoTopicCreation: false });
  await links.explained(Promise.race([cluster.connect(), links.failed]));
  links.isOpen = true;
  return new Client(kafka, cluster, links, library.Partitioners.DefaultPartitioner());
}

/** Makes the part of the library that makes clusters use ours: see `Cluster`. */
function clusterMaker(kafka: Kafka, links: Links): MakeCluster {
  const all = kafka as unknown as Record<symbol, MakeCluster>;
  const symbol = Object.getOwnPropertySymbols(kafka)
    .find(({ description }) => description === "private:Kafka:createCluster")!;
  const make = all[symbol]!;
  return all[symbol] = (options) => {
    const cluster = make(options);
    const builder = cluster.brokerPool.connectionPoolBuilder;
    const build = builder.build;
    builder.build = async (to) => {
      const built = await build(await links.allow(to));
      for (const { requestQueue } of built.pool) {
        // That of the library looks for requests that wait each millisecond, although none do.
        requestQueue.scheduleCheckPendingRequests = () => {
          const { pending, throttledUntil, throttleCheckTimeoutId: timer } = requestQueue;
          if (pending.length === 0 || timer) return;
          requestQueue.throttleCheckTimeoutId = setTimeout(() => {
            requestQueue.throttleCheckTimeoutId = null;
            requestQueue.checkPendingRequests();
          }, Math.max(10, throttledUntil - Date.now()));
        };
      }
      return built;
    };
    return cluster;
  };
}

/** The connections to all servers of a cluster. */
class Links {
  /** Whether one was reached; then the library connects again where it must. */
  isOpen = false;
  readonly #all = new Set<Socket>();
  readonly #failed = Promise.withResolvers<never>();
  #next = 0;
  #failures = 0;
  #cause: Promise<StepError> | undefined;
  #isClosed = false;

  constructor(
    readonly brokers: readonly Endpoint[],
    readonly attempt: ActionAttempt,
    readonly tls: TlsOptions | undefined,
    readonly secure: typeof secureSocket | undefined,
  ) {
    this.#failed.promise.catch(() => {});
  }

  /** Rejects when no broker that the step names can be reached. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** The server to connect to, by default the next one that the step names, if the run may. */
  async allow(to: Endpoint | undefined): Promise<Endpoint> {
    const server = to?.host === undefined ? this.brokers[this.#next++ % this.brokers.length]! : to;
    try {
      await allow({ product: "Kafka", ...server }, "brokers", this.attempt.context);
      return server;
    } catch (error) {
      this.#lose(error, server);
      throw error;
    }
  }

  /** Opens a socket that ends when a reply comes whose size is not allowed. */
  open(to: Endpoint, onConnect: () => void): Socket {
    if (this.#isClosed) throw new Error("the connection is closed");
    const { secure, tls } = this;
    const socket = secure ? secure(tls!, to, onConnect) : connect(to, onConnect);
    this.#all.add(socket);
    socket.setNoDelay(true);
    const sizes = new Sizes();
    readInTurns(socket, (chunk) => {
      if (sizes.areFine(chunk)) return;
      const hint = secure ? undefined : "does it speak TLS there? tls: true";
      const place = `Kafka at ${addressOf(to)}`;
      throw new StepError(`cannot read from ${place}: it is no server of Kafka`, hint);
    });
    return socket
      .on("error", (error) => this.#lose(error, to, socket))
      .on("close", () => this.#lose(lost(), to, socket));
  }

  /** Waits for a promise; an error of the library becomes that of the connection it lost, if any. */
  async explained<T>(promise: Promise<T>): Promise<T> {
    return await promise.catch(async (error) => {
      throw await this.explain(error);
    });
  }

  async explain(error: unknown): Promise<unknown> {
    const { cause = error, name, type } = error as Error & { readonly type?: unknown };
    if (error instanceof Error && typeof type === "string") {
      return Object.assign(new Error(error.message), { code: type });
    }
    if (cause !== error && !(error instanceof StepError)) return await this.explain(cause);
    return /^KafkaJS(?:Connection|BrokerNotFound)/.test(name) ? await this.#cause ?? error : error;
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#all) socket.destroy();
  }

  #lose(error: unknown, to: Endpoint, socket?: Socket): void {
    if (socket && !this.#all.delete(socket)) return;
    this.#cause = this.#explainLoss(error, to);
    if (++this.#failures < this.brokers.length || this.isOpen) return;
    this.#cause.then(this.#failed.reject);
  }

  async #explainLoss(error: unknown, to: Endpoint): Promise<StepError> {
    if (error instanceof StepError) return error;
    const { clock } = this.attempt.context.host;
    const { message, hint } = await explainConnection(error, to, clock, this.tls);
    const failing = `cannot connect to Kafka at ${addressOf(to)}`;
    return new StepError(`${failing}: ${message}`, hint, { cause: message });
  }
}

/** The sizes of the replies on a connection. */
class Sizes {
  /** The bytes that are left of a reply, or the size as far as it was read. */
  #left = 0;
  #size = 0;
  #sizeBytes = 0;

  /** Whether all sizes that begin in a chunk are those of replies. */
  areFine(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const part = Math.min(this.#left, chunk.length - at);
        this.#left -= part;
        at += part;
        continue;
      }
      this.#size = this.#size * 256 + chunk[at++]!;
      if (++this.#sizeBytes < 4) continue;
      if (this.#size < 4 || this.#size > BODY_LIMIT) return false;
      this.#left = this.#size;
      this.#size = this.#sizeBytes = 0;
    }
    return true;
  }
}

/** The reply to messages that were sent; there is none with `acks: 0`. */
interface Sent {
  readonly topics: {
    readonly partitions: { readonly partition: number; readonly baseOffset: string }[];
  }[];
}

/** The reply with messages. */
interface Fetched {
  readonly responses: {
    readonly partitions: {
      readonly partition: number;
      readonly messages: (KafkaMessage & { readonly isControlRecord?: boolean })[];
    }[];
  }[];
}

/** Where a message is. */
interface Receipt {
  readonly partition: number;
  readonly offset: number;
}

/** Messages that go to one server: those that come while a request is under way go in the next. */
class Lane {
  isBusy = false;
  waiting: {
    readonly message: Message;
    readonly partition: number;
    readonly done: PromiseWithResolvers<Receipt>;
  }[] = [];
}

/** A client of a cluster, which all steps may use at the same time. */
export class Client {
  readonly #lanes = new Map<string, Lane>();
  readonly #topics = new Set<string>();

  constructor(
    readonly kafka: Kafka,
    readonly cluster: Cluster,
    readonly links: Links,
    readonly partitionOf: (message: {
      readonly topic: string;
      readonly partitionMetadata: PartitionMetadata[];
      readonly message: Message;
    }) => number,
  ) {}

  get isLost(): boolean {
    return !this.cluster.isConnected();
  }

  close(): void {
    this.links.close();
  }

  /** Learns where the partitions of a topic are. */
  async #partitionsOf(topic: string, only?: number): Promise<PartitionMetadata[]> {
    if (!this.#topics.has(topic)) await this.cluster.addMultipleTargetTopics([topic]);
    this.#topics.add(topic);
    const partitions = this.cluster.findTopicPartitionMetadata(topic);
    if (only === undefined || partitions.some(({ partitionId }) => partitionId === only)) {
      return partitions;
    }
    const message = `topic "${topic}" has no partition ${only}: it has ${partitions.length}`;
    throw new StepError(message, "they are counted from 0", { parameter: "partition" });
  }

  /** Publishes a message; by the library's own partitioner where it names no partition. */
  async publish(topic: string, message: Message, acks: number): Promise<Receipt> {
    const partitionMetadata = await this.#partitionsOf(topic, message.partition);
    const partition = message.partition ?? this.partitionOf({ topic, partitionMetadata, message });
    const [nodeId = ""] = Object.keys(this.cluster.findLeaderForPartitions(topic, [partition]));
    const key = JSON.stringify([topic, nodeId, acks]);
    const lane = this.#lanes.get(key) ?? new Lane();
    this.#lanes.set(key, lane);
    const done = Promise.withResolvers<Receipt>();
    lane.waiting.push({ message, partition, done });
    if (!lane.isBusy) void this.#send(lane, topic, nodeId, acks);
    return await done.promise;
  }

  async #send(lane: Lane, topic: string, nodeId: string, acks: number): Promise<void> {
    lane.isBusy = true;
    while (lane.waiting.length > 0) {
      const batch = lane.waiting;
      lane.waiting = [];
      try {
        const broker = await this.cluster.findBroker({ nodeId });
        const parts = Map.groupBy(batch, ({ partition }) => partition);
        const partitions = [...parts].map(([partition, entries]) => ({
          partition,
          messages: entries.map(({ message }) => message),
        }));
        const topicData = [{ topic, partitions }];
        const sent: Sent | undefined = await broker.produce({ acks, timeout: NEVER, topicData });
        for (const [partition, entries] of parts) {
          const base = sent?.topics[0]?.partitions.find((one) => one.partition === partition);
          for (const [index, { done }] of entries.entries()) {
            const offset = base ? Number(base.baseOffset) + index : -1;
            done.resolve({ partition, offset });
          }
        }
      } catch (error) {
        for (const { done } of batch) done.reject(error);
        // Another server may lead the partition now.
        await this.cluster.refreshMetadata().catch(() => {});
      }
    }
    lane.isBusy = false;
  }

  /** The offset of each partition at which a step begins to read. */
  async begin(topic: string, from: Start, only?: number): Promise<Map<number, string>> {
    const partitions = (await this.#partitionsOf(topic, only))
      .map(({ partitionId: partition }) => ({ partition }))
      .filter(({ partition }) => only === undefined || partition === only);
    if ("number" in from) return new Map(partitions.map((one) => [one.partition, from.number]));
    const ask = async (start: { fromBeginning: boolean } | { fromTimestamp: number }) => {
      const [found] = await this.cluster.fetchTopicsOffset([{ topic, partitions, ...start }]);
      return new Map(found!.partitions.map(({ partition, offset }) => [partition, offset]));
    };
    const isName = "name" in from;
    const named = await ask({ fromBeginning: isName && from.name === "beginning" });
    if (isName) return named;
    const later = await ask({ fromTimestamp: from.time });
    // There may be no message as late as that.
    return new Map([...named].map(([partition, end]) => {
      const offset = later.get(partition)!;
      return [partition, offset === "-1" ? end : offset];
    }));
  }

  /** What a group has committed in a topic, and what it has not. */
  async lag(topic: string, groupId: string) {
    const ends = await this.begin(topic, { name: "now" });
    const begins = await this.begin(topic, { name: "beginning" });
    const partitions = [...ends.keys()].map((partition) => ({ partition, offset: "" }));
    const coordinator = await this.cluster.findGroupCoordinator({ groupId });
    const { responses } = await coordinator.offsetFetch({
      groupId,
      topics: [{ topic, partitions }],
    });
    return [...ends].map(([partition, last]) => {
      const found = responses[0]?.partitions.find((one) => one.partition === partition);
      const offset = Number(found?.offset ?? -1);
      const [end, begin] = [Number(last), offset < 0 ? Number(begins.get(partition)) : offset];
      return { partition, committed: offset < 0 ? null : offset, end, lag: end - begin };
    }).sort((one, other) => one.partition - other.partition);
  }

  /** Reads on from these offsets, as long as `take` wants more. */
  async read(
    topic: string,
    positions: Map<number, string>,
    take: (message: KafkaMessage, partition: number) => boolean,
    isOver: () => boolean,
  ): Promise<void> {
    const leaders = this.cluster.findLeaderForPartitions(topic, [...positions.keys()]);
    await Promise.all(
      Object.entries(leaders).map(async ([nodeId, partitions]) => {
        const broker = await this.cluster.findBroker({ nodeId });
        while (!isOver()) {
          const wanted = partitions.map((partition) => ({
            partition,
            fetchOffset: positions.get(partition)!,
            maxBytes: FETCH_BYTES,
          }));
          const { responses }: Fetched = await broker.fetch({
            maxWaitTime: POLL,
            topics: [{ topic, partitions: wanted }],
          });
          for (const { partition, messages } of responses.flatMap(({ partitions }) => partitions)) {
            for (const message of messages) {
              // A batch is sent as a whole, also if it begins before the offset.
              if (BigInt(message.offset) < BigInt(positions.get(partition)!)) continue;
              positions.set(partition, String(BigInt(message.offset) + 1n));
              if (message.isControlRecord) continue;
              if (!take(message, partition)) return;
            }
          }
        }
      }),
    );
  }
}
