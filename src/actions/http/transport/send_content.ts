import type { Writable } from "node:stream";
import type { ContentStream } from "../request/request_body.ts";

/** Writes a body with backpressure. Stops silently if the receiver is gone. */
export async function sendContent(content: ContentStream, outgoing: Writable): Promise<void> {
  for await (const chunk of content.open()) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) await untilDrained(outgoing);
  }
  outgoing.end();
}

function untilDrained(outgoing: Writable): Promise<void> {
  if (outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      outgoing.off("drain", go);
      outgoing.off("close", go);
      outgoing.off("error", go);
      resolve();
    };
    outgoing.on("drain", go);
    outgoing.on("close", go);
    outgoing.on("error", go);
  });
}
