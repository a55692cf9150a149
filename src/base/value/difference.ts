import { countOf } from "../text/count_of.ts";
import { cutText } from "../text/printable.ts";
import { formatJson } from "./format_value.ts";
import { isDict, isNumber, pathText, plain, readField, stepText, type Value } from "./value.ts";

/** Unchanged lines around each difference. */
const CONTEXT = 3;
const MAX_LINES = 60;
const MAX_LOCATIONS = 5;
/** Beyond this many added and removed lines, or milliseconds, lines are no longer matched. */
const LIMITS = { maxEditLength: 1000, timeout: 1000 };
/** Characters of a line. */
const WIDEST = 120;
/** Characters before the first difference in a line that is too long to be shown whole. */
const LEAD = 30;
/** Differences between shorter texts are easily seen. */
const SHORT = 60;
/** Values with more lines of JSON have no diff. */
const MAX_JSON_LINES = 200_000;
/** Places of mismatches that are shown. */
const MAX_PLACES = 20;

/** A place where data is not what was expected of it. */
export interface Mismatch {
  /** Keys and indexes, from the outside. */
  readonly path: readonly (string | number)[];
  /** The expectation, as an expression or a description; undefined if nothing was expected. */
  readonly expected: string | undefined;
  /** The value at the path; undefined if there is none. */
  readonly actual: Value | undefined;
  /** A note about a difference that the two do not show: `3 items, not 2`. */
  readonly note?: string;
}

/**
 * The lines of a diff by places: `@` begins the path of a place, `-` what was expected there, and
 * `+` what is there. `mask` masks the secrets in a text, and is given each line as a whole.
 */
export function renderMismatches(
  mismatches: readonly Mismatch[],
  mask: (text: string) => string,
): string[] {
  const lines = mismatches.slice(0, MAX_PLACES).flatMap(({ path, expected, actual, note }) => {
    const location = pathText(path) || "the value itself";
    return [
      `@ ${location}${note === undefined ? "" : `: ${note}`}`,
      ...expected === undefined ? [] : [`- ${expected}`],
      actual === undefined ? "+ (missing)" : `+ ${formatJson(actual)}`,
    ];
  });
  const rest = mismatches.length - MAX_PLACES;
  return [
    ...lines.map((line) => cutText(mask(line), WIDEST)),
    ...rest > 0 ? [`… (${countOf(rest, "more place")})`] : [],
  ];
}

/**
 * The lines of a diff: `-` begins a line of the expected value, `+` one of the received value, and
 * `@` a line that says where the next differences are. Lists and maps are written as JSON, one item
 * on each line. Texts that are short and clearly different have no diff, nor have huge values. `mask`
 * masks the secrets in a text.
 */
export async function diffValues(
  expected: Value,
  received: Value,
  mask: (text: string) => string,
): Promise<string[]> {
  if (typeof expected === "string" && typeof received === "string") {
    // Masked as a whole, because a secret may have several lines.
    const [a, b] = [mask(expected), mask(received)];
    if (a === b) return [];
    if ([a, b].some((text) => /\n./.test(text))) {
      return await diffSides({ lines: linesOf(a) }, { lines: linesOf(b) }, (line) => line);
    }
    if (a.length <= SHORT && b.length <= SHORT && isVisible(a, b)) return [];
    const [x, y] = renderPair(a, b, true);
    const location = [...b.slice(0, firstDifference(a, b))].length + 1;
    return [`@ character ${location}`, `- ${x}`, `+ ${y}`];
  }
  const sides = [jsonLines(expected), jsonLines(received)] as const;
  if (sides.some(({ lines }) => lines.length >= MAX_JSON_LINES)) return [];
  return await diffSides(...sides, mask);
}

interface Side {
  readonly lines: string[];
  /** The path of each line of JSON, for example `.items[2]`; empty for brackets. */
  readonly locations?: string[];
}

/** Neighbouring lines that both sides have, or only one of them; in the form of the library. */
interface Change {
  readonly added: boolean;
  readonly removed: boolean;
  readonly value: readonly string[];
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** A value as JSON without commas, with sorted keys, up to the limit of lines. */
function jsonLines(value: Value): Required<Side> {
  const side: Required<Side> = { lines: [], locations: [] };
  const add = (line: string, location: string) => {
    side.lines.push(`${line}\n`);
    side.locations.push(location);
  };
  const write = (value: Value, start: string, location: string) => {
    if (side.lines.length >= MAX_JSON_LINES) return;
    const isMap = isDict(value);
    if (!isMap && !Array.isArray(value)) {
      const text = isNumber(value) ? String(value) : JSON.stringify(value);
      return add(start + text, location);
    }
    const [open, close] = isMap ? "{}" : "[]";
    const steps = isMap ? Object.keys(value).sort() : [...value.keys()];
    if (steps.length === 0) return add(`${start}${open}${close}`, location);
    const indent = /^ */.exec(start)![0];
    add(start + open, "");
    for (const step of steps) {
      const item = isMap ? readField(value, String(step)) ?? null : plain(value[Number(step)]);
      const key = isMap ? `${JSON.stringify(step)}: ` : "";
      write(item, `${indent}  ${key}`, location + stepText(step));
    }
    add(indent + close, "");
  };
  write(value, "", "");
  return side;
}

async function diffSides(
  left: Side,
  right: Side,
  mask: (text: string) => string,
): Promise<string[]> {
  // The diff is still useful without the library, which a machine that is offline may not have.
  const library = await import("diff").catch(() => undefined);
  const changes: readonly Change[] = library?.diffArrays(left.lines, right.lines, LIMITS) ??
    replaceMiddle(left.lines, right.lines);
  const out = renderChanges(changes, left, right, mask);
  if (out.length <= MAX_LINES) return out;
  return [...out.slice(0, MAX_LINES), `… (${out.length - MAX_LINES} more lines)`];
}

/** Keeps only the common beginning and end. */
function replaceMiddle(left: readonly string[], right: readonly string[]): Change[] {
  const shortest = Math.min(left.length, right.length);
  let start = 0;
  while (start < shortest && left[start] === right[start]) start++;
  let end = 0;
  while (end < shortest - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const change = (value: readonly string[], from: number, to: number, kind = "") => ({
    added: kind === "added",
    removed: kind === "removed",
    value: value.slice(from, to),
  });
  return [
    change(left, 0, start),
    change(left, start, left.length - end, "removed"),
    change(right, start, right.length - end, "added"),
    change(right, right.length - end, right.length),
  ].filter(({ value }) => value.length > 0);
}

/** Lines that both sides have, and what follows in only one of them. */
interface Block {
  readonly same: readonly string[];
  removed: readonly string[];
  added: readonly string[];
}

function blocksOf(changes: readonly Change[]): Block[] {
  const blocks: Block[] = [];
  for (const { added, removed, value } of changes) {
    if (!added && !removed) blocks.push({ same: value, removed: [], added: [] });
    else {
      if (blocks.length === 0) blocks.push({ same: [], removed: [], added: [] });
      const block = blocks.at(-1)!;
      if (removed) block.removed = block.removed.concat(value);
      else block.added = block.added.concat(value);
    }
  }
  return blocks;
}

function renderChanges(
  changes: readonly Change[],
  left: Side,
  right: Side,
  mask: (text: string) => string,
): string[] {
  const hunks: { readonly locations: Set<string>; readonly lines: string[] }[] = [];
  let [a, b] = [0, 0];
  for (const [index, { same, removed, added }] of blocksOf(changes).entries()) {
    const context = (lines: readonly string[]) =>
      lines.map((line) => `  ${cutText(withoutEnd(mask(line)), WIDEST)}`);
    const isLast = removed.length + added.length === 0;
    const startsHunk = index === 0 || same.length > 2 * CONTEXT;
    if (index > 0) {
      const shown = isLast || startsHunk ? same.slice(0, CONTEXT) : same;
      hunks.at(-1)!.lines.push(...context(shown));
    }
    if (isLast) break;
    if (startsHunk) hunks.push({ locations: new Set(), lines: context(same.slice(-CONTEXT)) });
    a += same.length;
    b += same.length;
    // A changed line is named by its place in the received value.
    const locations = left.locations && right.locations
      ? [
        ...right.locations.slice(b, b + added.length),
        ...left.locations.slice(a + Math.min(added.length, removed.length), a + removed.length),
      ]
      : [`line ${b + 1}`];
    const hunk = hunks.at(-1)!;
    for (const location of locations) if (location !== "") hunk.locations.add(location);
    for (const line of renderChanged(removed, added, mask, !left.locations)) hunk.lines.push(line);
    a += removed.length;
    b += added.length;
  }
  return hunks.flatMap(({ locations, lines }) => {
    if (locations.size === 0) return lines;
    const rest = locations.size - MAX_LOCATIONS;
    const named = [...locations].slice(0, MAX_LOCATIONS).map(mask).join(", ");
    return [cutText(`@ ${named}${rest > 0 ? ` and ${rest} more` : ""}`, WIDEST), ...lines];
  });
}

/** All removed lines, then all added ones. */
function renderChanged(
  removed: readonly string[],
  added: readonly string[],
  mask: (text: string) => string,
  isText: boolean,
): string[] {
  const pairs = Array.from(
    { length: Math.max(removed.length, added.length) },
    // Lines that are not shown need no work.
    (_, index) =>
      index > MAX_LINES ? ["", ""] : renderPair(
        removed[index] === undefined ? undefined : mask(removed[index]),
        added[index] === undefined ? undefined : mask(added[index]),
        isText,
      ),
  );
  return [
    ...removed.map((_, index) => `- ${pairs[index]![0]}`),
    ...added.map((_, index) => `+ ${pairs[index]![1]}`),
  ];
}

/** Two lines, both cut before their first difference, and quoted if it cannot be seen otherwise. */
function renderPair(left: string | undefined, right: string | undefined, isText: boolean) {
  if (left === undefined || right === undefined) {
    return [left, right].map((line) => cutText(withoutEnd(line ?? ""), WIDEST));
  }
  const [a, b] = [withoutEnd(left), withoutEnd(right)];
  // Only the end of the last line of a text can differ.
  const sides = a === b ? [left, right] : [a, b];
  const isLong = sides.some((text) => text.length > WIDEST);
  const start = isLong ? Math.max(0, firstDifference(sides[0]!, sides[1]!) - LEAD) : 0;
  const parts = sides.map((text) => text.slice(start, start + WIDEST).toWellFormed());
  const isClear = isVisible(parts[0]!, parts[1]!);
  return sides.map((text, index) => {
    const part = isClear ? parts[index]! : escapeInvisible(parts[index]!, isText);
    const end = start + WIDEST < text.length ? "…" : "";
    return `${start > 0 ? "…" : ""}${part}${end}`;
  });
}

/** Whether two texts differ in something other than spaces, marks and control characters. */
function isVisible(left: string, right: string): boolean {
  const visible = (text: string) =>
    text.normalize("NFC").replace(/[\s\p{Z}]+/gu, " ").replace(/[\p{C}\p{M}]/gu, "").trim();
  return visible(left) !== visible(right);
}

/** Writes the code of each character that cannot be seen. */
function escapeInvisible(text: string, isText: boolean): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return (isText ? JSON.stringify(text) : text).replace(
    /[\p{Z}\p{C}\p{M}]/gu,
    (character) => character === " " ? character : character.replace(/[^]/g, escaped),
  );
}

/** Where two texts first differ, never between the two units of a character. */
function firstDifference(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return /[\udc00-\udfff]/.test(left[at] ?? right[at] ?? "") && at > 0 ? at - 1 : at;
}

function withoutEnd(line: string): string {
  return line.replace(/\n$/, "");
}
