import type { Dict, Value } from "../base/value/value.ts";
import { literalText } from "../openapi/make/literal.ts";
import { indent } from "../openapi/make/render_workflow.ts";
import type { Draft, DraftStep } from "./draft.ts";

/** The text of a workflow file. `head` are the lines of its first comment. */
export function renderDraft(
  { name, vars, jobs, notes, isSequence }: Draft,
  head: readonly string[],
  print: (value: unknown) => string,
): string {
  const parts = [
    comment(head) + notTranslated(notes) + print({ name }),
    ...Object.keys(vars).length === 0 ? [] : [print({ vars })],
    "jobs:\n" + jobs.map(({ name, steps, keys, notes = [] }, index) =>
      indent(
        notTranslated(notes) +
          print([{
            name: literalText(name),
            ...isSequence && jobs.length > 1 ? placeOf(index) : {},
            ...keys,
          }]) + "  steps:\n" +
          steps.map((step) => indent(renderStep(step, print), 4)).join("\n"),
        2,
      )
    ).join("\n"),
  ];
  return parts.join("\n");
}

/** The keys that make a job wait for the previous one, however that ends. */
function placeOf(index: number): Readonly<Record<string, Value>> {
  const after: Dict = index === 0 ? {} : { needs: [`part_${index}`], when: "always" };
  return { id: `part_${index + 1}`, ...after };
}

/** The number of parts that could not be translated. */
export function countNotes({ notes, jobs }: Draft): number {
  return notes.length + jobs.reduce(
    (sum, { notes = [], steps }) =>
      sum + notes.length + steps.reduce((sum, step) => sum + step.notes.length, 0),
    0,
  );
}

function renderStep({ data, notes }: DraftStep, print: (value: unknown) => string): string {
  return notTranslated(notes) + print([data]);
}

function notTranslated(notes: readonly string[]): string {
  return comment(notes.map((note) => `Not translated: ${note}`));
}

/** A control character in a comment would make the file unreadable. */
function comment(lines: readonly string[]): string {
  return lines.map((line) => `# ${line.replace(/\p{C}+/gu, " ")}\n`).join("");
}
