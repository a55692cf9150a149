import type { EventSourceMessage } from "eventsource-parser";
import type { Dict } from "../../action/action.ts";
import { Intake } from "../../action/intake.ts";
import { mediaType } from "../http/response/content_type.ts";
import { decodeStream } from "../http/response/decode_stream.ts";
import type { BodySink } from "../http/response/save_body.ts";
import { BODY_LIMIT } from "../http/transport/body_chunks.ts";
import { findHeader } from "../http/transport/send.ts";
import { dataIn } from "../../base/value/parse_json.ts";

/** The conditions that end the receiving of events. */
export interface EventGoal {
  /** Whether the event that has just come is the last one to receive. */
  readonly isMet: (event: Dict) => boolean;
  readonly maxEvents: number;
}

type CreateParser = typeof import("eventsource-parser").createParser;

/** Makes a sink for the events of a body. */
export async function openEventSink(goal: EventGoal): Promise<EventSink> {
  const { createParser } = await import("eventsource-parser");
  return new EventSink(goal, createParser);
}

/** The events of a body, taken while it is received. */
class EventSink implements BodySink {
  readonly events: Dict[] = [];
  /** The time to wait before connecting again, in milliseconds, if the server names one. */
  retry: number | undefined;
  isDone = false;
  isMet = false;
  /** Whether there was a stream of events. */
  isStream = false;
  readonly #intake = new Intake(BODY_LIMIT, `the events are larger than ${BODY_LIMIT} bytes`);
  readonly #goal: EventGoal;
  readonly #createParser: CreateParser;

  constructor(goal: EventGoal, createParser: CreateParser) {
    this.#goal = goal;
    this.#createParser = createParser;
  }

  takes(code: number, rawHeaders: readonly string[]): boolean {
    const type = mediaType(findHeader(rawHeaders, "content-type") ?? "");
    this.isStream = code >= 200 && code <= 299 && type === "text/event-stream";
    return this.isStream;
  }

  async save(chunks: AsyncIterable<Uint8Array>, contentEncoding: string): Promise<undefined> {
    const parser = this.#createParser({
      onEvent: (event) => {
        if (!this.isDone) this.#take(event);
      },
      onRetry: (milliseconds) => this.retry = milliseconds,
    });
    const decoder = new TextDecoder();
    for await (const chunk of decodeStream(chunks, contentEncoding)) {
      this.#intake.add(chunk.length);
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (this.isDone) return undefined;
      if (this.#intake.isDue) await this.#intake.rest();
    }
    this.isDone = true;
    return undefined;
  }

  /** Nothing is left behind. */
  discard(): void {}

  #take({ event, data, id }: EventSourceMessage): void {
    this.#intake.add(0);
    const taken = { event: event ?? "message", data: dataIn(data), id: id ?? "" };
    this.events.push(taken);
    this.isMet = this.#goal.isMet(taken);
    this.isDone = this.isMet || this.events.length >= this.#goal.maxEvents;
  }
}
