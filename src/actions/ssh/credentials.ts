import type ssh2 from "ssh2";
import type { ParsedKey } from "ssh2";
import type { Host } from "../../host/host.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { allow } from "../../action/target.ts";

export type { Attributes, Channel, Client, ClientError, Sftp } from "ssh2";

/** How to sign in: parameters of a step. */
export interface CredentialParams {
  readonly password?: string;
  /** The path of a private key, or its text. */
  readonly key_file?: string;
  readonly key_passphrase?: string;
  readonly agent: boolean;
}

/** The same after the files were read. */
export interface Credentials {
  readonly password?: string;
  readonly key?: LoadedKey;
  /** The path of the agent's socket. */
  readonly agent?: string;
}

/** A key that the library can read and the runtime can sign with. */
interface LoadedKey {
  readonly privateKey: string;
  readonly passphrase?: string;
}

/** Loads the library that speaks SSH. */
export async function loadSsh2(): Promise<typeof ssh2> {
  // A part of it that was compiled to JavaScript reads this name, which modules do not have.
  const globals = globalThis as { __dirname?: string };
  globals.__dirname ??= ".";
  const { default: library } = await import("ssh2");
  return library;
}

/** Whether a text is a key itself, and not the path of one. */
export function isKeyText(text: string): boolean {
  return text.includes("-----BEGIN ") || text.startsWith("PuTTY-User-Key-File-");
}

/** A path, in which `~/` is the home directory. */
export function homePath(path: string, { env }: Host): string {
  if (!/^~(?:\/|$)/.test(path)) return path;
  const home = env.get("HOME") ?? env.get("USERPROFILE");
  return home === undefined ? path : home + path.slice(1);
}

/** Loads the key and finds the agent. Throws `StepError` if one cannot be used. */
export async function readCredentials(
  { password, key_file: file, key_passphrase: passphrase, agent }: CredentialParams,
  attempt: ActionAttempt,
): Promise<Credentials> {
  return {
    password,
    key: file === undefined ? undefined : await readKey(file, passphrase, attempt),
    agent: agent ? await findAgent(attempt) : undefined,
  };
}

async function readKey(
  file: string,
  passphrase: string | undefined,
  attempt: ActionAttempt,
): Promise<LoadedKey> {
  if (isKeyText(file)) return await loadKey(file, passphrase, "the key");
  const path = homePath(file, attempt.context.host);
  const bytes = await attempt.read(path, "key_file", "the key");
  return await loadKey(new TextDecoder().decode(bytes), passphrase, `the key "${file}"`);
}

async function findAgent({ context, server }: ActionAttempt): Promise<string> {
  const socket = context.host.env.get("SSH_AUTH_SOCK");
  const parameter = "agent";
  if (!socket) {
    throw new StepError(
      "cannot run ssh: no agent is running: SSH_AUTH_SOCK is not set",
      "start one: eval $(ssh-agent) && ssh-add",
      { parameter },
    );
  }
  const failing = "cannot use the agent of ssh";
  await allow({ ...server, socket, failing }, parameter, context);
  return socket;
}

/** The methods to sign in by, one after another, and what became of them. */
export class SignInMethods {
  /** Methods that were tried, and those that the server would take. */
  readonly tried: string[] = [];
  offered: readonly string[] = [];
  readonly usesKey: boolean;
  readonly #waiting: { readonly name: string; readonly method: unknown }[] = [];

  constructor(username: string, { key, agent, password }: Credentials) {
    this.usesKey = key !== undefined;
    if (key) this.#waiting.push({ name: "publickey", method: "publickey" });
    if (agent !== undefined) this.#waiting.push({ name: "publickey", method: "agent" });
    if (password === undefined) return;
    const type = "keyboard-interactive";
    const prompt = (
      ...[, , , prompts, answer]: [
        ...[name: string, instructions: string, language: string, prompts: readonly unknown[]],
        (answers: readonly string[]) => void,
      ]
    ) => answer(prompts.map(() => password));
    this.#waiting.push(
      { name: "password", method: "password" },
      { name: type, method: { type, username, prompt } },
    );
  }

  /** The next method that the server takes, as the library wants it; false after the last one. */
  next(left: readonly string[] | null): unknown {
    if (left) this.offered = left;
    const index = this.#waiting.findIndex(({ name }) => !left || left.includes(name));
    if (index < 0) return false;
    const [{ name, method } = { name: "", method: false }] = this.#waiting.splice(index, 1);
    this.tried.push(name);
    return method;
  }
}

/**
 * Reads a private key in the format of OpenSSH or PEM (PKCS #1, SEC 1 and PKCS #8), or an RSA key in
 * version 2 of that of PuTTY, encrypted or not. `name` is that of the key in messages.
 */
export async function loadKey(
  text: string,
  passphrase: string | undefined,
  name: string,
): Promise<LoadedKey> {
  const file = `${text.trim()}\n`;
  if (/^(?:ssh-|ecdsa-|sk-)|BEGIN (?:SSH2 |RSA )?PUBLIC KEY/.test(file)) {
    const hint = "the private key has the same name without .pub";
    throw keyError(`${name} is a public key`, hint);
  }
  const isPem = !/BEGIN OPENSSH PRIVATE KEY|^PuTTY-User-Key-File-/m.test(file);
  return await parseKey(isPem ? await convertPem(file, passphrase, name) : file, passphrase, name);
}

function keyError(message: string, hint?: string, parameter = "key_file"): StepError {
  return new StepError(`cannot run ssh: ${message}`, hint, { parameter });
}

function needsPassphrase(name: string): StepError {
  const hint = 'write it as "key_passphrase", or use agent: true';
  return keyError(`${name} is encrypted and needs a passphrase`, hint);
}

function wrongPassphrase(name: string): StepError {
  return keyError(`wrong passphrase for ${name}`, undefined, "key_passphrase");
}

function notSupported(name: string, reason: string): StepError {
  return keyError(
    `${name} is not a private key that is supported: ${reason}`,
    "Ed25519, ECDSA and RSA keys in the formats of OpenSSH and PEM are; agent: true takes others",
  );
}

async function parseKey(
  file: string,
  passphrase: string | undefined,
  name: string,
): Promise<LoadedKey> {
  const { utils } = await loadSsh2();
  const parsed = utils.parseKey(file, passphrase);
  const key = Array.isArray(parsed) ? parsed[0]! : parsed;
  if (key instanceof Error) {
    const { message } = key;
    if (file.startsWith("PuTTY-") && /^Unsupported/.test(message)) {
      throw keyError(
        `${name} is in the format of PuTTY, which is supported for RSA in version 2`,
        "convert it: puttygen key.ppk -O private-openssh -o key, or load it into an agent: agent: true",
      );
    }
    if (/no passphrase given/.test(message)) throw needsPassphrase(name);
    if (/integrity check failed|bad decrypt/i.test(message)) throw wrongPassphrase(name);
    throw notSupported(name, message);
  }
  // This format keeps the number of an elliptic key as short as it is, and the runtime refuses one
  // that is not as long as its curve.
  const [, bits] = /^ecdsa-sha2-nistp(\d+)$/.exec(key.type) ?? [];
  if (bits === undefined) return { privateKey: file, passphrase };
  return { privateKey: padElliptic(key, Math.ceil(Number(bits) / 8)) };
}

/** A key in PEM in a format that the library reads, without a passphrase. */
async function convertPem(
  file: string,
  passphrase: string | undefined,
  name: string,
): Promise<string> {
  const isEncrypted = /BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(file);
  if (isEncrypted && !passphrase) throw needsPassphrase(name);
  const { createPrivateKey } = await import("node:crypto");
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey({ key: file, format: "pem", passphrase });
  } catch (error) {
    if (isEncrypted) throw wrongPassphrase(name);
    throw notSupported(name, error instanceof Error ? error.message : String(error));
  }
  const type = key.asymmetricKeyType;
  if (type === "rsa") return String(key.export({ type: "pkcs1", format: "pem" }));
  if (type === "ec") return String(key.export({ type: "sec1", format: "pem" }));
  if (type !== "ed25519") throw notSupported(name, `its type is ${type}`);
  const { x = "", d = "" } = key.export({ format: "jwk" });
  const [publicKey, secret] = [x, d].map((part) =>
    Uint8Array.fromBase64(part, { alphabet: "base64url" })
  ) as [Uint8Array, Uint8Array];
  return openSshKey(encode("ssh-ed25519", publicKey), join([secret, publicKey]));
}

/** An elliptic key whose number has that many bytes, as its curve. */
function padElliptic(key: ParsedKey, size: number): string {
  const pem = key.getPrivatePEM() ?? "";
  const der = Uint8Array.fromBase64(pem.replace(/-----[^-]+-----|\s/g, ""));
  // A sequence of the integer 1, the number, and the curve with the public key.
  const start = 2 + (der[1]! < 0x80 ? 0 : der[1]! & 0x7f) + 3;
  const length = der[start + 1]!;
  const found = der.subarray(start + 2, start + 2 + length);
  const padded = new Uint8Array(size);
  padded.set(found.subarray(Math.max(0, length - size)), Math.max(0, size - length));
  return openSshKey(key.getPublicSSH(), padded);
}

/** The text of a key in the format of OpenSSH. */
function openSshKey(publicKey: Uint8Array, secret: Uint8Array): string {
  // Two equal numbers, by which a reader knows that it has decrypted the key; no comment.
  const secrets = join([encode(0, 0), publicKey, encode(secret, "")]);
  const padding = Uint8Array.from({ length: -secrets.length & 7 }, (_, index) => index + 1);
  const all = join([
    new TextEncoder().encode("openssh-key-v1\0"),
    encode("none", "none", "", 1, publicKey, join([secrets, padding])),
  ]);
  const lines = all.toBase64().replace(/.{64}/g, "$&\n").trimEnd();
  const label = "OPENSSH PRIVATE KEY";
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** Numbers in four bytes; texts and bytes behind their length. */
function encode(...parts: readonly (number | string | Uint8Array)[]): Uint8Array {
  return join(parts.map((part) => {
    if (typeof part === "number") {
      return Uint8Array.of(part >>> 24, part >>> 16, part >>> 8, part);
    }
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    return join([encode(bytes.length), bytes]);
  }));
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
