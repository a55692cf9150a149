import type { Host } from "../host/host.ts";
import { LoadError, RunnerError } from "../base/errors.ts";
import { tryParseJson } from "../base/value/parse_json.ts";
import { isDict } from "../base/value/value.ts";
import { readTextFile } from "../workflow/read_files.ts";

/** Reads the times of workflows by path from a report of `json=`. Throws RunnerError. */
export async function readShardTimes(
  path: string,
  host: Host,
): Promise<ReadonlyMap<string, number>> {
  const { text } = await readTextFile(path, host, "report");
  host.files.addWritten(path);
  const runs = runsOf(text);
  if (!runs) {
    const hint = "--shard-times reads what --report json=FILE has written";
    throw new LoadError(`'${path}' is not a JSON report`, [], hint);
  }
  const times = new Map<string, number>();
  for (const run of runs) {
    if (!isDict(run) || !isDict(run.workflow) || run.role !== undefined) continue;
    const { file } = run.workflow;
    if (typeof file !== "string" || typeof run.duration !== "number") continue;
    times.set(file, (times.get(file) ?? 0) + run.duration);
  }
  if (times.size === 0) throw new RunnerError(`the report '${path}' has no workflows`);
  return times;
}

function runsOf(text: string): readonly unknown[] | undefined {
  const report = tryParseJson(text);
  if (!isDict(report)) return undefined;
  if (report.schema === "runner-report/1") return [report];
  return Array.isArray(report.runs) ? report.runs : undefined;
}
