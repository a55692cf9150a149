import type { Host, Output } from "../../host/host.ts";
import type { Failure, RunEvent, StepTally, StepTree } from "../../run/event.ts";
import { StepTrees } from "../../run/step_trees.ts";
import {
  type Annotation,
  MAX_ANNOTATIONS,
  pathsFromRoot,
  renderAnnotation,
} from "../../base/text/github_command.ts";
import { cutLine } from "../text/lines.ts";
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
export function makeGithubReport({ env, files }: Host): (event: RunEvent) => string {
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
  const runs = new Map<string, (event: RunEvent) => void>();
  let isSuite = false;
  return (event: RunEvent) => {
    const isWhole = event.type.startsWith("suite_");
    if (isWhole) isSuite = true;
    // Before the text of the report, which may hold names from outside.
    const begins = event.type === "suite_started" || event.type === "run_started" && !isSuite;
    if (!isWhole) {
      let take = runs.get(event.runId);
      if (!take) runs.set(event.runId, take = findFailures(add));
      take(event);
    }
    if (event.type === "run_finished") runs.delete(event.runId);
    if (begins) return `::stop-commands::${token}\n`;
    const ends = event.type === "suite_finished" || event.type === "run_finished" && !isSuite;
    if (!ends) return "";
    return `::${token}::\n` + found.map(renderFinding).join("") + leftOutLine(leftOut);
  };
}

type AddFailures = (
  title: string,
  failures: readonly Failure[],
  known?: boolean,
  times?: number,
) => void;

/** Finds what failed in one run. */
function findFailures(add: AddFailures): (event: RunEvent) => void {
  const names = new Map<string, string>();
  let prefix = "";
  const trees = new StepTrees();
  const addStep = ({ result, inside }: StepTree, around: string) => {
    if (result.known) {
      return add(`${around} › ${result.name}: known failure`, result.failures, true);
    }
    if (result.state !== "failed") return;
    const title = `${around} › ${result.name}`;
    for (const step of inside) addStep(step, title);
    add(title, result.failures);
  };
  const addRounds = (step: StepTally, around: string) => {
    const { otherFailures, inside } = step;
    for (const [index, { first: { result }, count }] of failedKinds(step).entries()) {
      const title = `${around} › ${result.name}`;
      if (index === 0) { for (const step of inside) addRounds(step, title); }
      add(title, result.failures, false, index === 0 ? count + otherFailures : count);
    }
  };
  const jobOf = (id: string) => prefix + (names.get(id) ?? id);
  return (event) => {
    const ended = trees.take(event);
    if (ended) addStep(ended, jobOf(ended.run.job));
    switch (event.type) {
      case "run_started":
        if (event.suite) prefix = `${suiteTitle(event)} › `;
        for (const { id, name } of event.jobs) names.set(id, name);
        return;
      case "rounds_tallied":
        for (const step of event.steps) addRounds(step, jobOf(event.job));
        return;
      case "job_finished":
        // Each threshold has its own line of the file.
        for (const failure of event.failures.filter(({ field }) => isOfThreshold(field))) {
          add(prefix + event.name, [failure], event.known);
        }
        return add(
          prefix + event.name,
          event.failures.filter(({ field }) => !isOfThreshold(field)),
          event.known,
        );
    }
  };
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
    ...location ? { location: { ...location, file: fromRoot(location.file) } } : {},
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
