import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import {
  ClosedEarly,
  InvalidStatus,
  MalformedResponse,
} from "../../../../src/actions/http/transport/model.ts";
import { ResponseParser } from "../../../../src/actions/http/transport/http_connection.ts";
import { type Case, CASES } from "./hostile_responses.ts";

for (const piece of [Infinity, 1, 2, 3, 7]) {
  Deno.test(`ResponseParser reads ${CASES.length} responses in pieces of ${piece} bytes`, () => {
    const wrong = CASES.flatMap((each) => {
      const found = parse(each, piece);
      return found === each.is ? [] : [`${each.name}: ${found} instead of ${each.is}`];
    });
    assertEquals(wrong, []);
  });
}

Deno.test("ResponseParser reads a response in the same way wherever it is split", () => {
  const wrong = CASES.filter(({ bytes }) => bytes.length < 1000).flatMap((each) =>
    Array.from(each.bytes, (_, at) => parse(each, Infinity, at))
      .flatMap((found, at) => found === each.is ? [] : [`${each.name} at ${at}: ${found}`])
  );
  assertEquals(wrong, []);
});

/** Parses a response as the transport does: from one buffer, in which older bytes are left. */
function parse({ bytes, method = "GET", closes }: Case, piece: number, first = piece): string {
  const received = Buffer.alloc(bytes.length + 10, "x");
  const parser = new ResponseParser();
  let status = 0, body = "", end: readonly string[] | undefined, fields = "", interim = 0;
  const handler = {
    onHead(
      { code, rawHeaders }: { readonly code: number; readonly rawHeaders: readonly string[] },
    ) {
      if (code === 101) throw new MalformedResponse("HPE_INVALID_STATUS", "101");
      if (code < 200 && ++interim > 32) throw new MalformedResponse("HPE_INVALID_STATUS", "1xx");
      status = code;
      const x = rawHeaders.indexOf("X");
      if (x >= 0) fields = ` | X=${rawHeaders[x + 1]}`;
    },
    onBody(chunk: Buffer, from: number, to: number) {
      body += chunk.toString("latin1", from, to);
    },
    onEnd(trailers: readonly string[]) {
      end = trailers;
    },
  };
  parser.start(handler, method);
  const all = Buffer.from(bytes, "latin1");
  let used = 0;
  try {
    let before = 0;
    for (let at = 0; at < all.length && end === undefined;) {
      const part = all.subarray(at, at + (at === 0 && first > 0 ? first : piece));
      received.fill("x", 0, before);
      received.set(part as Uint8Array);
      before = part.length;
      used = at + parser.execute(received, part.length);
      at += part.length;
    }
    if (closes) parser.finish();
  } catch (error) {
    return failure(error);
  }
  if (end === undefined) return "waiting";
  const kept = parser.keepAlive && used === all.length ? " +" : "";
  const trailers = end.map((text, at) => at % 2 === 0 ? `${at === 0 ? " " : ","}${text}=` : text);
  return `${status} ${JSON.stringify(body)}${kept}${trailers.join("")}${fields}`;
}

function failure(error: unknown): string {
  if (error instanceof ClosedEarly) return "closed";
  if (error instanceof InvalidStatus) return "malformed";
  if (!(error instanceof MalformedResponse)) throw error;
  return error.code === "HPE_HEADER_OVERFLOW" ? "too large" : "malformed";
}
