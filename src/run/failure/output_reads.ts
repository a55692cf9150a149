/** An output that a text reads: of the step, or by its flat name where there is no second one. */
type OutputRead = readonly [first: string, second?: string];

/** A part of a text, by offsets. */
interface Mark {
  readonly start: number;
  readonly end: number;
}

const ACCESS = "\\s*(?:\\?\\.|\\.|(?:\\?\\.)?\\[\\s*[\"'`])\\s*([\\w-]+)(?:[\"'`]\\s*\\])?";

/** `outputs.login.token`, `outputs["log-in"].token`, `outputs.token`. */
const READS = new RegExp(`\\boutputs${ACCESS}(?:${ACCESS})?`, "g");

/** The outputs that an expression reads, or a text around one: all, or those that a mark touches. */
export function readOutputs(text: string, mark?: Mark): OutputRead[] {
  return [...text.matchAll(READS)]
    .filter(({ 0: read, index }) => !mark || index < mark.end && index + read.length >= mark.start)
    .map(([, first = "", second]) => second === undefined ? [first] : [first, second]);
}
