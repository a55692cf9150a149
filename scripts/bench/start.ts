import { type Figure, median, type Workbench } from "./bench.ts";

const ROUNDS = 21;

/** A step with a test, as most steps are. */
const HELLO = `name: n\njobs: [{name: j, steps: [{uses: hello, test: "res.status == 0"}]}]\n`;

/** Command lines with the longest time that each may take, in multiples of an empty script. */
const STARTS: readonly (readonly [what: string, argument: string, max: number])[] = [
  ["--version", "--version", 2],
  ["--help", "--help", 2],
  ["a hello step with a test", "hello.yml", 3.5],
];

/**
 * The time that the program takes to start, as a ratio to an empty script run in turn. Both
 * built forms are measured: the chunks that binaries embed and the one file that is run from a URL.
 */
export async function* benchStart(workbench: Workbench): AsyncGenerator<Figure> {
  const dist = await workbench.bundle();
  const empty = await workbench.write("empty.ts", "");
  const hello = await workbench.write("hello.yml", HELLO);
  const forms = [["chunks", `${dist}/split/cli.js`], ["one file", `${dist}/runner.js`]] as const;
  for (const [what, argument, max] of STARTS) {
    const file = argument === "hello.yml" ? hello : argument;
    for (const [form, program] of forms) {
      const ratios: number[] = [];
      const seconds: number[] = [];
      // The first of each fills the caches.
      for (let i = -1; i < ROUNDS; i++) {
        const ours = await workbench.deno("run", "-A", program, file);
        const theirs = await workbench.deno("run", empty);
        if (i < 0) continue;
        ratios.push(ours.seconds / theirs.seconds);
        seconds.push(ours.seconds);
      }
      yield {
        what: `${what} against an empty script (${form})`,
        value: median(ratios),
        unit: "times",
        note: `${(median(seconds) * 1000).toFixed(0)} ms`,
        goal: { max },
      };
    }
  }
}
