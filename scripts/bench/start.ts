import { CHECKOUT, type Figure, HELLO, median, type Workbench } from "./bench.ts";

const ROUNDS = 21;

/**
 * How long the program takes to start, as a ratio: an empty script takes its turn beside it. Both
 * forms of it are measured against the same goals: as a checkout runs it, one module at a time,
 * and in chunks as `deno bundle` makes them, which is what a build embeds. A chunk is read when it
 * is imported, as in a checkout and in a compiled program: the `deno.json` beside them says so.
 */
export async function* benchStart(workbench: Workbench): AsyncGenerator<Figure> {
  const chunks = workbench.path("chunks");
  const bundle = ["bundle", "--quiet", "--minify", "--code-splitting", "--outdir", chunks];
  await workbench.deno(...bundle, CHECKOUT);
  await workbench.write("chunks/deno.json", '{"unstable": ["lazy-dynamic-imports"]}\n');
  const empty = await workbench.write("empty.ts", "");
  const hello = await workbench.write("hello.yml", HELLO);
  for (
    const [what, argument, most] of [
      ["--version", "--version", 1.6],
      ["--help", "--help", 1.6],
      ["a workflow of one step", hello, 2.5],
    ] as const
  ) {
    for (const [form, program] of [["bundled", `${chunks}/cli.js`], ["checkout", CHECKOUT]]) {
      const ratios: number[] = [];
      const seconds: number[] = [];
      // The first of each fills the caches.
      for (let i = -1; i < ROUNDS; i++) {
        const ours = await workbench.deno("run", "-A", program!, argument);
        const theirs = await workbench.deno("run", empty);
        if (i < 0) continue;
        ratios.push(ours.seconds / theirs.seconds);
        seconds.push(ours.seconds);
      }
      yield {
        what: `${what} against an empty script (${form})`,
        value: median(ratios),
        unit: "times",
        aside: `${(median(seconds) * 1000).toFixed(0)} ms`,
        goal: { most },
      };
    }
  }
}
