import { assertEquals } from "@std/assert";
import { RUNNER_KEY } from "./run_pieces.ts";
import { runHere } from "./run_main.ts";
import { withFiles } from "../temp_dir.ts";

/** Three jobs, one after the other; the rounds of the second can be split. */
export const FLOW = `name: Flow
vars: { who: world }
jobs:
  - name: First
    id: first
    steps:
      - { id: a, name: makes, uses: hello, test: vars.who == "world", outputs: { n: "1", api_token: "'tok-abcdefgh'" } }
  - name: Load
    id: load
    needs: [first]
    repeat: { count: 4, async: true }
    steps:
      - { id: b, name: round, uses: hello, test: outputs.n == 1, outputs: { i: repeat_index } }
  - name: Last
    id: last
    needs: [load]
    steps:
      - { name: ends, uses: hello, test: "outputs.b.i == 3 && outputs.a.api_token == 'tok-abcdefgh'" }
`;

export interface PreparedRun {
  readonly cwd: string;
  /** Runs the program; the result is its exit code and what it said, without the report. */
  readonly run: (...args: string[]) => Promise<string>;
  /** Runs a piece that leaves its files in a directory. */
  readonly piece: (share: string, ...args: string[]) => Promise<string>;
  readonly merge: () => Promise<string>;
}

/** A prepared run of FLOW. */
export async function withRun(
  use: (run: PreparedRun) => Promise<void>,
  env = { RUNNER_KEY },
): Promise<void> {
  await withFiles({ "flow.yml": FLOW, "other.yml": `${FLOW}# edited\n` }, async (cwd) => {
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHere(args, { cwd, env });
      return `${code}\n${args[0] === "report" ? stdout : ""}${stderr}`;
    };
    const piece = (share: string, ...args: string[]) =>
      run(
        ...["flow.yml", "--run", "R/run.json", "--inputs", "R"],
        ...["--outputs", `R/${share}/outputs.json`, "--report", `ndjson=R/${share}/events.ndjson`],
        ...args,
      );
    Deno.mkdirSync(`${cwd}/R`);
    for (const share of ["first", "again", "load1", "load2", "last"]) {
      Deno.mkdirSync(`${cwd}/R/${share}`);
    }
    assertEquals(await run("prepare", "flow.yml", "--out", "R/run.json", "--id", "r1"), "0\n");
    await use({ cwd, run, piece, merge: () => run("report", "merge", "R/run.json", "R") });
  });
}
