import type { PieceHeader, PiecePart } from "../run/event.ts";
import type { JobOutcome } from "../run/run_options.ts";
import { RunnerError } from "../base/errors.ts";
import type { Masker } from "../secrets/masker.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import { isPart } from "./read_header.ts";
import { type NamedText, readJsonFile } from "./read_json_file.ts";
import type { Seal } from "./seal.ts";
import { type Opening, openValues, sealValues } from "./sealed_values.ts";

const SCHEMA = "runner.outputs/1";
const HINT = "such a file is written by: runner <workflow_file> --run FILE --outputs FILE";

/** The results that a piece passes to later ones. */
export interface PieceOutputs {
  /** Its path, for messages. */
  readonly file: string;
  /** The id of the run. */
  readonly run: string;
  /** SHA-256 of the files of the workflow. */
  readonly workflow: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly part?: PiecePart;
  /** The outcomes of its jobs, by their ids. */
  readonly jobs: Readonly<Record<string, PieceOutcome>>;
  /** The outputs of their steps, by the ids of the steps. */
  readonly outputs: Readonly<Record<string, Dict>>;
  /** Of steps of repeated jobs, the round that this is of. */
  readonly rounds: Readonly<Record<string, number>>;
}

/** The outcome of a job, as others must know it. */
export interface PieceOutcome extends JobOutcome {
  /** The number of its failed steps. */
  readonly failed: number;
}

/** The text of an outputs file. Throws RunnerError where outputs are secret and cannot be sealed. */
export async function renderOutputsFile(
  header: PieceHeader,
  { jobs, outputs, rounds }: Pick<PieceOutputs, "jobs" | "outputs" | "rounds">,
  { secrets, seal }: { readonly secrets: Masker; readonly seal: Seal | undefined },
): Promise<string> {
  const { run, workflow, created, part } = header;
  const written = await sealValues(outputs, {
    secrets,
    seal,
    purpose: purposeOf(run, header.jobs, part),
    what: "outputs",
  });
  const document = {
    schema: SCHEMA,
    run,
    workflow,
    created,
    ...part ? { part } : {},
    jobs,
    outputs: written.values,
    ...Object.keys(rounds).length === 0 ? {} : { rounds },
    ...written.more,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** Sealed values of one piece do not open as those of another. */
function purposeOf(run: string, jobs: readonly string[], part: PiecePart | undefined): string {
  return `${run} outputs ${jobs.toSorted().join(" ")} ${part?.index ?? 1}/${part?.of ?? 1}`;
}

/** Reads an outputs file. Throws RunnerError. */
export async function readOutputsFile(
  source: NamedText,
  opening: Opening,
): Promise<PieceOutputs> {
  const { file } = source;
  const fields = readJsonFile(source, SCHEMA, "outputs file", HINT);
  const fail = (what: string): never => {
    throw new RunnerError(`'${file}' is not a valid outputs file: ${what}`, HINT);
  };
  const jobs = fields.map("jobs");
  for (const outcome of Object.values(jobs)) {
    if (isDict(outcome) && /^(passed|failed|skipped)$/.test(String(outcome.state))) continue;
    fail('"jobs" has an entry without state');
  }
  const run = fields.text("run");
  const part: unknown = fields.optionalMap("part");
  if (part !== undefined && !isPart(part)) return fail('invalid "part"');
  const purpose = purposeOf(run, Object.keys(jobs), part);
  const outputs = await openValues(fields.map("outputs"), fields, opening, { file, purpose });
  for (const [id, values] of Object.entries(outputs)) {
    if (!isDict(values)) fail(`the outputs of "${id}" are not a map`);
  }
  return {
    file,
    run,
    workflow: fields.text("workflow"),
    created: fields.number("created"),
    ...part ? { part } : {},
    jobs: jobs as unknown as PieceOutputs["jobs"],
    outputs: outputs as PieceOutputs["outputs"],
    rounds: (fields.optionalMap("rounds") ?? {}) as Readonly<Record<string, number>>,
  };
}
