import type { Host, Output } from "../../host/host.ts";
import type { Failure, RunEvent } from "../../run/event.ts";
import {
  type Annotation,
  MOST_ANNOTATIONS,
  pathsFromRoot,
  renderAnnotation,
} from "../../source/github_command.ts";
import { cutLine } from "../text/fit_lines.ts";
import { type StepTree, StepTrees } from "../model/step_trees.ts";
import { oneLine } from "../text/text_lines.ts";
import { printable } from "../../source/printable.ts";
import { failureText } from "./details.ts";
import type { RenderEvent } from "./file_format.ts";

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
export function makeGithubReport({ env, files }: Host): RenderEvent {
  const token = crypto.randomUUID();
  const fromRoot = pathsFromRoot(files.workingFolder(), env.get("GITHUB_WORKSPACE"));
  const found: Finding[] = [];
  let leftOut = 0;
  const jobNames = new Map<string, string>();
  const add = (title: string, failures: readonly Failure[]) => {
    const own = failures.filter(({ kind }) => kind !== "embedded");
    if (own.length === 0) return;
    const finding = findingOf(title, own, fromRoot);
    const same = found.find((other) => isSame(other, finding));
    if (same) same.times++;
    else if (found.length < MOST_ANNOTATIONS) found.push(finding);
    else leftOut++;
  };
  const trees = new StepTrees();
  const addStep = ({ result, inside }: StepTree, around: string) => {
    if (result.state !== "failed") return;
    const title = `${around} › ${result.name}`;
    for (const step of inside) addStep(step, title);
    add(title, result.failures);
  };
  return (event: RunEvent) => {
    switch (event.type) {
      case "run_started":
        for (const { id, name } of event.jobs) jobNames.set(id, name);
        // Before the text of the report, which may hold names from outside.
        return `::stop-commands::${token}\n`;
      case "step_finished": {
        const step = trees.finish(event);
        if (step) addStep(step, jobNames.get(event.run.job) ?? event.run.job);
        return "";
      }
      case "step_retried":
        trees.retry(event.run);
        return "";
      case "job_finished":
        add(event.name, event.failures);
        return "";
      case "run_finished":
        return `::${token}::\n` + found.map(renderFinding).join("") + leftOutLine(leftOut);
      default:
        return "";
    }
  };
}

function findingOf(
  title: string,
  failures: readonly Failure[],
  fromRoot: (path: string) => string,
): Finding {
  const place = failures.find((failure) => failure.place)?.place;
  return {
    level: "error",
    title: cutLine(oneLine(printable(title)), WIDEST_TITLE),
    message: failureText(failures),
    times: 1,
    ...place ? { place: { ...place, file: fromRoot(place.file) } } : {},
  };
}

function isSame(one: Finding, other: Finding): boolean {
  return one.title === other.title && one.place?.file === other.place?.file &&
    one.place?.line === other.place?.line && one.place?.column === other.place?.column;
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
 * An output beside that of the report, in which nothing is a command: of two outputs nobody knows
 * in which order they are read, so that switching commands off in one of them is not enough.
 */
export function withoutCommands(output: Output): Output {
  return { ...output, write: (text) => output.write(text.replace(COMMAND, "$&\u200b")) };
}

/** What GitHub takes for the beginning of a command: the latter anywhere in a line. */
const COMMAND = /^\s*:(?=:)|##(?=\[)/gm;
