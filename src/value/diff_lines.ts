import { alignLists } from "./align_lists.ts";
import { isEqual } from "./compare.ts";
import { diffHunks, type DiffLine, sameLines } from "./diff_hunks.ts";
import { twoTexts } from "./diff_texts.ts";
import { formatJson } from "./format_value.ts";
import type { Meter } from "./meter.ts";
import { plain, readField } from "./plain.ts";
import { stepText } from "./step_text.ts";
import { isDict, type Value } from "./value.ts";

/** How two values are told apart. */
export interface DiffOptions {
  /** Throws when comparing has been too much work. */
  readonly meter: Meter;
  /** A part of a value as it may be shown: bounded, without secrets. */
  readonly show: (value: Value) => unknown;
  /** A text without secrets. */
  readonly mask: (text: string) => string;
}

/**
 * What differs between two lists or maps, as lines of JSON: those of the left begin with `-`,
 * those of the right with `+`. `@` begins a line that says where the next differences are.
 */
export function diffLines(left: Value, right: Value, options: DiffOptions): string[] {
  const walk = new Walk(options);
  walk.compare(left, right, "", 0, "");
  return diffHunks(walk.lines);
}

/** What one side has alone is on one line up to so many characters. */
const WIDEST_VALUE = 72;

/** What a line costs in steps of comparing. */
const WORK_OF_LINE = 10;

/** Collects lines on its way through two values. */
class Walk {
  readonly lines: DiffLine[] = [];
  readonly #options: DiffOptions;

  constructor(options: DiffOptions) {
    this.#options = options;
  }

  compare(left: Value, right: Value, key: string, depth: number, where: string): void {
    if (isEqual(left, right, this.#options.meter)) {
      this.lines.push(this.#same(left, key, depth, where));
    } else if (isDict(left) && isDict(right)) {
      this.#add(" ", depth, `${key}{`, where);
      this.#compareMaps(left, right, depth + 1, where);
      this.#add(" ", depth, "}", where);
    } else if (Array.isArray(left) && Array.isArray(right)) {
      this.#add(" ", depth, `${key}[`, where);
      this.#compareLists(left, right, depth + 1, where);
      this.#add(" ", depth, "]", where);
    } else if (typeof left === "string" && typeof right === "string") {
      const { mask } = this.#options;
      const [a, b] = twoTexts(mask(left), mask(right));
      this.#add("-", depth, key + a, where);
      this.#add("+", depth, key + b, where);
    } else {
      this.#addValue("-", left, key, depth, where);
      this.#addValue("+", right, key, depth, where);
    }
  }

  #compareMaps(
    left: Readonly<Record<string, unknown>>,
    right: Readonly<Record<string, unknown>>,
    depth: number,
    where: string,
  ): void {
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const shown = this.#options.mask(name);
      this.#comparePair(
        readField(left, name),
        readField(right, name),
        `${JSON.stringify(shown)}: `,
        depth,
        where + stepText(shown),
      );
    }
  }

  #compareLists(
    left: readonly unknown[],
    right: readonly unknown[],
    depth: number,
    where: string,
  ): void {
    const { meter } = this.#options;
    const parts = alignLists({
      leftCount: left.length,
      rightCount: right.length,
      isSame: (a, b) => isEqual(plain(left[a]), plain(right[b]), meter),
      leftKey: (index) => formatJson(plain(left[index]), meter),
      rightKey: (index) => formatJson(plain(right[index]), meter),
    });
    for (const part of parts) {
      const { leftCount, rightCount } = part;
      if (part.isSame) {
        this.lines.push(...sameLines(leftCount, (index) => {
          const at = part.left + index;
          return this.#same(plain(left[at]), "", depth, `${where}[${at}]`);
        }));
        continue;
      }
      for (let index = 0; index < Math.max(leftCount, rightCount); index++) {
        const [a, b] = [part.left + index, part.right + index];
        this.#comparePair(
          index < leftCount ? plain(left[a]) : undefined,
          index < rightCount ? plain(right[b]) : undefined,
          "",
          depth,
          `${where}[${index < leftCount ? a : b}]`,
        );
      }
    }
  }

  /** A side is undefined where it has nothing. */
  #comparePair(
    left: Value | undefined,
    right: Value | undefined,
    key: string,
    depth: number,
    where: string,
  ): void {
    if (left === undefined && right === undefined) return;
    if (left === undefined) this.#addValue("+", right!, key, depth, where);
    else if (right === undefined) this.#addValue("-", left, key, depth, where);
    else this.compare(left, right, key, depth, where);
  }

  #same(value: Value, key: string, depth: number, where: string): DiffLine {
    const text = () =>
      "  ".repeat(depth) + key + (JSON.stringify(this.#options.show(value)) ?? "null");
    return { sign: " ", text, where };
  }

  #addValue(sign: "-" | "+", value: Value, key: string, depth: number, where: string): void {
    const shown = this.#options.show(value);
    const line = JSON.stringify(shown) ?? "null";
    const fits = 2 * depth + key.length + line.length <= WIDEST_VALUE;
    const text = fits ? line : JSON.stringify(shown, undefined, 2);
    for (const [index, line] of text.split("\n").entries()) {
      this.#add(sign, depth, index === 0 ? key + line : line, where);
    }
  }

  #add(sign: DiffLine["sign"], depth: number, text: string, where: string): void {
    this.#options.meter.spend(WORK_OF_LINE);
    this.lines.push({ sign, text: () => "  ".repeat(depth) + text, where });
  }
}
