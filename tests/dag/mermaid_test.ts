import { assertEquals } from "@std/assert";
import type { DagJob } from "../../src/dag/dag.ts";
import { renderMermaid } from "../../src/dag/mermaid.ts";

function job(id: string, needs: readonly string[] = [], ...steps: readonly string[]): DagJob {
  return { id, name: id, needs, level: 0, steps: steps.map((name) => ({ name, uses: "hello" })) };
}

/** The ids of the subgraphs. */
function idsOf(...ids: readonly string[]): readonly string[] {
  const text = renderMermaid({ name: "n", jobs: ids.map((id) => job(id)) });
  return [...text.matchAll(/subgraph (\w+)\[/g)].map(([, id]) => id!);
}

/** The label that a name becomes. */
function labelOf(name: string): string | undefined {
  const jobs = [{ ...job("a"), name }];
  return /subgraph a\["(.*)"\]/.exec(renderMermaid({ name: "n", jobs }))?.[1];
}

Deno.test("a flowchart has a subgraph for each job and a line for each need", () => {
  const jobs = [job("unit-test", [], "a", "b"), job("deploy", ["unit-test"], 'say "hi"')];
  assertEquals(
    renderMermaid({ name: "n", jobs }),
    `flowchart LR
    subgraph unit_test["unit-test"]
        unit_test_step0["a"]
        unit_test_step1["b"]
    end
    subgraph deploy["deploy"]
        deploy_step0["say #34;hi#34;"]
    end
    unit_test --> deploy
`,
  );
});

Deno.test("ids keep valid characters, and duplicates are numbered", () => {
  assertEquals(idsOf("a-b", "a_b", "a.b"), ["a_b", "a_b_2", "a_b_3"]);
  assertEquals(idsOf("a_b", "a_b_2", "a-b"), ["a_b", "a_b_2", "a_b_3"]);
  assertEquals(idsOf("1", "2nd", "日本"), ["n1", "n2nd", "__"]);
  assertEquals(idsOf("end", "End", "graph", "constructor"), [
    ...["end_2", "End", "graph_2", "constructor_2"],
  ]);
});

Deno.test("a step never takes the id of a job", () => {
  const text = renderMermaid({ name: "n", jobs: [job("a", [], "x"), job("a_step0", [], "y")] });
  assertEquals(text.match(/\w+(?=\[)/g), ["a", "a_step0_2", "a_step0", "a_step0_step0"]);
});

Deno.test("labels stay readable where they may", () => {
  assertEquals(
    labelOf("test {{outputs.a}} in snake_case, 100% (v1.2)"),
    [
      "test {{outputs.a}} in snake_case, 100% (v1.2)",
    ][0],
  );
  assertEquals(labelOf("a\nb <c>"), "a b #60;c#62;");
  assertEquals(labelOf("1. x"), "1#46; x");
  assertEquals(labelOf(""), "#32;");
});
