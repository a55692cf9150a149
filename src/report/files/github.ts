import type { Host, Output } from "../../host/host.ts";
import type { Failure, StepTally, StepTree } from "../../run/event.ts";
import type { Change } from "../record.ts";
import {
  type Annotation,
  MAX_ANNOTATIONS,
  pathsFromRoot,
  renderAnnotation,
} from "../../base/text/github_command.ts";
import { cutLine } from "../../base/text/display_width.ts";
import { suiteTitle } from "../text/layout.ts";
import { failedKinds } from "../text/render_rounds.ts";
import { oneLine, printable } from "../../base/text/printable.ts";
import { failureText } from "./details.ts";
import { isOfThreshold } from "./cases.ts";

const WIDEST_TITLE = 200;

/** Failures of one step at one place; only the first is shown, since a repeat has many. */
interface Finding extends Annotation {
  times: number;
}

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
  const add: AddFailures = (title, failures, known = false, times = 1) => {
    const shown = failures.filter(({ kind }) => kind !== "embedded");
    if (shown.length === 0) return;
    const level = known ? "notice" as const : "error" as const;
    const finding = { ...findingOf(title, shown, fromRoot), level, times };
    const same = found.find((other) => isSame(other, finding));
    if (same) same.times += times;
    else if (found.length < MAX_ANNOTATIONS) found.push(finding);
    else leftOut += times;
  };
  let isSuite = false;
  return (change: Change) => {
    const { type } = change.event;
    if (type.startsWith("suite_")) isSuite = true;
    findFailures(change, add);
    // Before the text of the report, which may hold names from outside.
    if (type === (isSuite ? "suite_started" : "run_started")) return `::stop-commands::${token}\n`;
    if (type !== (isSuite ? "suite_finished" : "run_finished")) return "";
    return `::${token}::\n` + found.map(renderFinding).join("") + leftOutLine(leftOut);
  };
}

type AddFailures = (
  title: string,
  failures: readonly Failure[],
  known?: boolean,
  times?: number,
) => void;

/** Finds what failed according to an event. */
function findFailures({ event, run, job, step }: Change, add: AddFailures): void {
  if (!run || !job) return;
  const title = (run.suite ? `${suiteTitle(run)} › ` : "") + job.name;
  if (step) addStep(step, title, add);
  if (event.type === "rounds_tallied") {
    for (const step of event.steps) addRounds(step, title, add);
  } else if (event.type === "job_finished") {
    const { failures, known } = event;
    // Each threshold has its own line of the file.
    for (const failure of failures.filter(({ field }) => isOfThreshold(field))) {
      add(title, [failure], known);
    }
    add(title, failures.filter(({ field }) => !isOfThreshold(field)), known);
  }
}

function addStep({ result, inside }: StepTree, around: string, add: AddFailures): void {
  const title = `${around} › ${result.name}`;
  if (result.known) return add(`${title}: known failure`, result.failures, true);
  if (result.state !== "failed") return;
  for (const step of inside) addStep(step, title, add);
  add(title, result.failures);
}

function addRounds(step: StepTally, around: string, add: AddFailures): void {
  const { otherFailures, inside } = step;
  for (const [index, { first: { result }, count }] of failedKinds(step).entries()) {
    const title = `${around} › ${result.name}`;
    if (index === 0) { for (const step of inside) addRounds(step, title, add); }
    add(title, result.failures, false, index === 0 ? count + otherFailures : count);
  }
}

function findingOf(
  title: string,
  failures: readonly Failure[],
  fromRoot: (path: string) => string,
): Finding {
  const location = failures.find((failure) => failure.place)?.place;
  return {
    level: "error",
    title: cutLine(oneLine(printable(title)), WIDEST_TITLE),
    message: failureText(failures),
    times: 1,
    location: location && { ...location, file: fromRoot(location.file) },
  };
}

function isSame(one: Finding, other: Finding): boolean {
  return one.title === other.title && one.location?.file === other.location?.file &&
    one.location?.line === other.location?.line && one.location?.column === other.location?.column;
}

function renderFinding({ times, ...annotation }: Finding): string {
  if (times === 1) return renderAnnotation(annotation);
  const message = `failed ${times} times, first:\n${annotation.message}`;
  return renderAnnotation({ ...annotation, message });
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
