import type { Action } from "../action/action.ts";
import { exampleStep } from "../action/example_step.ts";
import type { Completion } from "./completion.ts";
import type { KnownActions } from "./format.ts";
import { describeAction } from "./hover.ts";

/** The action of a step, with the rest of the step in lines of their own. */
export function snippetOf(
  action: Action,
  isFirst: boolean,
): Pick<Completion, "insert" | "isSnippet"> {
  const [, ...lines] = stepLines(action);
  const indent = isFirst ? "\n  " : "\n";
  return { insert: [action.name, ...lines].join(indent), isSnippet: true };
}

/** Whole steps. */
export function stepSnippets(known: KnownActions): readonly Completion[] {
  return [...known.actions.values()].map((action) => ({
    label: `uses: ${action.name}`,
    kind: "snippet",
    detail: action.summary,
    documentation: describeAction(action),
    insert: stepLines(action).join("\n  "),
    isSnippet: true,
  }));
}

/** Whole jobs. */
export function jobSnippets(known: KnownActions): readonly Completion[] {
  const [action] = known.actions.values();
  if (!action) return [];
  const [first, ...rest] = stepLines(action, 2);
  const lines = ["name: $1", "steps:", `  - ${first}`, ...rest.map((line) => `    ${line}`)];
  return [{
    label: "job",
    kind: "snippet",
    detail: "a job with a step",
    insert: lines.join("\n  "),
    isSnippet: true,
  }];
}

/** The lines of a step: its action, the parameters of its example, and a test. */
function stepLines(action: Action, from = 1): readonly string[] {
  let slot = from;
  const [first, ...lines] = exampleStep(action).slice("- ".length).split("\n");
  return [first!, ...lines.map((line) => withSlot(line.slice("  ".length), () => slot++))];
}

/** A line with its value as a text to fill in, which stays if it is not. */
function withSlot(line: string, next: () => number): string {
  const [, key = "", value] = /^(\s*[\w-]+: )([^{|>[].*)$/.exec(line) ?? [];
  const escaped = (value ?? line).replace(/[$}\\]/g, "\\$&");
  return value === undefined ? escaped : `${key}\${${next()}:${escaped}}`;
}
