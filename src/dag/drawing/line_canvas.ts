/** Where lines leave a cell, a bit for each direction. */
const UP = 1;
const DOWN = 2;
const LEFT = 4;
const RIGHT = 8;

/** The sign for each set of directions. All four are none: that would look like a crossing. */
const SIGNS: Readonly<Record<number, string>> = {
  0: " ",
  [UP | DOWN]: "│",
  [LEFT | RIGHT]: "─",
  [DOWN | RIGHT]: "┌",
  [DOWN | LEFT]: "┐",
  [UP | RIGHT]: "└",
  [UP | LEFT]: "┘",
  [UP | DOWN | RIGHT]: "├",
  [UP | DOWN | LEFT]: "┤",
  [DOWN | LEFT | RIGHT]: "┬",
  [UP | LEFT | RIGHT]: "┴",
};
const CROSSING = "┼";
const ARROW = "↓";

/**
 * Cells with lines of several owners. Lines of two owners may cross, and lines of one owner join;
 * anything else would be ambiguous and is a bug.
 */
export class LineCanvas {
  readonly #height: number;
  readonly #width: number;
  readonly #upright: Strokes;
  readonly #level: Strokes;
  readonly #arrows = new Set<number>();

  constructor(height: number, width: number) {
    this.#height = height;
    this.#width = width;
    this.#upright = new Strokes(height * width);
    this.#level = new Strokes(height * width);
  }

  /** A line between the middles of two cells; rows outside the canvas mean its edges. */
  addVertical(owner: number, column: number, from: number, to: number): void {
    for (let row = Math.max(0, from); row <= Math.min(this.#height - 1, to); row++) {
      const directions = (row > from ? UP : 0) | (row < to ? DOWN : 0);
      this.#upright.add(row * this.#width + column, owner, directions);
    }
  }

  addHorizontal(owner: number, row: number, from: number, to: number): void {
    for (let column = from; column <= to; column++) {
      const directions = (column > from ? LEFT : 0) | (column < to ? RIGHT : 0);
      this.#level.add(row * this.#width + column, owner, directions);
    }
  }

  /** The end of a line that comes from above. */
  addArrow(row: number, column: number): void {
    this.#arrows.add(row * this.#width + column);
  }

  lines(): readonly string[] {
    return Array.from({ length: this.#height }, (_, row) => {
      let line = "";
      for (let column = 0; column < this.#width; column++) {
        line += this.#sign(row * this.#width + column);
      }
      return line.trimEnd();
    });
  }

  #sign(cell: number): string {
    const upright = this.#upright.at(cell);
    const level = this.#level.at(cell);
    if (this.#arrows.has(cell) && level === 0) return ARROW;
    const isShared = upright !== 0 && level !== 0 &&
      this.#upright.owner(cell) !== this.#level.owner(cell);
    const sign = isShared
      ? upright === (UP | DOWN) && level === (LEFT | RIGHT) ? CROSSING : undefined
      : SIGNS[upright | level];
    if (sign === undefined) throw new Error(`lines run into each other in cell ${cell}`);
    return sign;
  }
}

/** The directions in each cell along one axis, with their owners. */
class Strokes {
  readonly #directions: Uint8Array;
  readonly #owners: Int32Array;

  constructor(size: number) {
    this.#directions = new Uint8Array(size);
    this.#owners = new Int32Array(size);
  }

  add(cell: number, owner: number, directions: number): void {
    if (this.at(cell) !== 0 && this.owner(cell) !== owner) {
      throw new Error(`two lines lie on each other in cell ${cell}`);
    }
    this.#directions[cell]! |= directions;
    this.#owners[cell] = owner;
  }

  at(cell: number): number {
    return this.#directions[cell]!;
  }

  owner(cell: number): number {
    return this.#owners[cell]!;
  }
}
