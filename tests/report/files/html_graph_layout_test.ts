import { assert, assertEquals } from "@std/assert";
import { type GraphLayout, layOutGraph } from "../../../src/report/files/html/page/graph_layout.ts";

const SIZES = { width: 180, height: 34, gapX: 48, gapY: 14, lane: 2 };

type Needs = readonly (readonly number[])[];

/** Returns the jobs that lines connect, read from the coordinates alone. */
function joined({ boxes, lines }: GraphLayout): string[] {
  const found: string[] = [];
  const follow = ([x, y]: readonly [number, number], source: number): void => {
    const box = boxes.findIndex((box) => box.x === x && box.y + SIZES.height / 2 === y);
    if (box >= 0) {
      found.push(`${source}-${box}`);
      return;
    }
    const next = lines.filter(({ from }) => from[0] === x && from[1] === y);
    assert(next.length > 0, `a line ends at ${x},${y}`);
    for (const { to } of next) follow(to, source);
  };
  boxes.forEach(({ x, y }, source) => {
    const starts = lines.filter(({ from }) =>
      from[0] === x + SIZES.width && from[1] === y + SIZES.height / 2
    );
    for (const { to } of starts) follow(to, source);
  });
  return [...new Set(found)].sort();
}

/** Boxes lie apart, and the straight pieces of lines touch none. */
function assertApart({ boxes, lines }: GraphLayout): void {
  const { width, height } = SIZES;
  boxes.forEach((a, index) => {
    for (const b of boxes.slice(index + 1)) {
      assert(a.x !== b.x || Math.abs(a.y - b.y) >= height, "two boxes overlap");
    }
    for (const { from, to } of lines) {
      const isLane = to[0] - from[0] === width;
      const isWithin = from[0] === a.x && from[1] > a.y && from[1] < a.y + height;
      assert(!isLane || !isWithin, "a line runs behind a box");
    }
  });
}

Deno.test("layOutGraph() puts jobs to the right of their needs, and connects them", () => {
  const table: readonly (readonly [needs: Needs, joined: string])[] = [
    [[], ""],
    [[[]], ""],
    [[[], [0]], "0-1"],
    [[[1], []], "1-0"],
    [[[], [0], [0], [1, 2]], "0-1 0-2 1-3 2-3"],
    // A need that another need implies has no line.
    [[[], [0], [0, 1], [0, 1, 2]], "0-1 1-2 2-3"],
    // A long line passes the boxes between its ends.
    [[[], [], [1], [2], [0, 3]], "0-4 1-2 2-3 3-4"],
    [[[], [], [1], [2], [0, 3], [0, 3]], "0-4 0-5 1-2 2-3 3-4 3-5"],
  ];
  for (const [needs, expected] of table) {
    const layout = layOutGraph(needs, SIZES);
    assertEquals(joined(layout).join(" "), expected);
    assertApart(layout);
    needs.forEach((of, job) =>
      of.forEach((need) => assert(layout.boxes[need]!.level < layout.boxes[job]!.level))
    );
  }
});

Deno.test("layOutGraph() draws an implied need if asked to", () => {
  const layout = layOutGraph(
    [[], [0], [0, 1]],
    SIZES,
    (need, job) => need === 0 && job === 2,
  );
  assertEquals(joined(layout), ["0-1", "0-2", "1-2"]);
  assertApart(layout);
});

Deno.test("layOutGraph() keeps the lines of any graph apart from its boxes", () => {
  let seed = 1;
  const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
  for (let round = 0; round < 50; round++) {
    const needs = Array.from(
      { length: 2 + Math.floor(random() * 40) },
      (_, job) => Array.from({ length: job }, (_, need) => need).filter(() => random() < 2 / job),
    );
    const layout = layOutGraph(needs, SIZES);
    assertApart(layout);
    assertEquals(joined(layout), implied(needs));
  }
});

/** The needs that no other need implies. */
function implied(needs: Needs): string[] {
  const reach: Set<number>[] = [];
  const found: string[] = [];
  needs.forEach((of, job) => {
    const behind = new Set(of.flatMap((need) => [...reach[need]!]));
    reach[job] = new Set([...behind, ...of]);
    for (const need of of) if (!behind.has(need)) found.push(`${need}-${job}`);
  });
  return found.sort();
}

Deno.test("layOutGraph() lays out a thousand jobs, in a chain where each needs all before it", () => {
  const needs = Array.from(
    { length: 1000 },
    (_, job) => Array.from({ length: job }, (_, need) => need),
  );
  const { lines, boxes } = layOutGraph(needs, SIZES);
  assertEquals([lines.length, boxes.at(-1)!.level], [999, 999]);
});
