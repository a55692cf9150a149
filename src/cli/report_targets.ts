import type { Environment } from "../host/host.ts";
import type { FileFormat } from "../report/files/file_format.ts";
import type { ReportTarget } from "../report/files/open_files.ts";
import { FILE_FORMATS, GITHUB_SUMMARY } from "../report/files/registry.ts";
import { UsageError } from "../source/errors.ts";
import { didYouMean } from "../source/suggest.ts";
import type { Invocation } from "./command.ts";

/** What `--report`, `--report-dir` and the environment ask for. Throws `UsageError`. */
export function reportTargets(invocation: Invocation, env: Environment): ReportTarget[] {
  const { lists, values, switches } = invocation;
  const asked = (lists.get("report") ?? []).flatMap(splitList).map(readTarget);
  const folder = values.get("report-dir");
  const targets = [...asked, ...folder === undefined ? [] : targetsIn(folder)];
  const github = FILE_FORMATS.find(({ name }) => name === "github")!;
  const isAsked = targets.some(({ format }) => format === github);
  if (switches.has("no-github")) {
    if (isAsked) throw new UsageError("--report github and --no-github exclude each other");
  } else if (isAsked || env.get("GITHUB_ACTIONS") === "true") {
    if (!isAsked) targets.push({ format: github });
    const path = env.get("GITHUB_STEP_SUMMARY");
    if (path) targets.push({ format: GITHUB_SUMMARY, path, appends: true });
  }
  checkDistinct(targets);
  return targets;
}

function targetsIn(folder: string): ReportTarget[] {
  const path = folder.replace(/(?<=.)\/+$/, "");
  return FILE_FORMATS.flatMap((format) =>
    format.file === undefined ? [] : [{ format, path: `${path}/${format.file}` }]
  );
}

/** A comma ends a report where another one begins behind it; paths may hold commas. */
function splitList(text: string): string[] {
  return text.split(/,(?=[a-z]+=|github\b)|(?<=^github),/);
}

function readTarget(text: string): ReportTarget {
  const end = text.indexOf("=");
  const name = end < 0 ? text : text.slice(0, end);
  const format = findFormat(name);
  const path = end < 0 ? "" : text.slice(end + 1);
  const { file } = format;
  if (file === undefined) {
    if (end < 0) return { format };
    throw new UsageError(`--report ${name} takes no path`, "it prints to the log of the build");
  }
  if (path === "") {
    throw new UsageError(
      `--report ${name} needs a path`,
      `--report ${name}=${file}, or ${name}=- for standard output`,
    );
  }
  return { format, path };
}

function findFormat(name: string): FileFormat {
  const format = FILE_FORMATS.find((one) => one.name === name);
  if (format) return format;
  const names = FILE_FORMATS.map((one) => one.name);
  throw new UsageError(
    `there is no report format "${name}"`,
    didYouMean(name, names) ?? `the formats are ${names.join(", ")}`,
  );
}

function checkDistinct(targets: readonly ReportTarget[]): void {
  const taken = new Map<string, FileFormat>();
  for (const { path, format } of targets) {
    if (path === undefined) continue;
    const other = taken.get(path);
    if (other) {
      const where = path === "-" ? "standard output" : `'${path}'`;
      throw new UsageError(`two reports go to ${where}: ${other.name} and ${format.name}`);
    }
    taken.set(path, format);
  }
}
