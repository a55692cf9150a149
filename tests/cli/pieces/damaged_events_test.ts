import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runHere } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const flow = (name: string) =>
  `name: ${name}
jobs:
  - { name: First, id: first, steps: [{ name: a, uses: hello, test: true }] }
  - name: Second
    id: second
    needs: [first]
    repeat: { count: 2, async: true }
    steps: [{ name: b, uses: hello, test: true }]
`;

const FILES = { "flow.yml": flow("Flow"), "flows/a.yml": flow("A"), "flows/b.yml": flow("B") };

type Run = (...args: string[]) => Promise<{ code: number; stdout: string; stderr: string }>;

/** Runs something in processes whose events are R/1.ndjson and R/2.ndjson. */
type Layout = (run: Run, id: string) => Promise<void>;

const LAYOUTS: Readonly<Record<string, Layout>> = {
  async "pieces of a workflow"(run, id) {
    await run("prepare", "flow.yml", "--out", "R/run.json", "--id", id);
    const piece = ["flow.yml", "--run", "R/run.json", "--inputs", "R", "--report"];
    await run(...piece, "ndjson=R/1.ndjson", "--only", "first", "--outputs", "R/outputs.json");
    await run(...piece, "ndjson=R/2.ndjson", "--only", "second");
  },
  async "pieces of a suite"(run, id) {
    await run("prepare", "flows", "--out", "R/run.json", "--id", id);
    for (const [at, name] of ["a", "b"].entries()) {
      await run(
        ...["flows", "--run", "R/run.json", "--only", `flows/${name}.yml`],
        ...["--report", `ndjson=R/${at + 1}.ndjson`],
      );
    }
  },
  async "shards"(run) {
    for (const at of [1, 2]) {
      await run("flows", "--shard", `${at}/2`, "--report", `ndjson=R/${at}.ndjson`);
    }
  },
};

/** A text with one of its lines damaged, for each line and kind of damage. */
function* damaged(text: string): Iterable<readonly [what: string, text: string]> {
  const lines = text.trimEnd().split("\n");
  for (const [at, line] of lines.entries()) {
    const next = lines[at + 1];
    const half = line.slice(0, line.length / 2);
    const changes: Readonly<Record<string, readonly string[]>> = {
      deleted: [],
      blank: [""],
      repeated: [line, line],
      cut: [half],
      garbage: ["?"],
      ...next === undefined ? {} : { swapped: [next, line] },
    };
    for (const [what, instead] of Object.entries(changes)) {
      const rest = lines.slice(at + (what === "swapped" ? 2 : 1));
      yield [what, [...lines.slice(0, at), ...instead, ...rest, ""].join("\n")];
    }
    yield ["last", [...lines.slice(0, at), half].join("\n")];
    if (at > 0) yield ["gone from there", [...lines.slice(0, at), ""].join("\n")];
  }
  yield ["empty", ""];
}

for (const [title, layout] of Object.entries(LAYOUTS)) {
  Deno.test(`${title} are not green with any line of their events damaged`, async () => {
    await withFiles(FILES, async (cwd) => {
      const run: Run = (...args) => runHere(args, { cwd });
      await layout(run, "r1");
      const runFile = title === "shards" ? [] : ["R/run.json"];
      const merge = () => run("report", "merge", ...runFile, "R");
      const good = await merge();
      assertEquals([good.code, good.stderr], [0, ""], good.stdout);
      for (const name of ["R/1.ndjson", "R/2.ndjson"]) {
        const path = `${cwd}/${name}`;
        const text = Deno.readTextFileSync(path);
        for (const [what, bad] of damaged(text)) {
          Deno.writeTextFileSync(path, bad);
          const { code, stdout, stderr } = await merge();
          assertEquals(code, 1, `${what} ${bad}\n${stdout}`);
          assertMatch(
            stdout + stderr,
            /not an event of a run|found event \d+ in place|ends in the middle|has no events of/,
          );
        }
        Deno.removeSync(path);
        assertEquals((await merge()).code, 1, `${name} is missing`);
        Deno.writeTextFileSync(path, text);
      }
      Deno.copyFileSync(`${cwd}/R/1.ndjson`, `${cwd}/R/3.ndjson`);
      const twice = await merge();
      assertEquals([twice.code, twice.stdout], [0, good.stdout]);
      assertMatch(twice.stderr, /more than once|was left out/);
      const other = Deno.readTextFileSync(`${cwd}/R/2.ndjson`);
      Deno.writeTextFileSync(`${cwd}/flows/b.yml`, `${flow("B")}# edited\n`);
      await layout(run, "r2");
      Deno.writeTextFileSync(`${cwd}/R/2.ndjson`, other);
      const mixed = await merge();
      assertEquals(mixed.code, 1, mixed.stdout);
      assertMatch(mixed.stderr, /is of another (run|suite)/);
    });
  });
}

Deno.test("a piece that only its last event says has failed is not green without it", async () => {
  const flow = `name: F
jobs:
  - name: J
    id: j
    steps:
      - name: warns that not all rows are kept
        uses: db
        with: { dsn: ":memory:", query: select 1 union select 2, max_rows: 1 }
        test: true
`;
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const run: Run = (...args) => runHere(args, { cwd });
    await run("prepare", "flow.yml", "--out", "R/run.json");
    const piece = ["flow.yml", "--run", "R/run.json", "--only", "j", "--report"];
    assertEquals((await run(...piece, "ndjson=R/e.ndjson", "--strict")).code, 1);
    const path = `${cwd}/R/e.ndjson`;
    const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
    assertStringIncludes(lines.pop()!, '"interrupted":"--strict: 1 warning"');
    Deno.writeTextFileSync(path, `${lines.join("\n")}\n`);
    const { code, stdout } = await run(
      "report",
      "merge",
      "R/run.json",
      "R",
      "--report",
      "junit=R/junit.xml",
    );
    assertEquals(code, 1);
    assertStringIncludes(stdout, "'R/e.ndjson' ends in the middle: its machine was lost");
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/R/junit.xml`), "ends in the middle");
  });
});
