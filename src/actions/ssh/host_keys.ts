import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { addressOf, type Endpoint } from "../../action/net/endpoint.ts";
import { homePath } from "./credentials.ts";

/** Which keys a host may have: parameters of a step. */
export interface HostKeyParams {
  /** The path of a known_hosts file, or its text; the files of the user and the system if absent. */
  readonly known_hosts?: string;
  readonly strict_host_check: boolean;
}

/** Decides whether a host is the one that it says it is. */
export interface HostKeys {
  /** Algorithms in the order to ask for, so that the host shows a key that is known. */
  readonly algorithms: readonly string[] | undefined;
  /** Whether this is a key of the host; if not, `refusal` says why. */
  accept(key: Uint8Array): boolean;
  readonly refusal: StepError | undefined;
}

/** A line of a known_hosts file. */
interface KnownHost {
  readonly marker: "revoked" | "cert-authority" | undefined;
  /** Patterns, or one hashed name. */
  readonly names: string;
  readonly type: string;
  /** The key in base64. */
  readonly key: string;
  /** Where the line is, for people: `~/.ssh/known_hosts:3`. */
  readonly location: string;
}

/** Whether the files contain the key that a host has shown. */
type Verdict =
  | { readonly kind: "known" }
  | { readonly kind: "unknown" }
  | { readonly kind: "revoked"; readonly by: KnownHost }
  | { readonly kind: "changed"; readonly from: KnownHost };

const PARAMETER = "known_hosts";

/** Reads which keys a host may have; undefined if they are not checked. */
export async function readHostKeys(
  endpoint: Endpoint,
  { known_hosts: knownHosts, strict_host_check: isChecked }: HostKeyParams,
  attempt: ActionAttempt,
): Promise<HostKeys | undefined> {
  if (!isChecked) return undefined;
  const files = await readFiles(knownHosts, attempt);
  const all = files.flatMap(({ text, name }) => parseKnownHosts(text, name));
  const lines = await linesAbout(endpoint, all);
  // As for OpenSSH, the keys of the host at port 22 are those of other ports that have no line.
  const others = await linesAbout({ ...endpoint, port: 22 }, all);
  const { createHash } = await import("node:crypto");
  const describeKey = (type: string, key: Uint8Array) => {
    const hash = createHash("sha256").update(key).digest("base64").replace(/=+$/, "");
    return `${type} SHA256:${hash}`;
  };
  let refusal: StepError | undefined;
  return {
    algorithms: algorithmsFor([...lines, ...others]),
    accept(key) {
      const exact = judgeHostKey(key.toBase64(), lines);
      const other = judgeHostKey(key.toBase64(), others);
      const verdict = exact.kind === "unknown" && other.kind !== "changed" ? other : exact;
      if (verdict.kind === "known") return true;
      refusal = explain(verdict, describeKey(typeOf(key), key));
      return false;
    },
    get refusal() {
      return refusal;
    },
  };

  function explain(verdict: Exclude<Verdict, { kind: "known" }>, shown: string): StepError {
    const { host, port } = endpoint;
    const address = addressOf(endpoint);
    const failing = `cannot connect to ssh at ${address}: host key verification failed`;
    if (verdict.kind === "revoked") {
      return new StepError(
        `${failing}: the host key ${shown} is revoked by ${verdict.by.location}`,
        "the server needs a new host key",
      );
    }
    if (verdict.kind === "changed") {
      const { key, type, location } = verdict.from;
      const bytes = bytesOf(key);
      const other = bytes ? describeKey(type, bytes) : "a key that is not complete";
      return new StepError(
        `${failing}: the host key has changed: it is ${shown}, and ${location} has ${other}`,
        "somebody may be intercepting the connection; if the server was set up anew, replace that line",
        { parameter: PARAMETER },
      );
    }
    const names = files.map(({ name }) => name);
    const have = names.length === 1 ? "has" : "have";
    const scan = `ssh-keyscan ${port === 22 ? host : `-p ${port} ${host}`} >> ${names[0]}`;
    return new StepError(
      `${failing}: the host key ${shown} is unknown; ${
        names.join(" and ")
      } ${have} no key of ${address}`,
      lines.some(({ marker }) => marker === "cert-authority")
        ? "certificates of hosts (@cert-authority) are not supported: add the key itself"
        : `compare the fingerprint with that of the server, then: ${scan}`,
      { parameter: PARAMETER },
    );
  }
}

/** The name of its type, with which a key begins. */
function typeOf(key: Uint8Array): string {
  const length = new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(0);
  return new TextDecoder().decode(key.subarray(4, 4 + length));
}

const USER_FILE = "~/.ssh/known_hosts";
const SYSTEM_FILE = "/etc/ssh/ssh_known_hosts";

interface KnownHostsFile {
  readonly text: string;
  /** Its path, for people. */
  readonly name: string;
}

async function readFiles(
  knownHosts: string | undefined,
  attempt: ActionAttempt,
): Promise<readonly KnownHostsFile[]> {
  const { host } = attempt.context;
  const read = async (name: string): Promise<KnownHostsFile> => {
    const path = homePath(name, host);
    return { text: await attempt.readText(path, PARAMETER, "the known hosts file"), name };
  };
  if (knownHosts !== undefined) {
    const isText = / AAAA[A-Za-z0-9+/]/.test(knownHosts);
    return [isText ? { text: knownHosts, name: PARAMETER } : await read(knownHosts)];
  }
  const files: KnownHostsFile[] = [];
  for (const name of [USER_FILE, SYSTEM_FILE]) {
    // A file without access fails when it is read.
    const exists = await host.files.isFile(homePath(name, host)).catch(() => true);
    if (exists) files.push(await read(name));
  }
  return files.length > 0 ? files : [{ text: "", name: USER_FILE }];
}

/** Reads the lines of a known_hosts file; what is not one is left out. */
export function parseKnownHosts(text: string, file: string): KnownHost[] {
  return text.split("\n").flatMap((line, index): KnownHost[] => {
    const [, marker, rest = ""] = /^(?:@(revoked|cert-authority)\s+)?(.*)$/s.exec(line.trim()) ??
      [];
    const [names, type, key] = rest.split(/\s+/);
    if (names === undefined || type === undefined || !key || /^[#@]/.test(names)) return [];
    const location = `${file}:${index + 1}`;
    return [{ marker: marker as KnownHost["marker"], names, type, key, location }];
  });
}

/** The bytes of a text in base64; undefined if it is not one, as in a line that was cut off. */
function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return undefined;
  }
}

/** Lines about a host, whatever they say of it. */
export async function linesAbout(
  { host, port }: Endpoint,
  lines: readonly KnownHost[],
): Promise<KnownHost[]> {
  const { createHmac } = await import("node:crypto");
  const lower = host.toLowerCase();
  const name = port === 22 ? lower : `[${lower}]:${port}`;
  const isHashOf = (names: string) => {
    const [, salt, hash] = /^\|1\|([^|]*)\|([^|,]*)$/.exec(names) ?? [];
    const bytes = salt === undefined ? undefined : bytesOf(salt);
    return bytes !== undefined && createHmac("sha1", bytes).update(name).digest("base64") === hash;
  };
  return lines.filter(({ names }) =>
    names.startsWith("|") ? isHashOf(names) : fits(names.toLowerCase(), name)
  );
}

/** Whether a list of patterns has one for a name, and none with `!` for it. */
function fits(patterns: string, name: string): boolean {
  const list = patterns.split(",");
  const matches = (pattern: string) => wildcard(pattern).test(name);
  return list.some((one) => !one.startsWith("!") && matches(one)) &&
    !list.some((one) => one.startsWith("!") && matches(one.slice(1)));
}

/** `*` is anything and `?` one character; nothing else has a meaning. */
function wildcard(pattern: string): RegExp {
  const escaped = pattern.replace(/[\\^$.|+()[\]{}]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`);
}

/** Judges a key, in base64, by the lines about its host. */
export function judgeHostKey(key: string, lines: readonly KnownHost[]): Verdict {
  const revoked = lines.find((line) => line.marker === "revoked" && line.key === key);
  if (revoked) return { kind: "revoked", by: revoked };
  const plain = lines.filter(({ marker }) => marker === undefined);
  if (plain.some((line) => line.key === key)) return { kind: "known" };
  const [from] = plain;
  return from ? { kind: "changed", from } : { kind: "unknown" };
}

/** Algorithms of host keys in the order of the library. */
const ALGORITHMS = [
  ...["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"],
  ...["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
];

/**
 * Algorithms, those first by which a host can prove that it has a key of the known types;
 * undefined if none is known.
 */
export function algorithmsFor(lines: readonly KnownHost[]): readonly string[] | undefined {
  const known = lines.filter(({ marker }) => marker === undefined).flatMap(({ type }) =>
    type === "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"] : [type]
  ).filter((name) => ALGORITHMS.includes(name));
  return known.length === 0 ? undefined : [...new Set([...known, ...ALGORITHMS])];
}
