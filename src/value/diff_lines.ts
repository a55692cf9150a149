import { isEqual } from "./compare.ts";
import type { Meter } from "./meter.ts";
import { plain, readField } from "./plain.ts";
import { isDict, type Value } from "./value.ts";

/** How two values are told apart. */
export interface DiffOptions {
  /** Throws when comparing has been too much work. */
  readonly meter: Meter;
  /** A part of a value as it may be shown: bounded, without secrets. */
  readonly show: (value: Value) => unknown;
}

interface Line {
  readonly sign: " " | "-" | "+";
  readonly text: string;
  /** From the values to what the line is about: `.items[2]`. */
  readonly path: string;
}

/** Lines around each difference that are the same on both sides. */
const CONTEXT = 3;
const MOST_LINES = 60;
const WIDEST = 120;

/**
 * What differs between two lists or maps, as lines of JSON: those of the left begin with `-`,
 * those of the right with `+`. `@` begins a line that says where those after it stand.
 */
export function diffLines(left: Value, right: Value, options: DiffOptions): string[] {
  const lines: Line[] = [];
  new Walk(lines, options).compare(left, right, "", 0, "");
  return hunks(lines);
}

class Walk {
  readonly #lines: Line[];
  readonly #options: DiffOptions;

  constructor(lines: Line[], options: DiffOptions) {
    this.#lines = lines;
    this.#options = options;
  }

  compare(left: Value, right: Value, key: string, depth: number, path: string): void {
    if (isEqual(left, right, this.#options.meter)) {
      const text = JSON.stringify(this.#options.show(left)) ?? "null";
      this.#add(" ", depth, key + cut(text), path);
    } else if (isDict(left) && isDict(right)) {
      this.#add(" ", depth, `${key}{`, path);
      for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
        const [a, b] = [readField(left, name), readField(right, name)];
        const shown = String(this.#options.show(name));
        this.#pair(a, b, `${JSON.stringify(shown)}: `, depth + 1, path + stepTo(shown));
      }
      this.#add(" ", depth, "}", path);
    } else if (Array.isArray(left) && Array.isArray(right)) {
      this.#add(" ", depth, `${key}[`, path);
      this.#compareLists(left, right, depth + 1, path);
      this.#add(" ", depth, "]", path);
    } else {
      this.#pair(left, right, key, depth, path, true);
    }
  }

  /** What begins or ends alike is taken for the same, so that an item too many is but that. */
  #compareLists(
    left: readonly unknown[],
    right: readonly unknown[],
    depth: number,
    path: string,
  ): void {
    const { meter } = this.#options;
    const same = (a: number, b: number) => isEqual(plain(left[a]), plain(right[b]), meter);
    const shortest = Math.min(left.length, right.length);
    let start = 0;
    while (start < shortest && same(start, start)) start++;
    let end = 0;
    while (end < shortest - start && same(left.length - 1 - end, right.length - 1 - end)) end++;
    const item = (list: readonly unknown[], index: number, last: number) =>
      index < last ? plain(list[index]) : undefined;
    const [leftEnd, rightEnd] = [left.length - end, right.length - end];
    for (let index = Math.max(0, start - CONTEXT); index < Math.max(leftEnd, rightEnd); index++) {
      const [a, b] = [item(left, index, leftEnd), item(right, index, rightEnd)];
      this.#pair(a, b, "", depth, `${path}[${index}]`);
    }
    for (let index = leftEnd; index < Math.min(left.length, leftEnd + CONTEXT); index++) {
      const value = plain(left[index]);
      this.compare(value, value, "", depth, `${path}[${index}]`);
    }
  }

  #pair(
    left: Value | undefined,
    right: Value | undefined,
    key: string,
    depth: number,
    path: string,
    isFlat = left === undefined || right === undefined,
  ): void {
    if (!isFlat) return this.compare(left!, right!, key, depth, path);
    if (left !== undefined) this.#addValue("-", left, key, depth, path);
    if (right !== undefined) this.#addValue("+", right, key, depth, path);
  }

  #addValue(sign: "-" | "+", value: Value, key: string, depth: number, path: string): void {
    const text = JSON.stringify(this.#options.show(value), undefined, 2) ?? "null";
    for (const [index, line] of text.split("\n").entries()) {
      this.#add(sign, depth, index === 0 ? key + line : line, path);
    }
  }

  #add(sign: Line["sign"], depth: number, text: string, path: string): void {
    this.#lines.push({ sign, text: cut("  ".repeat(depth) + text), path });
  }
}

/** The lines that differ with some around them; where lines are left out the path stands. */
function hunks(lines: readonly Line[]): string[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ sign }, at) => {
    if (sign !== " ") isNear.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const out: string[] = [];
  for (const [at, { sign, text, path }] of lines.entries()) {
    if (!isNear[at]) continue;
    if (at > 0 && !isNear[at - 1]) out.push(`@ ${path}`);
    out.push(`${sign} ${text}`);
  }
  if (out.length <= MOST_LINES) return out;
  return [...out.slice(0, MOST_LINES), `… (${out.length - MOST_LINES} more lines)`];
}

function cut(text: string): string {
  return text.length <= WIDEST ? text : `${text.slice(0, WIDEST - 1)}…`;
}

function stepTo(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
