/** A part of two lists side by side; `left` and `right` are where it begins. */
export interface Part {
  /** Whether both lists hold the same there. */
  readonly isSame: boolean;
  readonly left: number;
  readonly right: number;
  readonly leftCount: number;
  readonly rightCount: number;
}

/** Two lists, known by the positions in them. */
export interface Sides {
  readonly leftCount: number;
  readonly rightCount: number;
  readonly isSame: (left: number, right: number) => boolean;
  /** Texts that are the same for items that are, and for those only. */
  readonly leftKey: (index: number) => string;
  readonly rightKey: (index: number) => string;
}

/** More pairs than these are not looked at: the table for them has a cell for each. */
const MOST_PAIRS = 250_000;

/**
 * What two lists have in common and what lies between: as much in common as there is, or, where
 * the lists are long, what they begin and end with. No two parts of a kind follow each other.
 */
export function alignLists(sides: Sides): Part[] {
  const { leftCount, rightCount, isSame } = sides;
  const shortest = Math.min(leftCount, rightCount);
  let start = 0;
  while (start < shortest && isSame(start, start)) start++;
  let end = 0;
  while (end < shortest - start && isSame(leftCount - 1 - end, rightCount - 1 - end)) end++;
  const parts = new Parts();
  parts.addSame(0, 0, start);
  for (const [left, right] of chain(sides, start, leftCount - end, rightCount - end)) {
    parts.addSame(left, right, 1);
  }
  parts.addSame(leftCount - end, rightCount - end, end);
  return parts.end(leftCount, rightCount);
}

/** Makes parts of what is the same. */
class Parts {
  readonly #parts: Part[] = [];
  #left = 0;
  #right = 0;

  addSame(left: number, right: number, count: number): void {
    if (count === 0) return;
    this.#addChanged(left, right);
    const last = this.#parts.at(-1);
    if (last?.isSame) this.#parts.pop();
    const before = last?.isSame ? last.leftCount : 0;
    this.#parts.push({
      isSame: true,
      left: left - before,
      right: right - before,
      leftCount: before + count,
      rightCount: before + count,
    });
    [this.#left, this.#right] = [left + count, right + count];
  }

  end(leftCount: number, rightCount: number): Part[] {
    this.#addChanged(leftCount, rightCount);
    return this.#parts;
  }

  #addChanged(leftEnd: number, rightEnd: number): void {
    const [left, right] = [this.#left, this.#right];
    if (leftEnd === left && rightEnd === right) return;
    const counts = { leftCount: leftEnd - left, rightCount: rightEnd - right };
    this.#parts.push({ isSame: false, left, right, ...counts });
    [this.#left, this.#right] = [leftEnd, rightEnd];
  }
}

/** Items that are the same, as many as can be without crossing: the longest common subsequence. */
function chain(
  { leftKey, rightKey }: Sides,
  start: number,
  leftEnd: number,
  rightEnd: number,
): readonly (readonly [left: number, right: number])[] {
  const [leftSize, rightSize] = [leftEnd - start, rightEnd - start];
  if (leftSize === 0 || rightSize === 0 || leftSize * rightSize > MOST_PAIRS) return [];
  const ids = new Map<string, number>();
  const idsOf = (size: number, keyOf: (index: number) => string) =>
    Uint32Array.from({ length: size }, (_, at) => {
      const key = keyOf(start + at);
      const known = ids.get(key);
      if (known === undefined) ids.set(key, ids.size);
      return known ?? ids.size - 1;
    });
  const [left, right] = [idsOf(leftSize, leftKey), idsOf(rightSize, rightKey)];
  const width = rightSize + 1;
  // How long the longest chain is from each pair of positions on.
  const lengths = new Uint32Array((leftSize + 1) * width);
  for (let a = leftSize - 1; a >= 0; a--) {
    for (let b = rightSize - 1; b >= 0; b--) {
      lengths[a * width + b] = left[a] === right[b]
        ? lengths[(a + 1) * width + b + 1]! + 1
        : Math.max(lengths[(a + 1) * width + b]!, lengths[a * width + b + 1]!);
    }
  }
  const found: [number, number][] = [];
  for (let a = 0, b = 0; a < leftSize && b < rightSize;) {
    if (left[a] === right[b]) found.push([start + a++, start + b++]);
    else if (lengths[(a + 1) * width + b]! >= lengths[a * width + b + 1]!) a++;
    else b++;
  }
  return found;
}
