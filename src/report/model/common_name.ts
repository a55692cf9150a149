/** The name of something that comes up again and again, each time perhaps by another name. */
export interface CommonName {
  readonly first: string;
  /** The common prefix and suffix of all names, in words, numbers and separators. */
  ends?: { readonly head: readonly string[]; readonly tail: readonly string[] };
}

/** Takes a name into account. */
export function addName(common: CommonName, name: string): void {
  const { first, ends } = common;
  if (!ends && name === first) return;
  const parts = partsOf(name);
  const { head, tail } = ends ?? { head: partsOf(first), tail: partsOf(first) };
  const begin = countSame(head, parts);
  // A part of the common prefix cannot be part of the suffix, too.
  const room = Math.min(parts.length, ends ? Infinity : head.length) - begin;
  const end = Math.min(room, countSame(tail.toReversed(), parts.toReversed()));
  common.ends = { head: head.slice(0, begin), tail: tail.slice(tail.length - end) };
}

/** `request …` where the names were `request 1` and `request 2`. */
export function renderCommonName({ first, ends }: CommonName): string {
  if (!ends) return first;
  const [head, tail] = [ends.head.join(""), ends.tail.join("")];
  return /[\p{L}\p{N}]/u.test(head + tail) ? `${head}…${tail}` : `${first}, …`;
}

function partsOf(name: string): string[] {
  return name.match(/\p{L}+|\p{N}+|[^\p{L}\p{N}]/gu) ?? [];
}

function countSame(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((part, index) => part !== other[index]);
  return end < 0 ? one.length : end;
}
