import { alignLists } from "./align_lists.ts";
import { diffHunks, type DiffLine, sameLines, WIDEST } from "./diff_hunks.ts";

/** In texts that are shorter everybody can see a difference. */
const SHORT = 60;
/** Characters that are shown before the first difference, where there is no room for all. */
const LEAD = 30;
/** Characters of a line that are shown, with quotes and some that are escaped around them. */
const ROOM = WIDEST - 30;

/**
 * What differs between two texts that hold no secrets, as lines: those of the left begin with `-`,
 * those of the right with `+`, and `@` begins one that says where. None where both are short and
 * plainly differ.
 */
export function diffTexts(left: string, right: string): string[] {
  if (left === right) return [];
  const isShort = left.length <= SHORT && right.length <= SHORT &&
    ![left, right].some((text) => /\n./.test(text));
  if (isShort && isPlain(left, right)) return [];
  // A line keeps its end, which may be all that differs.
  const [a, b] = [left.split(/(?<=\n)/), right.split(/(?<=\n)/)];
  const isOneLine = a.length === 1 && b.length === 1;
  const parts = alignLists({
    leftCount: a.length,
    rightCount: b.length,
    isSame: (x, y) => a[x] === b[y],
    leftKey: (index) => a[index]!,
    rightKey: (index) => b[index]!,
  });
  return diffHunks(
    parts.flatMap(({ isSame, left, right, leftCount, rightCount }) =>
      isSame
        ? sameLines(leftCount, (index) => ({
          sign: " ",
          text: () => withoutEnd(a[left + index]!),
          where: "",
        }))
        : changedLines(
          a.slice(left, left + leftCount),
          b.slice(right, right + rightCount),
          isOneLine ? "" : `line ${left + 1}`,
        )
    ),
  );
}

/** Two texts cut alike, so that where they first differ can be seen; as JSON. */
export function twoTexts(left: string, right: string): readonly [left: string, right: string] {
  const start = firstDifference(left, right);
  const isLong = left.length > ROOM || right.length > ROOM;
  const from = isLong ? Math.max(0, start - LEAD) : 0;
  const write = isPlain(left.slice(from, from + ROOM), right.slice(from, from + ROOM))
    ? JSON.stringify
    : quoteVisibly;
  const shown = (text: string) => {
    const end = Math.min(text.length, from + ROOM);
    const part = write(text.slice(from, end).toWellFormed());
    return `${from > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`;
  };
  return [shown(left), shown(right)];
}

/** The lines that only one side has, all of the left first. */
function changedLines(left: readonly string[], right: readonly string[], where: string) {
  const pairs = left.map((line, index) => pairOf(line, right[index]));
  const [first] = left;
  const at = where === "" && first !== undefined
    ? `character ${[...first.slice(0, firstDifference(first, right[0] ?? ""))].length + 1}`
    : where;
  const line = (sign: DiffLine["sign"], text: string) => ({ sign, text: () => text, where: at });
  return [
    ...pairs.map(([a]) => line("-", a)),
    ...right.map((text, index) => line("+", pairs[index]?.[1] ?? withoutEnd(text))),
  ];
}

/** A line of each side as it is, or as JSON where it takes that to see what differs. */
function pairOf(left: string, right: string | undefined): readonly [string, string?] {
  if (right === undefined) return [withoutEnd(left)];
  const [a, b] = [withoutEnd(left), withoutEnd(right)];
  const isShort = a.length <= WIDEST && b.length <= WIDEST;
  return isShort && isPlain(a, b) ? [a, b] : a === b ? twoTexts(left, right) : twoTexts(a, b);
}

/** Whether two texts differ in what can be seen. */
function isPlain(left: string, right: string): boolean {
  return bare(left) !== bare(right);
}

/** What can be seen of a text. */
function bare(text: string): string {
  return text.normalize("NFC").replace(/[\s\p{Z}]+/gu, " ").replace(/[\p{C}\p{M}]/gu, "").trim();
}

/** A text as JSON in which what cannot be seen is written by its number. */
function quoteVisibly(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(
    UNSEEN,
    (character) => character === " " ? character : character.replace(/[^]/g, escaped),
  );
}

/** Spaces, marks that are written over other characters, and what shows nothing at all. */
const UNSEEN = /[\p{Z}\p{C}\p{M}]/gu;

/** Where two texts first differ, never within a character of two units. */
function firstDifference(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return /[\udc00-\udfff]/.test(left[at] ?? right[at] ?? "") && at > 0 ? at - 1 : at;
}

function withoutEnd(line: string): string {
  return line.replace(/\n$/, "");
}
