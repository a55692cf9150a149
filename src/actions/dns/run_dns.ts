import type { Answer, DecodedPacket, RecordType } from "dns-packet";
import { isGranted } from "../../host/deno_permissions.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext, ActionResult, Dict, Value } from "../../action/action.ts";
import { type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { checkNet, openSocket } from "../../action/net/open_socket.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { onAbort } from "../../action/on_abort.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { readName, readServer } from "./read_question.ts";
import { RECORD_TYPES } from "./record_types.ts";

/** The maximum time for a response, in milliseconds. */
const PATIENCE = 5000;
/** A question is sent again after this time, since datagrams get lost, in milliseconds. */
const RESEND = 1000;
/** The size of answers that a server may send in a datagram, as EDNS recommends it. */
const DATAGRAM = 1232;
/** Codes of answers as RFC 1035 and RFC 2136 number them. */
const CODES: readonly string[] = [
  ...["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"],
  ...["YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE"],
];

/** Asks once. An answer without success, like NXDOMAIN, is a result with that status. */
export async function runDns(params: Dict, given: ActionContext): Promise<ActionResult> {
  const read = readParameters("dns", params);
  const type = (read.string("type") ?? "A").toUpperCase();
  if (!RECORD_TYPES.includes(type)) {
    const message = `cannot run dns: unknown type of records "${type}"`;
    throw new StepError(message, `one of ${RECORD_TYPES.join(", ")}`, { parameter: "type" });
  }
  const name = await readName(required("dns", "name", read.string("name")), type);
  const server = await readServer(read.string("server"));
  const doing = `cannot ask ${placeOf(server)} for ${type} of "${name}"`;
  const patience = Math.min(read.duration("timeout") ?? PATIENCE, given.deadline.timeout);
  const { context, release } = limitAction(given, patience);
  try {
    await checkNet(server, context, doing);
    const answer = await ask({ name, type }, server, context, doing);
    const code = answer.rcodeNumber;
    return {
      req: { name, type, server: `${server.host}:${server.port}` },
      res: {
        code: CODES[code] ?? `RCODE${code}`,
        records: answer.packet.answers?.flatMap(recordOf) ?? [],
        authoritative: answer.packet.flag_aa,
        server: `${server.host}:${server.port}`,
      },
      status: code,
      brief: CODES[code] ?? `RCODE${code}`,
    };
  } finally {
    release();
  }
}

interface Question {
  readonly name: string;
  readonly type: string;
}

interface Reply {
  readonly packet: DecodedPacket;
  readonly rcodeNumber: number;
}

async function ask(
  { name, type }: Question,
  server: Endpoint,
  context: ActionContext,
  doing: string,
): Promise<Reply> {
  const [{ default: dns }, { Buffer }] = await Promise.all([
    import("dns-packet"),
    import("node:buffer"),
  ]);
  const id = crypto.getRandomValues(new Uint16Array(1))[0]!;
  const question = {
    type: "query" as const,
    id,
    flags: dns.RECURSION_DESIRED,
    questions: [{ name, type: type as RecordType }],
    additionals: [{
      ...{ type: "OPT" as const, name: ".", udpPayloadSize: DATAGRAM, extendedRcode: 0 },
      ...{ ednsVersion: 0, flags: 0, flag_do: false, options: [] },
    }],
  };
  const decode = (bytes: Uint8Array): Reply | undefined => {
    let packet: DecodedPacket;
    try {
      // The sockets of Deno give plain bytes, where the package wants the buffers of Node.
      packet = dns.decode(Buffer.from(bytes));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new StepError(`${doing}: the answer is not a DNS message: ${why}`);
    }
    // Ignores responses to other queries, and what is not a response.
    if (packet.id !== id || (bytes[2]! & 0x80) === 0) return undefined;
    return { packet, rcodeNumber: bytes[3]! & 0x0f };
  };
  try {
    // Datagrams need a socket that may hear from anywhere.
    if (isGranted({ name: "net", host: "0.0.0.0:0" })) {
      const reply = await askByDatagram(dns.encode(question), server, context, decode);
      if (!reply.packet.flag_tc) return reply;
    }
    return await askByStream(dns.streamEncode(question), server, context, decode);
  } catch (error) {
    if (error instanceof StepError) {
      if (error.message.startsWith(doing)) throw error;
      const hint = error.hint ??
        (/timed out/.test(error.message) ? "is a name server there?" : undefined);
      throw new StepError(`${doing}: ${error.message}`, hint);
    }
    const { words, hint } = await explainConnection(error, server, context.host.clock);
    throw new StepError(`${doing}: ${words}`, hint);
  }
}

type Decode = (bytes: Uint8Array) => Reply | undefined;

async function askByDatagram(
  question: Uint8Array,
  { host, port }: Endpoint,
  { signal, deadline }: ActionContext,
  decode: Decode,
): Promise<Reply> {
  const { createSocket } = await import("node:dgram");
  const { address, family } = await addressOf(host, signal);
  const socket = createSocket(family === 6 ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const forget = onAbort(signal, reject);
  const send = () => {
    socket.send(question, port, address, (error) => error && reject(error));
    again = deadline.after(RESEND, send);
  };
  let again = deadline.after(RESEND, send);
  socket.on("error", reject);
  socket.on("message", (bytes: Uint8Array) => {
    try {
      const reply = decode(bytes);
      if (reply) resolve(reply);
    } catch (error) {
      reject(error);
    }
  });
  try {
    socket.send(question, port, address, (error) => error && reject(error));
    return await promise;
  } finally {
    forget();
    again.cancel();
    socket.close();
  }
}

async function addressOf(host: string, signal: AbortSignal) {
  const { lookup } = await import("node:dns/promises");
  const stopped = Promise.withResolvers<never>();
  const forget = onAbort(signal, stopped.reject);
  return await Promise.race([lookup(host), stopped.promise]).finally(forget);
}

/** Answers that do not fit into a datagram come by TCP, after their length. */
async function askByStream(
  question: Uint8Array,
  server: Endpoint,
  context: ActionContext,
  decode: Decode,
): Promise<Reply> {
  const socket = await openSocket(server, undefined, context);
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const forget = onAbort(context.signal, reject);
  let received = new Uint8Array();
  socket.on("error", reject);
  socket.on("close", () => reject(new StepError(`${placeOf(server)} closed the connection`)));
  socket.on("data", (chunk: Uint8Array) => {
    received = new Uint8Array([...received, ...chunk]);
    const length = received.length < 2 ? Infinity : received[0]! * 256 + received[1]!;
    if (received.length < length + 2) return;
    try {
      const reply = decode(received.subarray(2, length + 2));
      if (reply) resolve(reply);
    } catch (error) {
      reject(error);
    }
  });
  socket.write(question);
  try {
    return await promise;
  } finally {
    forget();
    socket.destroy();
  }
}

/** A record as steps see it; those that only serve the protocol are left out. */
function recordOf(answer: Answer): Dict[] {
  if (answer.type === "OPT") return [];
  const { name, type, ttl = 0 } = answer as { name: string; type: string; ttl?: number };
  return [{ name, type, ttl, value: valueOf((answer as { data?: unknown }).data, type) }];
}

function valueOf(data: unknown, type: string): Value {
  if (type === "TXT") {
    const parts = (Array.isArray(data) ? data : [data]) as (Uint8Array | string)[];
    const decoder = new TextDecoder();
    return parts.map((one) => typeof one === "string" ? one : decoder.decode(one)).join("");
  }
  if (data instanceof Uint8Array) return toHex(data);
  if (typeof data === "object" && data !== null) {
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, valueOf(value, "")]),
    );
  }
  return data === undefined ? null : data as Value;
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
