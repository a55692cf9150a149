import { assertEquals } from "@std/assert";
import { FORMATS, runInPieces, runWhole, withoutTimes } from "../../support/run/run_pieces.ts";
import { generator } from "../../support/generator.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** A workflow with eight jobs in a random graph, some of which fail, are skipped or repeat. */
function randomWorkflow(seed: number): string {
  const next = generator(seed);
  const jobs = Array.from({ length: 8 }, (_, at) => {
    const needs = Array.from({ length: at }, (_, other) => other).filter(() => next(3) === 0);
    const seen = needs.map((need) => `{{outputs.s${need}?.mark ?? 'none'}}`).join(" ");
    const repeat = next(3) === 0 ? { count: 5, async: next(3) > 0 } : undefined;
    // Of the parts of a job, one may fail, and the last round is in one of them.
    const failing = repeat ? "repeat_index != 2" : "false";
    return {
      id: `j${at}`,
      name: `Job ${at}`,
      needs: needs.map((need) => `j${need}`),
      ...next(6) === 0 && needs.length > 0 ? { when: ["always", "failure"][next(2)] } : {},
      ...next(6) === 0 ? { skipif: "vars.limit == 3" } : {},
      ...repeat ? { repeat } : {},
      steps: [
        {
          id: `s${at}`,
          name: `job ${at}`,
          uses: "echo",
          with: { message: `mark ${at} ${seen}` },
          test: next(4) === 0 ? failing : "res.message contains 'mark'",
          outputs: { mark: repeat ? "repeat_index" : `"m${at}"` },
        },
        { uses: "echo", with: { message: "no test" } },
        {
          id: `all${at}`,
          uses: "echo",
          with: { message: "{{vars.item}}" },
          iteration: { list: [1, 2, 3], parallel: 2 },
          outputs: { entry: "vars.item", round: "repeat_index" },
        },
        ...next(4) === 0 ? [{ uses: "embedded", with: { path: "inner.yml" } }] : [],
      ],
      ...next(4) === 0
        ? { finally: [{ uses: "echo", with: { message: "{{job.state}} {{job.failed}}" } }] }
        : {},
    };
  });
  return JSON.stringify({ name: `random ${seed}`, vars: { limit: 3 }, jobs, finally: LAST });
}

/** It sees what became of all jobs. */
const LAST = [{
  name:
    "{{run.state}}, {{run.failed}} failed, {{needs.j0.state}}, {{outputs.s0?.mark}}, {{outputs.all0?.all}}",
  uses: "echo",
  with: { message: "end" },
}];

const INNER = `name: inner
steps:
  - uses: echo
    with: { message: inside }
    test: res.message == "inside"
`;

Deno.test("pieces that are merged give the reports of one process", async (test) => {
  for (let seed = 1; seed <= 8; seed++) {
    await test.step(`random graph ${seed}`, async () => {
      await withFiles(
        { "flow.yml": randomWorkflow(seed * 7919), "inner.yml": INNER },
        async (cwd) => {
          const whole = await runWhole("flow.yml", { cwd });
          let turn = seed;
          const pieces = await runInPieces("flow.yml", {
            cwd,
            choose: (count) => (turn = turn * 31 + 7) % count,
          });
          assertEquals([pieces.stderr, pieces.code], ["", whole.code], pieces.stdout);
          for (const format of FORMATS) {
            const read = (name: string) =>
              withoutTimes(Deno.readTextFileSync(`${cwd}/${name}.${format}`));
            assertEquals(read("pieces"), read("whole"), format);
          }
        },
      );
    });
  }
});
