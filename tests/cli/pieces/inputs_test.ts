import { assertEquals, assertStringIncludes } from "@std/assert";
import { runHere } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const FLOW = `name: Flow
jobs:
  - { name: One, id: one, steps: [{ id: a, uses: hello, outputs: { file: "'first'" } }] }
  - { name: Two, id: two, steps: [{ id: b, uses: hello, outputs: { file: "'second'" } }] }
  - { name: Three, id: three, steps: [{ id: c, uses: hello, outputs: { extra: "3" } }] }
  - { name: Middle, id: middle, needs: [two, one], steps: [{ uses: hello }] }
  - name: Last
    id: last
    needs: [middle]
    steps:
      - uses: echo
        with: { message: "{{outputs.file}} {{outputs.b.file}} {{outputs.extra ?? 'unseen'}}" }
        echo: "saw {{res.message}}"
`;

Deno.test("a job sees the outputs of all before it, whichever ended first, and no others", async () => {
  for (const order of [["one", "two", "three"], ["three", "two", "one"]]) {
    await withFiles({ "flow.yml": FLOW }, async (cwd) => {
      const run = async (...args: string[]) => {
        const { code, stdout, stderr } = await runHere(args, { cwd });
        assertEquals([code, stderr], [0, ""]);
        return stdout;
      };
      await run("prepare", "flow.yml", "--out", "R/run.json");
      let said = "";
      for (const id of [...order, "middle", "last"]) {
        said = await run(
          ...["flow.yml", "--run", "R/run.json", "--only", id, "--inputs", "R"],
          ...["--outputs", `R/${id}/outputs.json`],
        );
      }
      assertStringIncludes(said, "saw first second unseen");
      // Files do not grow along the graph.
      const { outputs } = JSON.parse(Deno.readTextFileSync(`${cwd}/R/middle/outputs.json`));
      assertEquals(outputs, {});
    });
  }
});
