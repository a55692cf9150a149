import { assert, assertEquals } from "@std/assert";
import {
  findRows,
  makeTicks,
  type RowFilter,
} from "../../../src/report/files/html/page/waterfall.ts";
import { type GraphLayout, layOutGraph, SIZES } from "../../../src/report/files/html/page/graph.ts";
import type { PageData, PageJob, PageStep } from "../../../src/report/files/html/page_data.ts";

type Needs = readonly (readonly number[])[];

/** The jobs that lines connect; each begins and ends at the box of a job. */
function joined({ boxes, lines }: GraphLayout): string[] {
  return lines.map(({ need, job, points }) => {
    const [from, to] = [boxes[need]!, boxes[job]!];
    assertEquals(points[0], [from.x + SIZES.width, from.y + SIZES.height / 2]);
    assertEquals(points.at(-1), [to.x, to.y + SIZES.height / 2]);
    return `${need}-${job}`;
  }).sort();
}

/** Boxes lie apart, and the straight pieces of lines touch none. */
function assertApart({ boxes, lines }: GraphLayout): void {
  const { width, height } = SIZES;
  for (const [index, a] of boxes.entries()) {
    for (const b of boxes.slice(index + 1)) {
      assert(a.x !== b.x || Math.abs(a.y - b.y) >= height, "two boxes overlap");
    }
    for (const { points } of lines) {
      for (const [at, [x, y]] of points.entries()) {
        const isLane = points[at + 1]?.[0] === x + width;
        const isWithin = x === a.x && y > a.y && y < a.y + height;
        assert(!isLane || !isWithin, "a line runs behind a box");
      }
    }
  }
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
    const layout = layOutGraph(needs);
    assertEquals(joined(layout).join(" "), expected);
    assertApart(layout);
    needs.forEach((of, job) =>
      of.forEach((need) => assert(layout.boxes[need]!.level < layout.boxes[job]!.level))
    );
  }
});

Deno.test("layOutGraph() keeps the lines of any graph apart from its boxes", () => {
  let seed = 1;
  const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
  for (let round = 0; round < 50; round++) {
    const needs = Array.from(
      { length: 2 + Math.floor(random() * 40) },
      (_, job) => Array.from({ length: job }, (_, need) => need).filter(() => random() < 2 / job),
    );
    const layout = layOutGraph(needs);
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
  const { lines, boxes } = layOutGraph(needs);
  assertEquals([lines.length, boxes.at(-1)!.level], [999, 999]);
});

function job(name: string, state: PageJob["state"] = "passed"): PageJob {
  return { id: name, name, needs: [], state, start: 0, duration: 1, failures: [] };
}

function step(job: number, depth: number, name: string): PageStep {
  return { job, key: name, name, uses: "echo", state: "passed", start: 0, duration: 1, depth };
}

const DATA: PageData = {
  duration: 1,
  jobs: [job("one"), job("none", "skipped"), job("two")],
  steps: [
    step(0, 0, "a"),
    step(0, 1, "a1"),
    step(0, 2, "a1x"),
    step(0, 1, "a2"),
    step(0, 0, "b"),
    step(2, 0, "c"),
    step(2, 1, "c1"),
  ],
};

/** The rows as an outline: `one(a(a1) b) two`. `+` is what is folded. */
function outline(wish: Partial<RowFilter>, data = DATA): string {
  const all: RowFilter = { fits: () => true, fitsJob: () => true, isFolded: () => false };
  const { rows, count } = findRows(data, { ...all, ...wish });
  const lines = rows.map(({ kind, index, level, isFolded, position, of }) => {
    const { name } = kind === "job" ? data.jobs[index]! : data.steps[index]!;
    const fold = isFolded === undefined ? "" : isFolded ? "+" : "-";
    return `${level}${fold}${name} ${position}/${of}`;
  });
  return `${lines.join(", ")} (${count})`;
}

const named = (...names: readonly string[]) => ({ name }: PageStep) => names.includes(name);

Deno.test("findRows() gives jobs with their steps, and those with the steps inside of them", () => {
  assertEquals(
    outline({}),
    "1-one 1/3, 2-a 1/2, 3-a1 1/2, 4a1x 1/1, 3a2 2/2, 2b 2/2, 1none 2/3, 1-two 3/3, 2-c 1/1, " +
      "3c1 1/1 (3)",
  );
});

Deno.test("findRows() shows the containers of a matching step, and counts the steps of jobs", () => {
  const fitsJob = () => false;
  assertEquals(
    outline({ fits: named("a1x"), fitsJob }),
    "1-one 1/1, 2-a 1/1, 3-a1 1/1, 4a1x 1/1 (1)",
  );
  assertEquals(
    outline({ fits: named("a1x", "a2", "c"), fitsJob }),
    "1-one 1/2, 2-a 1/1, 3-a1 1/2, 4a1x 1/1, 3a2 2/2, 1-two 2/2, 2c 1/1 (2)",
  );
  assertEquals(outline({ fits: named("b"), fitsJob }), "1-one 1/1, 2b 1/1 (1)");
  assertEquals(outline({ fits: named("a"), fitsJob }), "1-one 1/1, 2a 1/1 (1)");
});

Deno.test("findRows() shows jobs that fit without any step", () => {
  assertEquals(
    outline({ fits: () => false, fitsJob: ({ state }) => state === "skipped" }),
    "1none 1/1 (0)",
  );
});

Deno.test("findRows() hides everything below a folded row", () => {
  assertEquals(
    outline({ isFolded: ({ kind, index }) => kind === "step" && index === 0 }),
    "1-one 1/3, 2+a 1/2, 2b 2/2, 1none 2/3, 1-two 3/3, 2-c 1/1, 3c1 1/1 (3)",
  );
  assertEquals(
    outline({ isFolded: ({ kind }) => kind === "job" }),
    "1+one 1/3, 1none 2/3, 1+two 3/3 (3)",
  );
});

Deno.test("findRows() returns no rows for an empty run", () => {
  assertEquals(outline({}, { duration: 0, jobs: [], steps: [] }), " (0)");
});

Deno.test("makeTicks() marks round times that suit the run", () => {
  const table: readonly (readonly [duration: number, ticks: readonly number[]])[] = [
    [0, [0]],
    [0.5, [0, 0.1, 0.2, 0.3, 0.4, 0.5]],
    [234, [0, 50, 100, 150, 200]],
    [1_001, [0, 200, 400, 600, 800, 1000]],
    [59_000, [0, 10_000, 20_000, 30_000, 40_000, 50_000]],
    [7_200_000, [0, 1_800_000, 3_600_000, 5_400_000, 7_200_000]],
    [30 * 86_400_000, [0, 5, 10, 15, 20, 25, 30].map((days) => days * 86_400_000)],
  ];
  for (const [duration, expected] of table) {
    assertEquals(makeTicks(duration, 6).map((time) => Number(time.toPrecision(12))), expected);
  }
});

Deno.test("makeTicks() makes no more marks than there is room for, none twice, and at least the first", () => {
  for (let duration = 2; duration < 1e10; duration *= 1.37) {
    for (const maxTicks of [0, 1, 2, 5, 20]) {
      const ticks = makeTicks(duration, maxTicks);
      assert(ticks.length >= 1 && ticks.length <= maxTicks + 1, `${duration} ${maxTicks}`);
      assert(ticks.every((time) => time <= duration * 1.001), `${duration} ${maxTicks}`);
      // Half of the room stays empty at the worst, or three quarters where minutes become hours.
      if (maxTicks > 5) {
        assert(ticks.length > maxTicks / 4, `${duration} ${maxTicks}: ${ticks.length}`);
      }
    }
  }
});
