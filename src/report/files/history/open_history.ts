import type { Host } from "../../../host/host.ts";
import type { StagedFile } from "../../../host/staged_file.ts";
import type { RunRecord, SuiteRecord } from "../run_record.ts";
import { type History, historyRun, subjectOf } from "./history.ts";
import {
  type HistoryFile,
  historyFileName,
  readHistoryFile,
  renderHistoryFile,
} from "./history_file.ts";

/** Runs that a history remembers of each workflow or suite. */
const MOST_RUNS = 50;

/** A directory of earlier runs, to which a run is about to be added. */
export interface OpenHistory {
  readonly path: string;
  /** What is in the directory and is not the file of a run. */
  readonly foreign: readonly string[];
  /** The earlier runs of the same workflow or suite, and this one. */
  readonly with: (records: readonly RunRecord[], suite: SuiteRecord | undefined) => History;
  /** Writes the file of the run. Throws as Deno does. */
  readonly add: (records: readonly RunRecord[], suite: SuiteRecord | undefined) => void;
  /** Removes runs that are too old, of the same workflow or suite. */
  readonly prune: () => Promise<void>;
  readonly discard: () => void;
}

interface KnownFile extends HistoryFile {
  readonly path: string;
}

/** Reads the earlier runs and checks that another one can be added. Throws as Deno does. */
export async function openHistory(path: string, { files, clock }: Host): Promise<OpenHistory> {
  const directory = path.replace(/(?<=.)\/+$/, "");
  // First, so that a permission that is missing is about the directory, not about a new name.
  const { known, foreign } = await readAll(directory, files);
  const file: StagedFile = await files.stage(`${directory}/${historyFileName(clock.now())}`);
  const ofSubject = (subject: string) => known.filter((one) => one.subject === subject);
  let old: readonly KnownFile[] = [];
  return {
    path: directory,
    foreign,
    with(records, suite) {
      const earlier = ofSubject(subjectOf(records, suite)).map(({ run }) => run);
      return [...earlier, historyRun(records, suite)].slice(-MOST_RUNS);
    },
    add(records, suite) {
      const subject = subjectOf(records, suite);
      file.write(renderHistoryFile({ subject, run: historyRun(records, suite) }));
      file.commit();
      old = ofSubject(subject).slice(0, 1 - MOST_RUNS);
    },
    async prune() {
      for (const { path } of old) await files.remove(path);
    },
    discard: () => file.discard(),
  };
}

async function readAll(
  directory: string,
  files: Host["files"],
): Promise<{ readonly known: readonly KnownFile[]; readonly foreign: readonly string[] }> {
  const known: KnownFile[] = [];
  const foreign: string[] = [];
  // Names that begin with a dot are none of ours, and `.gitkeep` is there on purpose.
  const names = (await files.list(directory) ?? []).filter((name) => !name.startsWith("."));
  for (const name of names) {
    const path = `${directory}/${name}`;
    const read = await readOne(path, files);
    if (read === "gone") continue;
    if (read) known.push({ ...read, path });
    else foreign.push(name);
  }
  known.sort((a, b) => a.run.started - b.run.started);
  return { known, foreign };
}

/** Another run may remove an old file at the same time. */
async function readOne(
  path: string,
  files: Host["files"],
): Promise<HistoryFile | "gone" | undefined> {
  if (!path.endsWith(".json")) return undefined;
  try {
    return readHistoryFile(new TextDecoder().decode(await files.read(path)));
  } catch (error) {
    return error instanceof Error && error.name === "NotFound" ? "gone" : undefined;
  }
}
