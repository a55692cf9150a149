import type ssh2 from "ssh2";

export type { Attributes, Channel, Client, ClientError, ParsedKey, Sftp } from "ssh2";

/** Loads the library that speaks SSH. */
export async function loadSsh2(): Promise<typeof ssh2> {
  // A part of it that was compiled to JavaScript reads this name, which modules do not have.
  const globals = globalThis as { __dirname?: string };
  globals.__dirname ??= ".";
  const { default: library } = await import("ssh2");
  return library;
}
