import dns from "dns-packet";
import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";

/** Records by type and name: `A shop.test`. */
export type Zone = Readonly<Record<string, readonly { type: string; data: unknown }[]>>;

/** A socket that receives datagrams. */
export async function listenDatagrams(port: number) {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(port, "127.0.0.1", resolve));
  return socket;
}

/** A name server by UDP and TCP; answers of more than 512 bytes are cut in datagrams. */
export async function nameServer(zone: Zone) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const socket = await listenDatagrams(port);
  const seen: string[] = [];
  const answer = (bytes: Uint8Array, how: string) => {
    const { id, questions = [] } = dns.decode(Buffer.from(bytes));
    const { name, type } = questions[0]!;
    seen.push(`${how} ${type} ${name}`);
    const found = zone[`${type} ${name}`];
    const packet = {
      type: "response",
      id,
      questions,
      flags: dns.AUTHORITATIVE_ANSWER | (found ? 0 : 3),
      answers: (found ?? []).map((one) => ({ ...one, name, ttl: 60 })),
    };
    const whole = dns.encode(packet);
    if (how === "tcp" || whole.length <= 512) return { packet, whole };
    const cut = { ...packet, flags: packet.flags | dns.TRUNCATED_RESPONSE, answers: [] };
    return { packet: cut, whole: dns.encode(cut) };
  };
  socket.on("message", (bytes: Uint8Array, from) => {
    socket.send(answer(bytes, "udp").whole, from.port, from.address);
  });
  const streams = (async () => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(4096);
      const length = await connection.read(buffer);
      const { packet } = answer(buffer.subarray(2, length ?? 2), "tcp");
      await connection.write(dns.streamEncode(packet));
      connection.close();
    }
  })();
  return {
    server: `127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      listener.close();
      socket.close();
      await streams;
    },
  };
}
