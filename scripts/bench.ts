/**
 * Measures what users wait for: `deno task bench`, or `deno task bench start dag` for some of it.
 * Most figures are ratios against something in the same run, since the speed of machines differs
 * and drifts. Figures that miss their goal are marked; a busy machine makes them unreliable, so
 * the exit code stays 0.
 *
 * @module
 */
import { type Figure, Workbench } from "./bench/bench.ts";
import { BENCHES } from "./bench/registry.ts";

const unknown = Deno.args.filter((word) => !BENCHES.some(({ name }) => name === word));
if (unknown.length > 0) {
  const names = BENCHES.map(({ name }) => name).join(", ");
  say(`unknown bench "${unknown.join('", "')}", only ${names}`);
  Deno.exit(1);
}
const directory = await Deno.makeTempDir({ prefix: "runner_bench_" });
try {
  for (const { name, measure } of BENCHES) {
    if (Deno.args.length > 0 && !Deno.args.includes(name)) continue;
    for await (const figure of measure(new Workbench(directory))) say(renderFigure(figure));
  }
} finally {
  await Deno.remove(directory, { recursive: true });
}

function renderFigure({ what, value, unit, note, goal }: Figure): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  const figure = `${value.toFixed(digits)} ${unit}${note === undefined ? "" : `, ${note}`}`;
  const line = `${what.padEnd(56)} ${figure.padEnd(20)}`;
  if (!goal) return line.trimEnd();
  const [limit, isMet] = "max" in goal
    ? [`at most ${goal.max}`, value <= goal.max]
    : [`at least ${goal.min}`, value >= goal.min];
  return `${line} ${limit.padEnd(14)} ${isMet ? "met" : "MISSED"}`;
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
