import { decodePercents, withoutPassword } from "../../secrets/secrets.ts";
import { describeValue, readInteger } from "../../base/value/value.ts";
import type { Value } from "../../action/action.ts";
import type { Param } from "../../action/rule.ts";

/** A Redis server, as a URL describes it. */
export interface Url {
  /** The URL without its password. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly username: string;
  readonly password: string;
  readonly database: number;
}

/** Reads the URL of a server; its password is a secret before anything can fail. */
export function readUrl(text: string, param: Param): Url {
  const url = URL.parse(text);
  const password = decodePercents(url?.password ?? "");
  if (password !== "") param.secrets?.add(password);
  const database = /^\/?(\d*)$/.exec(url?.pathname ?? "")?.[1];
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === "" || database === undefined) {
    throw param.wrong(
      `invalid URL ${JSON.stringify(url ? withoutPassword(text) : "")}`,
      "write redis://host:6379, redis://user:password@host:6379/0 or rediss:// for TLS",
    );
  }
  const shown = new URL(url);
  if (password !== "") shown.password = "***";
  return {
    shown: shown.href,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 6379),
    isSecure: url.protocol === "rediss:",
    username: decodePercents(url.username),
    password,
    database: Number(database),
  };
}

/** The error that a server replied; throws any other. */
export function errorReply(error: unknown): Error {
  if (error instanceof Error && error.name === "ReplyError") return error;
  throw error;
}

/** A reply as steps see it. */
interface RedisResponse {
  readonly value: Value;
  /** The error that it is, or the first one inside it. */
  readonly error?: Error | undefined;
}

/** Integers are text in the replies of the library, strings are bytes. */
export function readReply(reply: unknown): RedisResponse {
  let error: Error | undefined;
  const toValue = (part: unknown): Value => {
    if (Array.isArray(part)) return part.map(toValue);
    if (part instanceof Error) return (error ??= part, part.message);
    if (part instanceof Uint8Array) return textOrBytes(part);
    if (part === null) return null;
    const text = String(part);
    return /^-?\d+$/.test(text) ? readInteger(text) ?? text : text;
  };
  return { value: toValue(reply), error };
}

/** Text, or `{ base64: … }` of bytes that are not UTF-8. */
function textOrBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: bytes.toBase64() };
  }
}

/** Commands that turn the connection into one that only receives. */
const ENDLESS = ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC"];

/** The words of a command: of a list as they are, of a text between spaces outside quotes. */
export function splitCommand(command: string | readonly Value[], param: Param): readonly string[] {
  const parts = typeof command === "string" ? splitText(command) : command.map(toWord);
  if (!parts?.[0]) {
    throw param.wrong(
      `the command ${describeValue(command)} has ${
        parts ? "no words" : "a quote that is not closed"
      }`,
      'write it as a list: [SET, key, "a value"]',
    );
  }
  // The library treats some names in small letters in its own way.
  const name = parts[0].toUpperCase();
  if (ENDLESS.includes(name)) {
    throw param.wrong(
      `${name} is not supported, because it waits for messages without end`,
      "XREAD and BLPOP wait for one",
    );
  }
  for (const password of passwordsIn(name, parts)) param.secrets?.add(password);
  return [name, ...parts.slice(1)];
}

function toWord(value: Value): string {
  return value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Undefined if a quote is not closed. */
function splitText(text: string): string[] | undefined {
  const word = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/gs;
  if (text.replace(word, "").trim() !== "") return undefined;
  return text.match(word)?.map((word) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
      (_, double, single) => single ?? double.replace(/\\(.)/gs, unescape),
    )
  ) ?? [];
}

function unescape(_: string, letter: string): string {
  return { n: "\n", r: "\r", t: "\t" }[letter] ?? letter;
}

/** The passwords in a command that signs in or sets them. */
function passwordsIn(name: string, args: readonly string[]): readonly string[] {
  if (name === "ACL") {
    return args.filter((word) => /^[<>]/.test(word)).map((word) => word.slice(1));
  }
  if (!["AUTH", "HELLO", "CONFIG"].includes(name)) return [];
  return args.flatMap((word, index) => {
    // A user name may come before it.
    const count = /^auth$/i.test(word) ? 2 : /^(requirepass|masterauth)$/i.test(word) ? 1 : 0;
    return args.slice(index + 1, index + 1 + count).slice(-1);
  });
}
