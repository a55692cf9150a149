const { createHash, hash } = await import("node:crypto");

/** The digests of a body, in hexadecimal. */
export const DIGESTS = ["sha256", "sha1", "md5"] as const;

/** Properties of the bytes of a body, regardless of their type. */
export interface BodyFacts extends Record<typeof DIGESTS[number], string> {
  readonly size: number;
}

/** The digests of a body in memory. */
export function digestsOf(bytes: Uint8Array): Omit<BodyFacts, "size"> {
  return {
    sha256: hash("sha256", bytes, "hex"),
    sha1: hash("sha1", bytes, "hex"),
    md5: hash("md5", bytes, "hex"),
  };
}

/** Finds the facts of a body that comes chunk by chunk. */
export function bodyDigests(): {
  readonly add: (chunk: Uint8Array) => void;
  readonly facts: () => BodyFacts;
} {
  const sha256 = createHash("sha256");
  const sha1 = createHash("sha1");
  const md5 = createHash("md5");
  let size = 0;
  return {
    add(chunk) {
      size += chunk.length;
      for (const digest of [sha256, sha1, md5]) digest.update(chunk);
    },
    facts: () => ({
      size,
      sha256: sha256.digest("hex"),
      sha1: sha1.digest("hex"),
      md5: md5.digest("hex"),
    }),
  };
}
