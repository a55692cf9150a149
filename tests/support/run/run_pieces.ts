/**
 * Runs a workflow as engines do that have nothing but its graph: each job is a process of its own,
 * and is not started where one that it needs failed.
 *
 * @module
 */
import { parse } from "@std/yaml/parse";
import type { CliResult } from "./run_cli.ts";
import { runHere } from "./run_main.ts";

export const RUNNER_KEY = "0123456789abcdef0123456789abcdef";

export interface PiecesOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Over how many processes the rounds of repeated jobs are spread where they run at once. */
  readonly parts?: number;
  /** Chooses which of the jobs that can start comes next; the first by default. */
  readonly choose?: (count: number) => number;
}

interface WrittenJob {
  readonly id: string;
  readonly needs: readonly string[];
  readonly when?: string;
  readonly cleanup?: true;
}

/** Prepares a run in the directory `R`, runs its jobs there, and merges them. */
export async function runInPieces(file: string, options: PiecesOptions): Promise<CliResult> {
  const { cwd, parts = 2, choose = () => 0 } = options;
  const env = { RUNNER_KEY, ...options.env };
  const run = async (...args: string[]) => await runHere(args, { cwd, env });
  Deno.mkdirSync(`${cwd}/R`, { recursive: true });
  const prepared = await run("prepare", file, "--out", "R/run.json");
  if (prepared.code !== 0) return prepared;
  const { workflows: [{ jobs }] } = JSON.parse(Deno.readTextFileSync(`${cwd}/R/run.json`)) as {
    workflows: [{ jobs: readonly WrittenJob[] }];
  };
  const passed = new Map<string, boolean>();
  const left = jobs.filter(({ cleanup }) => !cleanup);
  while (left.length > 0) {
    const ready = left.filter(({ needs }) => needs.every((id) => passed.has(id)));
    const job = ready[choose(ready.length)]!;
    left.splice(left.indexOf(job), 1);
    if (job.when === undefined && job.needs.some((id) => !passed.get(id))) {
      passed.set(job.id, false);
      continue;
    }
    const shares = isSplit(`${cwd}/${file}`, job.id) ? parts : 1;
    const codes: number[] = [];
    for (let share = 1; share <= shares; share++) {
      const directory = `R/${job.id}-${share}`;
      Deno.mkdirSync(`${cwd}/${directory}`);
      const { code } = await run(
        ...[file, "--run", "R/run.json", "--only", job.id, "--inputs", "R"],
        ...[
          "--outputs",
          `${directory}/outputs.json`,
          "--report",
          `ndjson=${directory}/events.ndjson`,
        ],
        ...shares === 1 ? [] : ["--rounds", `${share}/${shares}`],
      );
      codes.push(code);
    }
    passed.set(job.id, codes.every((code) => code === 0));
  }
  if (jobs.some(({ cleanup }) => cleanup)) {
    await run(
      ...[file, "--run", "R/run.json", "--finally", "--inputs", "R"],
      ...["--report", "ndjson=R/finally.ndjson"],
    );
  }
  return await run(
    ...["report", "merge", "R/run.json", "R"],
    ...FORMATS.flatMap((format) => ["--report", `${format}=pieces.${format}`]),
  );
}

/** The same in one process. */
export async function runWhole(
  file: string,
  { cwd, env = {} }: Pick<PiecesOptions, "cwd" | "env">,
): Promise<CliResult> {
  const reports = FORMATS.flatMap((format) => ["--report", `${format}=whole.${format}`]);
  return await runHere([file, ...reports], { cwd, env });
}

/** The formats that are compared. */
export const FORMATS = ["junit", "tap", "json", "ctrf"] as const;

function isSplit(path: string, id: string): boolean {
  const { jobs } = parse(Deno.readTextFileSync(path)) as {
    jobs: { id?: string; repeat?: { async?: boolean } }[];
  };
  const { repeat } = jobs.find((job) => job.id === id) ?? {};
  return repeat?.async === true;
}

/** How a run was started and with which vars, in its JSON and CTRF. */
export const ORIGIN = /"(?:origin|environment|vars)":\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\},\s*/g;

/** A report without what differs from run to run: times, hosts, ids of runs and processes. */
export function withoutTimes(text: string): string {
  return text
    .replace(ORIGIN, "")
    .replace(/"instant":\s*true,?/g, "")
    .replace(/(&quot;|"|')?stats\1?(" value=|: ?)("\{[^"]*\}"|\{[^{}]*\}|\S.*)/g, "")
    .replace(/(time|timestamp|hostname|id)="[^"]*"/g, "")
    .replace(
      /"(runId|run_id|time|started|stopped|start|stop|from|to|duration\w*|responseTime|rt|elapsed|timestamp|generatedAt|reportId|host|hostname|pid|phases|wait|total_?time)":\s*("[^"]*"|[\d.e+-]+|\{[^{}]*\})/gi,
      "",
    )
    .replace(/"(times|slowest)":\{[^{}]*\}/g, "")
    .replace(/&quot;pid&quot;:\d+/g, "")
    .replace(/(?<=^ *(?:\d+\. )?[✓✗○] .*) \([\d.]+m?s\)/gm, "")
    .replace(/\b\d+(\.\d+)?(ms|s)\b/g, "T")
    .replace(/duration_ms: [\d.]+|time=[\d.]+/g, "");
}

interface WrittenWorkflow {
  readonly role?: "setup" | "teardown";
  readonly workflow: { readonly file: string };
}

/**
 * Prepares a run of a suite in the directory `R`, runs its workflows in processes of their own, and
 * merges them. As in an engine, none of them is started after setup has failed.
 */
export async function runSuiteInPieces(
  suite: string,
  { cwd, env, shards }: Pick<PiecesOptions, "cwd" | "env"> & { readonly shards?: number },
): Promise<CliResult> {
  const run = async (...args: string[]) =>
    await runHere(args, { cwd, env: { RUNNER_KEY, ...env } });
  Deno.mkdirSync(`${cwd}/R`, { recursive: true });
  const prepared = await run("prepare", suite, "--out", "R/run.json");
  if (prepared.code !== 0) return prepared;
  const { workflows } = JSON.parse(Deno.readTextFileSync(`${cwd}/R/run.json`)) as {
    workflows: readonly WrittenWorkflow[];
  };
  const has = (role: string) => workflows.some((workflow) => workflow.role === role);
  const piece = async (share: string, ...choice: string[]) => {
    Deno.mkdirSync(`${cwd}/R/${share}`);
    const files = [
      ...["--inputs", "R", "--outputs", `R/${share}/outputs.json`],
      ...["--report", `ndjson=R/${share}/events.ndjson`],
    ];
    return await run(suite, "--run", "R/run.json", ...choice, ...files);
  };
  const setup = has("setup") ? await piece("setup", "--setup") : undefined;
  if (!setup || setup.code === 0) {
    const files = workflows.filter(({ role }) => role === undefined)
      .map(({ workflow }) => workflow.file);
    const choices = shards === undefined
      ? files.map((file) => ["--only", file])
      : Array.from({ length: shards }, (_, at) => ["--shard", `${at + 1}/${shards}`]);
    for (const [at, choice] of choices.toReversed().entries()) await piece(`w${at}`, ...choice);
  }
  if (has("teardown")) await piece("teardown", "--teardown");
  return await run(
    ...["report", "merge", "R/run.json", "R"],
    ...FORMATS.flatMap((format) => ["--report", `${format}=pieces.${format}`]),
  );
}
