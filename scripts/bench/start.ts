import { fromFileUrl } from "@std/path/from-file-url";
import { CHECKOUT, type Figure, HELLO, median, type Workbench } from "./bench.ts";

const ROUNDS = 21;
const BUNDLE = fromFileUrl(new URL("../bundle.ts", import.meta.url));

/**
 * How long the program takes to start, as a ratio: an empty script takes its turn beside it. All
 * forms of it are measured: as a checkout runs it, one module at a time, in the chunks that binaries
 * are made of, and in the one file that is run from a URL. A chunk is read when it is imported, as
 * in a checkout and in a binary: the `deno.json` beside them says so.
 */
export async function* benchStart(workbench: Workbench): AsyncGenerator<Figure> {
  const dist = workbench.path("dist");
  await workbench.deno("run", "-A", BUNDLE, dist);
  await workbench.write("dist/split/deno.json", '{"unstable": ["lazy-dynamic-imports"]}\n');
  const empty = await workbench.write("empty.ts", "");
  const hello = await workbench.write("hello.yml", HELLO);
  const forms = [["chunks", `${dist}/split/cli.js`], ["one file", `${dist}/runner.js`], [
    "checkout",
    CHECKOUT,
  ]] as const;
  for (
    const [what, argument, most, mostBuilt] of [
      ["--version", "--version", 1.6, 1.6],
      ["--help", "--help", 1.6, 1.6],
      ["a workflow of one step", hello, 2.5, 2],
    ] as const
  ) {
    for (const [form, program] of forms) {
      const ratios: number[] = [];
      const seconds: number[] = [];
      // The first of each fills the caches.
      for (let i = -1; i < ROUNDS; i++) {
        const ours = await workbench.deno("run", "-A", program, argument);
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
        goal: { most: program === CHECKOUT ? most : mostBuilt },
      };
    }
  }
}
