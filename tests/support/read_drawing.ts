/**
Reads a drawing of a graph from nothing but its text: finds the boxes, and
 * follows each arrow up its line to the boxes where it begins. Throws where that cannot be done.
 *
 * @module
 */

/** A box: its title, its lines below that, and the titles of the boxes that lead to it. */
export interface ReadJob {
  readonly title: string;
  readonly rows: readonly string[];
  readonly needs: readonly string[];
}

interface Box {
  readonly title: string;
  readonly rows: readonly string[];
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

type Direction = "up" | "down" | "left" | "right";

const STEP: Readonly<Record<Direction, readonly [row: number, column: number]>> = {
  up: [-1, 0],
  down: [1, 0],
  left: [0, -1],
  right: [0, 1],
};
const BACK: Readonly<Record<Direction, Direction>> = {
  up: "down",
  down: "up",
  left: "right",
  right: "left",
};

/** Where lines leave a sign. At `┼` two lines cross, and everywhere else there is one line. */
const ARMS: Readonly<Record<string, readonly Direction[]>> = {
  "│": ["up", "down"],
  "─": ["left", "right"],
  "┌": ["down", "right"],
  "┐": ["down", "left"],
  "└": ["up", "right"],
  "┘": ["up", "left"],
  "├": ["up", "down", "right"],
  "┤": ["up", "down", "left"],
  "┬": ["down", "left", "right"],
  "┴": ["up", "left", "right"],
  "┼": ["up", "down", "left", "right"],
  "↓": ["up"],
};

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;

/** The jobs of a drawing, by their titles. */
export function readDrawing(text: string): readonly ReadJob[] {
  const cells = text.split("\n").map((line) =>
    [...line].flatMap((sign) => WIDE.test(sign) ? [sign, ""] : [sign])
  );
  const at = (row: number, column: number) => cells[row]?.[column] ?? " ";
  const boxes = findBoxes(cells, at);
  const boxAt = new Map<string, Box>();
  for (const box of boxes) {
    for (let row = box.top; row <= box.bottom; row++) {
      for (let column = box.left; column <= box.right; column++) {
        boxAt.set(`${row},${column}`, box);
      }
    }
  }
  checkLines(cells, at, boxAt);
  const used = new Set<string>();
  const arrows = new Map<Box, Set<string>>(boxes.map((box) => [box, new Set()]));
  cells.forEach((line, row) =>
    line.forEach((sign, column) => {
      if (sign !== "↓" || boxAt.has(`${row},${column}`)) return;
      const target = boxAt.get(`${row + 1},${column}`);
      if (!target || target.top !== row + 1 || column === target.left || column === target.right) {
        throw new Error(`the arrow in line ${row + 1} points at no box`);
      }
      const sources = followUp(row, column, at, boxAt, used);
      for (const { title } of sources) arrows.get(target)!.add(title);
    })
  );
  cells.forEach((line, row) =>
    line.forEach((sign, column) => {
      const box = boxAt.get(`${row},${column}`);
      const isLine = box ? row === box.bottom && sign === "┬" : sign !== " ";
      if (isLine && !used.has(`${row},${column}`)) {
        throw new Error(`"${sign}" in line ${row + 1} leads to no arrow`);
      }
    })
  );
  return boxes.map((box) => ({
    title: box.title,
    rows: box.rows,
    needs: [...arrows.get(box)!].sort(),
  }));
}

type At = (row: number, column: number) => string;

function findBoxes(cells: readonly (readonly string[])[], at: At): readonly Box[] {
  const boxes: Box[] = [];
  const inside = (row: number, column: number) =>
    boxes.some((box) =>
      row >= box.top && row <= box.bottom && column >= box.left && column <= box.right
    );
  cells.forEach((line, top) =>
    line.forEach((sign, left) => {
      if (sign !== "╭" || inside(top, left)) return;
      let right = left + 1;
      while (at(top, right) === "─") right++;
      if (at(top, right) !== "╮") throw new Error(`line ${top + 1}: a box without a corner`);
      const rows: string[] = [];
      let bottom = top + 1;
      for (; at(bottom, left) === "│" || at(bottom, left) === "├"; bottom++) {
        const end = at(bottom, left) === "├" ? "┤" : "│";
        if (at(bottom, right) !== end) throw new Error(`line ${bottom + 1}: a box is not straight`);
        const text = cells[bottom]!.slice(left + 1, right).join("");
        if (end === "│") rows.push(text.trim());
        else if (!/^─+$/.test(text)) throw new Error(`line ${bottom + 1}: a gap in a line`);
      }
      const edge = cells[bottom]!.slice(left, right + 1).join("");
      if (!/^╰[─┬]+╯$/.test(edge)) throw new Error(`line ${bottom + 1}: a box has no bottom`);
      const [title = "", ...others] = rows;
      boxes.push({ title, rows: others, top, bottom, left, right });
    })
  );
  return boxes;
}

/** Whether every sign outside of the boxes is joined to the ones beside it. */
function checkLines(
  cells: readonly (readonly string[])[],
  at: At,
  boxAt: ReadonlyMap<string, Box>,
): void {
  cells.forEach((line, row) =>
    line.forEach((sign, column) => {
      if (sign === " " || boxAt.has(`${row},${column}`)) return;
      const arms = ARMS[sign];
      if (!arms) throw new Error(`line ${row + 1}: "${sign}" outside of a box`);
      for (const direction of Object.keys(STEP) as Direction[]) {
        const [down, right] = STEP[direction];
        const next = `${row + down},${column + right}`;
        const box = boxAt.get(next);
        const other = at(row + down, column + right);
        const joins = box
          ? direction === "up" && row - 1 === box.bottom && other === "┬"
          : ARMS[other]?.includes(BACK[direction]) ?? false;
        if (joins !== arms.includes(direction)) {
          throw new Error(`line ${row + 1}: "${sign}" is not joined to "${other}" ${direction}`);
        }
      }
    })
  );
}

/** The boxes from which lines lead down, left or right to an arrow, and never up. */
function followUp(
  row: number,
  column: number,
  at: At,
  boxAt: ReadonlyMap<string, Box>,
  used: Set<string>,
): ReadonlySet<Box> {
  const sources = new Set<Box>();
  const seen = new Set<string>();
  const open: [row: number, column: number, moved: Direction][] = [[row, column, "up"]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [row, column, moved] = next;
    if (seen.has(next.join())) continue;
    seen.add(next.join());
    used.add(`${row},${column}`);
    const box = boxAt.get(`${row},${column}`);
    if (box) {
      sources.add(box);
      continue;
    }
    const sign = at(row, column);
    for (const direction of ARMS[sign]!) {
      if (direction === "down" || direction === BACK[moved]) continue;
      if (sign === "┼" && direction !== moved) continue;
      const [down, right] = STEP[direction];
      open.push([row + down, column + right, direction]);
    }
  }
  return sources;
}
