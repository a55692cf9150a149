// Types for the package dns-packet, as far as this project uses it.

declare module "dns-packet" {
  export type RecordType = string;
  export interface Answer {
    readonly type: string;
    readonly name: string;
    readonly ttl?: number;
    readonly data?: unknown;
  }
  export interface DecodedPacket {
    readonly id: number;
    readonly flag_aa: boolean;
    readonly flag_tc: boolean;
    readonly questions?: readonly { readonly name: string; readonly type: string }[];
    readonly answers?: readonly Answer[];
  }
  const dns: {
    readonly RECURSION_DESIRED: number;
    readonly AUTHORITATIVE_ANSWER: number;
    readonly TRUNCATED_RESPONSE: number;
    encode(packet: unknown): Uint8Array;
    decode(bytes: Uint8Array): DecodedPacket;
    streamEncode(packet: unknown): Uint8Array;
  };
  export default dns;
}
