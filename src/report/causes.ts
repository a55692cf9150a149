import type { Failure } from "../run/event.ts";

/**
 * What failures of different steps must have in common to be one: their cause, or else the place in
 * the file and the first line of the message, whatever its numbers are. Undefined without either.
 */
export function causeOf(failures: readonly Failure[]): string | undefined {
  const [first] = failures;
  if (first?.cause !== undefined) {
    return failures.every(({ cause }) => cause === first.cause) ? first.cause : undefined;
  }
  const place = failures.find((failure) => failure.place)?.place;
  if (!first || !place) return undefined;
  const [line = ""] = first.message.split("\n", 1);
  return `${place.file}:${place.line}:${place.column} ${line.replace(/\d+/g, "0")}`;
}
