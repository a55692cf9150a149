import { join } from "@std/path/join";
import { pathDenial } from "../../action/permissions/rules.ts";
import type { Host } from "../../host/host.ts";
import { formatJson } from "../../base/value/format_value.ts";
import { MASK, type Masker } from "../../secrets/masker.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { isDict, plain, readField, type Value } from "../../base/value/value.ts";
import { withoutSecretNames } from "../../secrets/secrets.ts";
import { besideDocument } from "../../workflow/job_files/job_path.ts";
import type { Document, Job, Step, Workflow } from "../../workflow/model.ts";
import { snapshotName } from "../../workflow/decode/check_snapshots.ts";
import type { StepRun } from "../event.ts";
import type { RunExecution } from "../run_state.ts";

/** Returns the directory of a workflow's snapshots: beside it, with its name. */
export function snapshotDirectory({ name, ...rest }: Document): string {
  // Of joined files the first names the directory.
  const [first = name] = name.split(",");
  const file = first.split(/[\\/]/).at(-1)!.replace(/\.ya?ml$/i, "");
  return besideDocument(
    { ...rest, name: first, files: rest.files.slice(0, 1) },
    [],
    join("__snapshots__", file),
  );
}

/** Returns the name of a snapshot without the extension of its file. */
export function nameOfRun(run: StepRun, name: string | undefined): string {
  const steps = [];
  for (let one: StepRun | undefined = run; one; one = one.within) {
    const { id, step, round, entry } = one;
    const stepName = one === run ? name ?? id : id;
    steps.unshift({ id: nameOfOuter(stepName, step), round, entry });
  }
  return snapshotName(run.job, steps);
}

interface SnapshotFile {
  readonly path: string;
  /** Undefined where it is not JSON any more, for example after a merge. */
  readonly value: Value | undefined;
}

/** Reads a snapshot; undefined if it does not exist. */
export async function readSnapshot(
  { files }: Host,
  base: string,
): Promise<SnapshotFile | undefined> {
  for (const extension of EXTENSIONS) {
    const path = `${base}.${extension}`;
    if (!await files.isFile(path)) continue;
    const bytes = await files.read(path);
    const value = extension === "txt"
      ? withPlainLines(TEXT.decode(bytes))
      : tryParseJson(new TextDecoder().decode(bytes));
    return { path, value };
  }
  return undefined;
}

/** In a text, a byte order mark is a character like any other. */
const TEXT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Normalizes line ends; some programs end lines with `\r\r\n`. */
function withPlainLines(text: string): string {
  return text.replaceAll(/\r{1,8}\n/g, "\n");
}

/** The extensions of the files of snapshots. */
const EXTENSIONS = ["json", "txt"] as const;

/** Writes a snapshot in place of the one before it. */
export async function writeSnapshot(
  { files }: Host,
  base: string,
  value: Value,
): Promise<void> {
  const extension = extensionOf(value);
  const file = await files.stage(`${base}.${extension}`);
  try {
    file.write(typeof value === "string" ? value : `${formatJson(value, "  ")}\n`);
    file.commit();
  } finally {
    file.discard();
  }
  for (const other of EXTENSIONS) {
    if (other !== extension) await files.remove(`${base}.${other}`);
  }
}

export function extensionOf(value: Value): (typeof EXTENSIONS)[number] {
  return typeof value === "string" ? "txt" : "json";
}

/** A value as a snapshot may hold it: without secrets, and with the line ends of all systems alike. */
export function maskedValue(value: Value, secrets: Masker): Value {
  const mask = (part: Value): Value => {
    if (typeof part === "string") return withPlainLines(secrets.mask(part));
    if (typeof part === "number") {
      const text = String(part);
      // JSON has neither Infinity nor NaN.
      if (!Number.isFinite(part)) return text;
      return secrets.mask(text) === text ? part : MASK;
    }
    if (Array.isArray(part)) return part.map((item) => mask(plain(item)));
    if (!isDict(part)) return part;
    const out: Record<string, Value> = Object.create(null);
    const shown = withoutSecretNames(part, MASK);
    for (const key of Object.keys(shown)) {
      out[secrets.mask(key)] = mask(readField(shown, key) ?? null);
    }
    return out;
  };
  return mask(value);
}

/** Reports the snapshots that no step of a workflow names, or removes them. */
export async function reportOrphans(run: RunExecution, workflow: Workflow): Promise<void> {
  const { host } = run;
  const directory = snapshotDirectory(workflow.document);
  const names = await host.files.list(directory).catch(() => undefined) ?? [];
  const patterns = workflow.jobs.flatMap(patternsOf);
  for (const name of names) {
    const extension = EXTENSIONS.find((known) => name.endsWith(`.${known}`));
    if (!extension) continue;
    const bare = name.slice(0, -extension.length - 1);
    if (patterns.some((pattern) => pattern.test(bare))) continue;
    const path = `${directory}/${name}`;
    const text = run.snapshots === "prune"
      ? await remove(run, path)
      : `no step names the snapshot "${path}": --update-snapshots=all removes it`;
    run.note("warning", text);
  }
}

/** Removes a snapshot where that is allowed; gives what to say about it. */
async function remove({ host, options }: RunExecution, path: string): Promise<string> {
  const { permissions } = options;
  const refused = permissions && await pathDenial(permissions, "write", path, host);
  if (refused) {
    return `cannot remove the snapshot "${path}", which no step names: ${refused.message}`;
  }
  await host.files.remove(path);
  return `removed the snapshot "${path}", which no step names`;
}

/** Patterns for the names of the snapshots of a job. */
function patternsOf({ id, steps }: Job): readonly RegExp[] {
  return steps.flatMap((step) =>
    patternsIn(step, []).map((parts) => {
      const names = parts.map((part) =>
        `${escape(snapshotName(undefined, [{ id: part }]))}(\\.\\d+)*`
      );
      const job = snapshotName(id, []);
      return new RegExp(`^${job === "" ? "" : `${escape(job)}\\.`}${names.join("\\.")}$`, "i");
    })
  );
}

/** The names of a step with a snapshot and of the steps around it, and those of steps inside it. */
function patternsIn(step: Step, outer: readonly string[]): readonly (readonly string[])[] {
  const { snapshot, id, index, embedded } = step;
  const named = snapshot ? [[...outer, nameOfOuter(snapshot.name ?? id, index)]] : [];
  const around = [...outer, nameOfOuter(id, index)];
  const inside = embedded?.job.steps.flatMap((one) => patternsIn(one, around)) ?? [];
  return [...named, ...inside];
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The name of a step around another one, which may have no id. */
function nameOfOuter(id: string | undefined, step: number): string {
  return id ?? `step${step + 1}`;
}
