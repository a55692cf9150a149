import { assertEquals, assertThrows } from "@std/assert";
import { renderAscii } from "../../src/dag/ascii_drawing.ts";
import type { Dag, DagJob, DagStep } from "../../src/dag/dag.ts";
import { generator } from "../support/generator.ts";
import { readDrawing } from "../support/read_drawing.ts";

/** A graph of jobs `a`, `b`, …, each with its needs. */
function dagOf(needs: Readonly<Record<string, readonly string[]>>): Dag {
  const levelOf = (id: string): number => Math.max(-1, ...(needs[id] ?? []).map(levelOf)) + 1;
  const jobs = Object.keys(needs).map((id): DagJob => ({
    id,
    name: id,
    needs: needs[id]!,
    level: levelOf(id),
    steps: [{ name: `do ${id}`, uses: "hello" }],
  }));
  return { name: "n", jobs };
}

const NAMES = [
  "",
  " deploy",
  " 部署到生产环境",
  " 🚀 release 🚀",
  " a name that is longer than any box can be, and so is cut somewhere",
];

type Random = (limit: number) => number;

/** Ways to choose the needs of a job among those before it, in layers of that many. */
const KINDS: readonly ((random: Random, layer: number) => Choose)[] = [
  // Anything.
  (random) => {
    const density = 1 + random(50);
    return (jobs) => jobs.filter(() => random(100) < density);
  },
  // A tree.
  (random, layer) => (jobs) =>
    jobs.length === 0 ? [] : [jobs[random(Math.min(layer, jobs.length))]!],
  // Layers that need some, all or hardly any of the layer before.
  (random, layer) => {
    const density = [30, 100, 10][random(3)]!;
    return (jobs) => {
      const start = jobs.length - jobs.length % layer;
      return jobs.slice(Math.max(0, start - layer), start).filter(() => random(100) < density);
    };
  },
  // In each layer all jobs need the same jobs, some of them one more.
  (random, layer) => {
    let shared: readonly DagJob[] = [];
    return (jobs) => {
      if (jobs.length % layer === 0) shared = jobs.filter(() => random(100) < 40);
      const start = jobs.length - jobs.length % layer;
      return jobs.slice(0, start).filter((job) => shared.includes(job) || random(30) === 0);
    };
  },
];

type Choose = (jobs: readonly DagJob[]) => readonly DagJob[];

/** Jobs of random needs, names and numbers of steps. */
function randomDag(seed: number): Dag {
  const random = generator(seed);
  const count = 1 + random(seed % 10 === 0 ? 40 : 16);
  const choose = KINDS[seed % KINDS.length]!(random, 2 + random(6));
  const jobs: DagJob[] = [];
  for (let index = 0; index < count; index++) {
    const needs = choose(jobs);
    jobs.push({
      id: `j${index}`,
      name: `${index}${NAMES[random(NAMES.length)]}`,
      needs: needs.map(({ id }) => id),
      level: Math.max(-1, ...needs.map(({ level }) => level)) + 1,
      steps: Array.from({ length: 1 + random(4) }, (_, step) => ({
        name: `step ${step}`,
        uses: "hello",
      })),
    });
  }
  // The order of the file is not that of the graph.
  const order = new Map(jobs.map((job) => [job, random(1000)]));
  return { name: "n", jobs: jobs.toSorted((a, b) => order.get(a)! - order.get(b)!) };
}

/** The needs of each job, by the numbers that names begin with. */
function readNeeds(drawing: string): Record<string, string[]> {
  const numberOf = (title: string) => parseInt(title, 10);
  return Object.fromEntries(
    readDrawing(drawing).map(({ title, needs }) => [
      `j${numberOf(title)}`,
      needs.map((need) => `j${numberOf(need)}`).sort(),
    ]),
  );
}

function needsOf({ jobs }: Dag): Record<string, string[]> {
  return Object.fromEntries(jobs.map(({ id, needs }) => [id, [...needs].sort()]));
}

for (const columns of [Infinity, 120, 80, 40, 12]) {
  Deno.test(`the graph can be read from its drawing, ${columns} columns`, () => {
    for (let seed = 0; seed < 300; seed++) {
      const dag = randomDag(seed);
      const drawing = renderAscii(dag, columns);
      try {
        assertEquals(readNeeds(drawing), needsOf(dag));
      } catch (error) {
        throw new Error(`seed ${seed}:\n${drawing}`, { cause: error });
      }
    }
  });
}

Deno.test("a drawing with one wrong sign cannot be read as the same graph", () => {
  const random = generator(1);
  const signs = [..." │─┌┐└┘├┤┬┴┼↓"];
  for (let seed = 0; seed < 60; seed++) {
    const dag = randomDag(seed);
    const lines = renderAscii(dag, 100).split("\n").map((line) => [...line]);
    const places = lines.flatMap((line, row) =>
      line.flatMap((sign, column) => /[│─┌┐└┘├┤┬┴┼↓]/.test(sign) ? [[row, column] as const] : [])
    );
    const [row, column] = places[random(places.length)]!;
    const wrong = signs.filter((sign) => sign !== lines[row]![column]);
    lines[row]![column] = wrong[random(wrong.length)]!;
    const drawing = lines.map((line) => line.join("")).join("\n");
    assertThrows(() => assertEquals(readNeeds(drawing), needsOf(dag)), Error);
  }
});

/** The drawing of jobs with one step each. */
function draw(needs: Readonly<Record<string, readonly string[]>>, columns = Infinity): string {
  return renderAscii(dagOf(needs), columns);
}

/** A drawing that begins in the line below. */
function text(lines: string): string {
  return lines.slice(1);
}

Deno.test("a job alone is a box", () => {
  assertEquals(
    draw({ build: [] }),
    text(`
╭─────────────╮
│    build    │
├─────────────┤
│ · do build  │
╰─────────────╯
`),
  );
});

Deno.test("a diamond has one line that parts and one that joins", () => {
  assertEquals(
    draw({ a: [], b: ["a"], c: ["a"], d: ["b", "c"] }),
    text(`
       ╭─────────╮
       │    a    │
       ├─────────┤
       │ · do a  │
       ╰────┬────╯
            │
     ┌──────┴──────┐
     ↓             ↓
╭─────────╮   ╭─────────╮
│    b    │   │    c    │
├─────────┤   ├─────────┤
│ · do b  │   │ · do c  │
╰────┬────╯   ╰────┬────╯
     │             │
     └──────┬──────┘
            ↓
       ╭─────────╮
       │    d    │
       ├─────────┤
       │ · do d  │
       ╰─────────╯
`),
  );
});

Deno.test("needs that skip levels pass beside the boxes", () => {
  assertEquals(
    draw({ a: [], b: ["a"], c: ["b"], d: ["a", "c"] }),
    text(`
╭─────────╮
│    a    │
├─────────┤
│ · do a  │
╰────┬────╯
     │
     ├──────┐
     ↓      │
╭─────────╮ │
│    b    │ │
├─────────┤ │
│ · do b  │ │
╰────┬────╯ │
     │      │
     ↓      │
╭─────────╮ │
│    c    │ │
├─────────┤ │
│ · do c  │ │
╰────┬────╯ │
     │      │
   ┌─┘ ┌────┘
   ↓   ↓
╭─────────╮
│    d    │
├─────────┤
│ · do d  │
╰─────────╯
`),
  );
});

Deno.test("lines cross where they must, and a level that is too wide goes on below", () => {
  const needs = { a: [], b: [], c: [], d: ["a", "c"], e: ["b", "c"], f: ["a", "b"] };
  assertEquals(
    draw(needs),
    text(`
╭─────────╮   ╭─────────╮   ╭─────────╮
│    a    │   │    b    │   │    c    │
├─────────┤   ├─────────┤   ├─────────┤
│ · do a  │   │ · do b  │   │ · do c  │
╰────┬────╯   ╰────┬────╯   ╰────┬────╯
     │             │             │
   ┌─┴───────────┐ │ ┌───────────┴─┐
   │   ┌─────────┼─┴─┼─────────┐   │
   ↓   ↓         ↓   ↓         ↓   ↓
╭─────────╮   ╭─────────╮   ╭─────────╮
│    f    │   │    d    │   │    e    │
├─────────┤   ├─────────┤   ├─────────┤
│ · do f  │   │ · do d  │   │ · do e  │
╰─────────╯   ╰─────────╯   ╰─────────╯
`),
  );
  assertEquals(
    draw(needs, 30),
    text(`
╭─────────╮
│    a    │
├─────────┤
│ · do a  │
╰────┬────╯
     │
     └──────┐
            │
╭─────────╮ │
│    b    │ │
├─────────┤ │
│ · do b  │ │
╰────┬────╯ │
     │      │
     └──────┼─┐
            │ │
╭─────────╮ │ │
│    c    │ │ │
├─────────┤ │ │
│ · do c  │ │ │
╰────┬────╯ │ │
     │      │ │
   ┌─┴──────┼─┼─┐
   │   ┌────┤ │ │
   ↓   ↓    │ │ │
╭─────────╮ │ │ │
│    d    │ │ │ │
├─────────┤ │ │ │
│ · do d  │ │ │ │
╰─────────╯ │ │ │
            │ │ │
   ┌────────┼─┤ │
   │   ┌────┼─┼─┘
   ↓   ↓    │ │
╭─────────╮ │ │
│    e    │ │ │
├─────────┤ │ │
│ · do e  │ │ │
╰─────────╯ │ │
            │ │
   ┌────────┘ │
   │   ┌──────┘
   ↓   ↓
╭─────────╮
│    f    │
├─────────┤
│ · do f  │
╰─────────╯
`),
  );
});

Deno.test("jobs with the same needs share their lines", () => {
  const [a, b] = [["x", "y", "z"], []];
  assertEquals(
    draw({ x: b, y: b, z: b, a, b: a, c: a }),
    text(`
╭─────────╮   ╭─────────╮   ╭─────────╮
│    x    │   │    y    │   │    z    │
├─────────┤   ├─────────┤   ├─────────┤
│ · do x  │   │ · do y  │   │ · do z  │
╰────┬────╯   ╰────┬────╯   ╰────┬────╯
     │             │             │
     ├────────────┬┴─────────────┤
     ↓            ↓              ↓
╭─────────╮   ╭─────────╮   ╭─────────╮
│    a    │   │    b    │   │    c    │
├─────────┤   ├─────────┤   ├─────────┤
│ · do a  │   │ · do b  │   │ · do c  │
╰─────────╯   ╰─────────╯   ╰─────────╯
`),
  );
});

Deno.test("names are cut, and wide or dangerous signs leave the box straight", () => {
  const step = (name: string) => ({ name, uses: "hello" });
  const job = {
    id: "a",
    name: "部署到\n生产 🚀",
    needs: [],
    level: 0,
    steps: [step("\x1b[31mred"), step("x".repeat(60)), step("环".repeat(30)), step("")],
  };
  assertEquals(
    renderAscii({ name: "n", jobs: [job] }, 24),
    text(`
╭─────────────────────╮
│   部署到 生产 🚀    │
├─────────────────────┤
│ · ␛[31mred          │
│ · xxxxxxxxxxxxxxxx… │
│ · 环环环环环环环环… │
│ ·                   │
╰─────────────────────╯
`),
  );
});

Deno.test("a step that embeds a job shows the steps of that job below it", () => {
  const step = (name: string, steps?: DagStep[]) => ({
    name,
    uses: steps ? "embedded" : "hello",
    ...(steps ? { steps } : {}),
  });
  const steps = [
    step("first"),
    step("log in", [step("ask"), step("inner", [step("deep")]), step("store")]),
  ];
  const dag = { name: "n", jobs: [{ id: "a", name: "a", needs: [], level: 0, steps }] };
  assertEquals(
    renderAscii(dag, 80),
    text(`
╭─────────────╮
│      a      │
├─────────────┤
│ · first     │
│ ↗ log in    │
│   ├ ask     │
│   ├ inner   │
│   │ └ deep  │
│   └ store   │
╰─────────────╯
`),
  );
});

Deno.test("a drawing is no wider than necessary if no line has to pass", () => {
  const many = Array.from({ length: 20 }, (_, index) => `j${index}`);
  const apart = Object.fromEntries(many.map((id) => [id, []]));
  for (const columns of [20, 40, 60, 79, 80, 200]) {
    const width = Math.max(...draw(apart, columns).split("\n").map((line) => line.length));
    assertEquals(width <= columns && width > columns - 17, true, `${width} of ${columns}`);
    const fan = draw({ a: [], ...Object.fromEntries(many.map((id) => [id, ["a"]])) }, columns);
    assertEquals(fan.split("\n").every((line) => line.length <= columns), true, fan);
  }
});

Deno.test("a graph of more than twelve jobs has names alone", () => {
  const needs = (jobs: number) =>
    Object.fromEntries(Array.from({ length: jobs }, (_, job) => [`job ${job}`, []]));
  assertEquals(readDrawing(renderAscii(dagOf(needs(12)), 80))[11]!.rows, ["· do job 11"]);
  const many = readDrawing(renderAscii(dagOf(needs(13)), 80));
  assertEquals(many.map(({ rows }) => rows), Array.from({ length: 13 }, () => []));
});
