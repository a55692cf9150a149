import type { JobData, StepData, WorkflowData } from "./workflow_data.ts";
import type { Yaml } from "../read/resolve_references.ts";

/** The text of a workflow file; `origin` is the name of the description. */
export function renderWorkflow(workflow: WorkflowData, origin: string, yaml: Yaml): string {
  const { name, vars, jobs } = workflow;
  return [
    renderHead(workflow, origin),
    yaml.print({ name }),
    "\n",
    yaml.print({ vars }),
    "\njobs:\n",
    jobs.map((job) => renderJob(job, yaml)).join("\n"),
  ].join("");
}

function renderHead({ environment, jobs }: WorkflowData, origin: string): string {
  const vars = jobs.flatMap(({ steps }) => steps.flatMap((step) => Object.values(step.vars ?? {})));
  const lines = [
    // A control character in a comment would make the file unreadable.
    `Made by "runner gen" from ${origin.replace(/\p{C}/gu, "?")}.`,
    `Set in the environment: ${environment.join(", ")}.`,
    ...(vars.includes(null) ? ["Parameters whose value is null are not sent."] : []),
  ];
  return lines.map((line) => `# ${line}\n`).join("");
}

function renderJob({ head, steps }: JobData, yaml: Yaml): string {
  const text = yaml.print([head]) + "  steps:\n" +
    steps.map((step) => indent(renderStep(step, yaml), 4)).join("\n");
  return indent(text, 2);
}

function renderStep(step: StepData, yaml: Yaml): string {
  return yaml.print([step]);
}

/** A text that much further to the right; empty lines stay empty. */
export function indent(text: string, columns: number): string {
  return text.replace(/^(?=[^\n])/gm, " ".repeat(columns));
}
