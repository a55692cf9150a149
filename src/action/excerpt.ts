import { findExchangedSecrets } from "../secrets/find_secrets.ts";
import type { SecretSink } from "./action.ts";

/** The length of the excerpt of received data in an error. */
const LONGEST = 200;

/** A secret that begins there ends before this many characters more. */
const LONGEST_SECRET = 10_000;

/**
 * The beginning of a text that was received, for an error. Its secrets are masked first: what is
 * left of one that was cut in two would not be recognized later.
 */
export function excerpt(text: string, secrets: SecretSink, longest = LONGEST): string {
  if (text.length <= longest) return text;
  const near = text.slice(0, longest + LONGEST_SECRET);
  findExchangedSecrets({ near }, (secret, shortest) => secrets.add(secret, shortest));
  return `${secrets.mask(near, 0, longest).toWellFormed()}…`;
}
