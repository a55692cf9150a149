import type { Host, Output } from "../../host/host.ts";
import { failedByThemselves, type FailedPart, failedParts } from "../failed_parts.ts";
import { type CauseNames, causeNames, describeOthers, groupByCause } from "../causes.ts";
import type { Change, JobRecord, RunRecord } from "../record.ts";
import {
  type Annotation,
  MAX_ANNOTATIONS,
  pathsFromRoot,
  renderAnnotation,
} from "../../base/text/github_command.ts";
import { cutLine } from "../../base/text/display_width.ts";
import { suiteTitle } from "../text/layout.ts";
import { oneLine, printable } from "../../base/text/printable.ts";
import { failureText } from "./details.ts";
import { isOfThreshold } from "./cases.ts";

const WIDEST_TITLE = 200;

/** Failures of one step at one place; only the first is shown, since a repeat has many. */
interface Finding extends Annotation, CauseNames {
  times: number;
}

/** Failures of more places are counted. */
const MAX_FOUND = 1000;

/**
 * Annotations for GitHub Actions: each failure at its line of the workflow file.
 *
 * GitHub takes any line of the log that begins with `::` for a command, also one that a server
 * under test has sent, so commands are switched off while the run goes on.
 */
export function makeGithubReport({ env, files }: Host): (change: Change) => string {
  const token = crypto.randomUUID();
  const fromRoot = pathsFromRoot(files.workingDirectory(), env.get("GITHUB_WORKSPACE"));
  const found: Finding[] = [];
  let leftOut = 0;
  const add = (run: RunRecord, part: FailedPart) => {
    const finding = findingOf(run, part, fromRoot);
    const same = found.find((other) => isSame(other, finding));
    if (same) same.times += finding.times;
    else if (found.length < MAX_FOUND) found.push(finding);
    else leftOut += finding.times;
  };
  let isSuite = false;
  return ({ event: { type }, run, job }: Change) => {
    if (type.startsWith("suite_")) isSuite = true;
    if (type === "job_finished" && run && job) {
      for (const part of failedByThemselves(partsOf(job))) add(run, part);
    }
    // Before the text of the report, which may hold names from outside.
    if (type === (isSuite ? "suite_started" : "run_started")) return `::stop-commands::${token}\n`;
    if (type !== (isSuite ? "suite_finished" : "run_finished")) return "";
    const groups = groupByCause(found);
    for (const { times } of groups.slice(MAX_ANNOTATIONS).flat()) leftOut += times;
    return `::${token}::\n` + groups.slice(0, MAX_ANNOTATIONS).map(renderGroup).join("") +
      leftOutLine(leftOut);
  };
}

/** The failed parts of a job; each threshold has its own line of the file. */
function partsOf(job: JobRecord): FailedPart[] {
  return failedParts(job).flatMap((part) => {
    const thresholds = part.step ? [] : part.failures.filter(({ field }) => isOfThreshold(field));
    const others = part.failures.filter((failure) => !thresholds.includes(failure));
    const split = [...thresholds.map((one) => [one]), ...others.length > 0 ? [others] : []];
    return split.map((failures) => ({ ...part, failures }));
  });
}

function findingOf(
  run: RunRecord,
  part: FailedPart,
  fromRoot: (path: string) => string,
): Finding {
  const { title, failures, allowFailure, step, count } = part;
  const around = run.suite ? `${suiteTitle(run)} › ` : "";
  const shown = failures.filter(({ kind }) => kind !== "embedded");
  const location = shown.find((failure) => failure.place)?.place;
  const remark = allowFailure && step ? ": allowed failure" : "";
  return {
    level: allowFailure ? "notice" : "error",
    title: cutLine(oneLine(printable(around + title + remark)), WIDEST_TITLE),
    message: failureText(shown),
    times: count,
    ...allowFailure ? {} : causeNames(part, run.id),
    location: location && { ...location, file: fromRoot(location.file) },
  };
}

function isSame(one: Finding, other: Finding): boolean {
  return one.title === other.title && one.location?.file === other.location?.file &&
    one.location?.line === other.location?.line && one.location?.column === other.location?.column;
}

/** The annotation of the first, with the names of the others. */
function renderGroup([first, ...others]: readonly [Finding, ...Finding[]]): string {
  const { level, title, times, location } = first;
  const message = [
    ...times === 1 ? [] : [`failed ${times} times, first:`],
    first.message,
    ...others.length === 0 ? [] : [describeOthers(others.map(({ title }) => title), title)],
  ].join("\n");
  return renderAnnotation({ level, title, message, location });
}

function leftOutLine(left: number): string {
  if (left === 0) return "";
  return `${left} more ${left === 1 ? "failure has" : "failures have"} no annotation\n`;
}

/**
 * Folds a part of the text behind its title in the log. These lines are what GitHub itself writes
 * into a log for `::group::`, so they fold where commands are switched off.
 */
export function foldInLog(title: string, text: string): string {
  return `##[group]${title}\n${text}##[endgroup]\n`;
}

/**
 * A second output beside that of the report, without workflow commands: the two are read in any
 * order, so it would not be enough to switch commands off in one of them.
 */
export function withoutCommands(output: Output): Output {
  return { ...output, write: (text) => output.write(text.replace(COMMAND, "$&\u200b")) };
}

/** Texts that begin a command for GitHub: the latter anywhere in a line. */
const COMMAND = /^\s*:(?=:)|##(?=\[)/gm;
