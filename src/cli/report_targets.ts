import { FILE_FORMATS } from "../report/files/registry.ts";
import type { FileFormat } from "../report/files/file_format.ts";
import type { ReportTarget } from "../report/files/open_files.ts";
import { UsageError } from "../source/errors.ts";
import { didYouMean } from "../source/suggest.ts";
import type { Invocation } from "./command.ts";

/** What `--report` and `--report-dir` ask for. Throws `UsageError`. */
export function reportTargets({ lists, values }: Invocation): ReportTarget[] {
  const asked = (lists.get("report") ?? []).flatMap(splitList).map(readTarget);
  const folder = values.get("report-dir");
  const all = folder === undefined ? [] : FILE_FORMATS.map((format) => ({
    format,
    path: `${folder.replace(/\/+$/, "")}/${format.file}`,
  }));
  const targets = [...asked, ...all];
  checkDistinct(targets);
  return targets;
}

/** A comma ends a report where another one begins behind it; paths may hold commas. */
function splitList(text: string): string[] {
  return text.split(/,(?=[a-z]+=)/);
}

function readTarget(text: string): ReportTarget {
  const end = text.indexOf("=");
  const name = end < 0 ? text : text.slice(0, end);
  const format = findFormat(name);
  const path = end < 0 ? "" : text.slice(end + 1);
  if (path === "") {
    throw new UsageError(
      `--report ${name} needs a path`,
      `--report ${name}=${format.file}, or ${name}=- for standard output`,
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
    const other = taken.get(path);
    if (other) {
      const where = path === "-" ? "standard output" : `'${path}'`;
      throw new UsageError(`two reports go to ${where}: ${other.name} and ${format.name}`);
    }
    taken.set(path, format);
  }
}
