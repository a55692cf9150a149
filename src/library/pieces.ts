import type { RunEvent } from "../run/event.ts";
import { planOf } from "./handles.ts";
import type { Plan } from "./types.ts";

/** The options for preparing a run on several machines. */
export interface PrepareOptions {
  /** The id of the run: letters, digits, `.`, `_` and `-`; a random one without it. */
  readonly id?: string;
  /** The key that seals secret vars: at least 32 bytes, the same for all processes of the run. */
  readonly key?: string;
}

/**
 * Makes the text of a run file, with which `run(plan, { given: { runFile, only: [JOB] } })` and
 * `runner --run FILE --only JOB` run jobs of a plan in processes of their own. Throws `RunnerError` if vars are secret and `key` is missing.
 *
 * @example Prepare a run
 * ```ts ignore
 * import { loadWorkflow, makePlan, prepareRun } from "@runner/runner";
 *
 * const plan = await makePlan(await loadWorkflow("flow.yml"));
 * await Deno.writeTextFile("run.json", await prepareRun(plan));
 * ```
 */
export async function prepareRun(plan: Plan, options: PrepareOptions = {}): Promise<string> {
  const { model, given } = planOf(plan);
  const { id = crypto.randomUUID(), key } = options;
  const { renderRunFile } = await import("../spread/run_file.ts");
  const { makeSeal } = await import("../spread/seal.ts");
  const { addSecretsOf, addSecretValue, makeMasker } = await import("../secrets/add_secrets.ts");
  const { VERSION } = await import("../cli/version.ts");
  const secrets = makeMasker(given);
  addSecretsOf(model.vars, secrets);
  for (const value of model.secrets) addSecretValue(value, secrets);
  const seal = key === undefined ? undefined : await makeSeal(key);
  return await renderRunFile(model, { id, version: VERSION, created: Date.now(), secrets, seal });
}

/**
 * Makes the events of several processes those of one, for a report of all of them: of all shards of
 * a suite, or, where `runFile` is given, of all pieces of a run. Throws `RunnerError` where a shard
 * is missing or torn, and where events are of something else; a piece that is missing fails its job.
 *
 * @example Merge the events of two shards
 * ```ts ignore
 * import { makeReport, mergeEvents, readEvents } from "@runner/runner";
 *
 * const read = async (file: string) => await readEvents(await Deno.readTextFile(file), file);
 * const events = await mergeEvents([await read("1.ndjson"), await read("2.ndjson")]);
 * const report = await makeReport("junit");
 * console.log(events.map(report).join(""));
 * ```
 */
export async function mergeEvents(
  parts: readonly Iterable<RunEvent>[],
  runFile?: string,
): Promise<RunEvent[]> {
  const files = parts.map((events, at) => {
    const kept = [...events];
    return { file: `part ${at + 1}`, events: () => kept };
  });
  const { mergeFiles } = await import("../spread/merge_files.ts");
  const named = runFile === undefined ? undefined : { file: "the run file", text: runFile };
  return [...(await mergeFiles(files, named)).events];
}
