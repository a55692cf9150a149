import { fromFileUrl } from "@std/path/from-file-url";
import { type Figure, median, type Workbench } from "./bench.ts";

const ROUND_ENDS = fromFileUrl(new URL("./round_ends.ts", import.meta.url));

/** Room for all that some thousand rounds allocate, so that nothing is collected. */
const ROOM = "--v8-flags=--min-semi-space-size=1024,--max-semi-space-size=1024";

/** What a round takes. */
export interface RoundCost {
  /** Of CPU. */
  readonly microseconds: number;
  /** Of the process in the end. */
  readonly megabytes: number;
  readonly kilobytes?: number;
  readonly promises?: number;
}

/** Carries out rounds of a step: see `round_ends.ts`. */
export async function costOf(
  workbench: Workbench,
  kind: string,
  mode: "sequential" | "async",
  rounds: number,
): Promise<RoundCost> {
  const args = [workbench.path(""), kind, mode, `${rounds}`];
  return JSON.parse((await workbench.deno("run", "-A", ROUND_ENDS, ...args)).stdout);
}

/** What a round allocates at most: the promises are exact, of the bytes V8 may collect some. */
export async function allocatedBy(
  workbench: Pick<Workbench, "deno" | "path">,
  kind: string,
): Promise<Required<RoundCost>> {
  const args = [workbench.path(""), kind, "sequential", "3000", "allocated"];
  return JSON.parse((await workbench.deno("run", "-A", ROOM, ROUND_ENDS, ...args)).stdout);
}

/** What the rounds of a repeated job cost without the servers that they ask. */
export async function* benchRounds(workbench: Workbench): AsyncGenerator<Figure> {
  const steps = [
    { kind: "stub", what: "a request with a test, without its connection", goal: { max: 30 } },
    { kind: "hello", what: "hello", goal: { max: 8 } },
  ];
  for (const { kind, what, goal } of steps) {
    for (const mode of ["sequential", "async"] as const) {
      const costs: number[] = [];
      for (let i = 0; i < 3; i++) {
        costs.push((await costOf(workbench, kind, mode, 20_000)).microseconds);
      }
      yield { what: `${mode} round of ${what}`, value: median(costs), unit: "µs of CPU", goal };
    }
  }
  for (const rounds of [10_000, 400_000]) {
    const { megabytes } = await costOf(workbench, "stub", "async", rounds);
    const what = `memory of ${rounds} requests without connections`;
    yield { what, value: megabytes, unit: "MB", goal: { max: 150 } };
  }
  for (const { kind, what } of steps) {
    const { kilobytes, promises } = await allocatedBy(workbench, kind);
    yield { what: `allocated by ${what}`, value: kilobytes, unit: "kB", goal: { max: 10 } };
    yield { what: `promises of ${what}`, value: promises, unit: "", goal: { max: 4 } };
  }
}
