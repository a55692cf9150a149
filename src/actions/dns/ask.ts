import type { Answer, DecodedPacket } from "dns-packet";
import { isGranted } from "../../host/deno_permissions.ts";
import { StepError } from "../../base/errors.ts";
import type { Dict, Value } from "../../base/value/value.ts";
import type { ActionAttempt } from "../../action/attempt.ts";

/** Milliseconds after which a question is sent again, since datagrams get lost. */
const RESEND = 1000;
/** The size of answers that a server may send in a datagram, as EDNS recommends it. */
const DATAGRAM_SIZE = 1232;
/** Codes of answers as RFC 1035 and RFC 2136 number them. */
const CODES: readonly string[] = [
  ...["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"],
  ...["YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE"],
];

/** The answer of a name server. */
interface DnsAnswer {
  readonly code: { readonly number: number; readonly name: string };
  readonly records: readonly Dict[];
  readonly isAuthoritative: boolean;
}

interface Packet {
  readonly packet: DecodedPacket;
  readonly code: number;
}

type Decode = (bytes: Uint8Array) => Packet | undefined;

/** Asks by a datagram, and by TCP if the answer does not fit into one. */
export async function ask(name: string, type: string, attempt: ActionAttempt): Promise<DnsAnswer> {
  const [{ default: dns }, { Buffer }] = await Promise.all([
    import("dns-packet"),
    import("node:buffer"),
  ]);
  const id = crypto.getRandomValues(new Uint16Array(1))[0]!;
  const question = {
    type: "query" as const,
    id,
    flags: dns.RECURSION_DESIRED,
    questions: [{ name, type }],
    additionals: [{
      ...{ type: "OPT" as const, name: ".", udpPayloadSize: DATAGRAM_SIZE, extendedRcode: 0 },
      ...{ ednsVersion: 0, flags: 0, flag_do: false, options: [] },
    }],
  };
  const { failing = "" } = attempt.server;
  const decode: Decode = (bytes) => {
    let packet: DecodedPacket;
    try {
      // Sockets of Deno give plain bytes, but the package wants buffers of Node.
      packet = dns.decode(Buffer.from(bytes));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StepError(`${failing}: the answer is not a DNS message: ${reason}`);
    }
    // Ignores responses to other queries, and anything else.
    if (packet.id !== id || (bytes[2]! & 0x80) === 0) return undefined;
    return { packet, code: bytes[3]! & 0x0f };
  };
  const asking = failing.replace("cannot ask", "asking");
  const wait = async (answer: Promise<Packet>) => {
    try {
      return await attempt.during(asking, answer, failing);
    } catch (error) {
      if (!attempt.signal.aborted || !(error instanceof StepError)) throw error;
      throw new StepError(error.message, error.hint ?? "is a name server there?", error.details);
    }
  };
  // Datagrams need a socket that may receive from anywhere.
  const isAllowed = isGranted({ name: "net", host: "0.0.0.0:0" });
  const datagram = isAllowed && await wait(askByDatagram(dns.encode(question), attempt, decode));
  const { packet, code } = datagram && !datagram.packet.flag_tc
    ? datagram
    : await wait(askByStream(dns.streamEncode(question), attempt, decode));
  return {
    code: { number: code, name: CODES[code] ?? `RCODE${code}` },
    records: packet.answers?.flatMap(recordOf) ?? [],
    isAuthoritative: packet.flag_aa,
  };
}

async function askByDatagram(
  question: Uint8Array,
  attempt: ActionAttempt,
  decode: Decode,
): Promise<Packet> {
  const { host, port } = attempt.server;
  const { lookup } = await import("node:dns/promises");
  const { address, family } = await lookup(host);
  const { createSocket } = await import("node:dgram");
  const socket = createSocket(family === 6 ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<Packet>();
  const send = () => {
    socket.send(question, port, address, (error) => error && reject(error));
    again = attempt.context.deadline.after(RESEND, send);
  };
  let again = { cancel() {} };
  attempt.undo(() => {
    again.cancel();
    socket.close();
  });
  socket.on("error", reject);
  socket.on("message", (bytes: Uint8Array) => take(bytes, decode, resolve, reject));
  send();
  const packet = await promise;
  again.cancel();
  return packet;
}

/** Over TCP the length comes before an answer. */
async function askByStream(
  question: Uint8Array,
  attempt: ActionAttempt,
  decode: Decode,
): Promise<Packet> {
  const socket = await attempt.socket(undefined);
  const { promise, resolve, reject } = Promise.withResolvers<Packet>();
  let received = new Uint8Array();
  socket.on("error", reject);
  socket.on(
    "close",
    () =>
      reject(new StepError(`${attempt.server.failing}: ${attempt.address} closed the connection`)),
  );
  socket.on("data", (chunk: Uint8Array) => {
    received = new Uint8Array([...received, ...chunk]);
    const length = received.length < 2 ? Infinity : received[0]! * 256 + received[1]!;
    if (received.length >= length + 2) {
      take(received.subarray(2, length + 2), decode, resolve, reject);
    }
  });
  socket.write(question);
  return await promise;
}

function take(
  bytes: Uint8Array,
  decode: Decode,
  resolve: (packet: Packet) => void,
  reject: (error: unknown) => void,
): void {
  try {
    const packet = decode(bytes);
    if (packet) resolve(packet);
  } catch (error) {
    reject(error);
  }
}

/** A record as steps see it; those that only serve the protocol are left out. */
function recordOf({ type, name, ttl = 0, data }: Answer): Dict[] {
  return type === "OPT" ? [] : [{ name, type, ttl, value: valueOf(data, type) }];
}

function valueOf(data: unknown, type: string): Value {
  if (type === "TXT") {
    const parts = (Array.isArray(data) ? data : [data]) as (Uint8Array | string)[];
    const decoder = new TextDecoder();
    return parts.map((one) => typeof one === "string" ? one : decoder.decode(one)).join("");
  }
  if (data instanceof Uint8Array) return data.toHex();
  if (typeof data === "object" && data !== null) {
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, valueOf(value, "")]),
    );
  }
  return data === undefined ? null : data as Value;
}
