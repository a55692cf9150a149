import type { Endpoint } from "../../action/net/endpoint.ts";

/** A line of a known_hosts file. */
export interface KnownHost {
  readonly marker: "revoked" | "cert-authority" | undefined;
  /** Patterns, or one hashed name. */
  readonly names: string;
  readonly type: string;
  /** The key in base64. */
  readonly key: string;
  /** The place of the line, for people: `~/.ssh/known_hosts:3`. */
  readonly place: string;
}

/** Whether the files contain the key that a host has shown. */
export type Verdict =
  | { readonly kind: "known" }
  | { readonly kind: "unknown" }
  | { readonly kind: "revoked"; readonly by: KnownHost }
  | { readonly kind: "changed"; readonly from: KnownHost };

/** Reads the lines of a known_hosts file; what is not one is left out. */
export function parseKnownHosts(text: string, file: string): KnownHost[] {
  return text.split("\n").flatMap((line, index): KnownHost[] => {
    const words = line.trim().split(/\s+/);
    const [, marker] = /^@(revoked|cert-authority)$/.exec(words[0]!) ?? [];
    const [names, type, key] = marker === undefined ? words : words.slice(1);
    if (names === undefined || type === undefined || !key || /^[#@]/.test(names)) return [];
    const place = `${file}:${index + 1}`;
    return [{ marker: marker as KnownHost["marker"], names, type, key, place }];
  });
}

/** The bytes of a text in base64; undefined if it is not one, as in a line that was cut off. */
export function bytesOf(base64: string): Uint8Array | undefined {
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

/** Names of algorithms by which a host can prove that it has a key of the known types. */
export function algorithmsFor(lines: readonly KnownHost[]): string[] {
  const types = lines.filter(({ marker }) => marker === undefined).map(({ type }) => type);
  return types.flatMap((type) =>
    type === "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"] : [type]
  );
}
