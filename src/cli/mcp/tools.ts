import type { ZodObject } from "zod";
import { RunnerError, UsageError } from "../../base/errors.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import { printYaml } from "../../base/yaml/print_yaml.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";
import { runOptions } from "../default_command.ts";
import type { Printed, Unsaved } from "./sandbox.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** What a tool needs of its call. */
interface ToolCall {
  readonly run: (args: readonly string[], unsaved?: Unsaved) => Promise<Printed>;
  readonly readFile: (path: string) => Promise<string>;
  /** Keeps the report of a run as a resource. */
  readonly keep: (report: string) => void;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: ZodObject;
  /** Whether it runs and writes nothing. */
  readonly isReadOnly?: true;
  /** Throws RunnerError for what could not be done. */
  readonly answer: (args: Arguments, call: ToolCall) => Promise<string>;
}

/** The name of a workflow that is given as text. */
const UNSAVED = "unsaved.yml";

const OPTIONS = runOptions(
  ...["var", "var-file", "env-file", "only", "no-needs", "skip", "tags", "fail-fast", "strict"],
  ...["jobs", "workers", "load", "no-check", "seed", "snapshot", "update-snapshots", "openapi"],
  ...["min-coverage", "report", "cleanup-timeout", "cacert", "cert", "key", "insecure"],
);

/** The tools that assistants call; most of them are commands. */
export async function loadTools(): Promise<readonly Tool[]> {
  const { z } = await import("zod");
  const text = (meaning: string) => z.string().optional().describe(meaning);
  const workflow = {
    file: text("A workflow file; also several joined by commas, a directory or a pattern"),
    text: text("The text of a workflow, in place of a file"),
  };
  const out = text("A new file for the workflow; without it, the answer is the workflow");
  const isOption = new RegExp(`^--(?:${OPTIONS.map(({ name }) => name).join("|")})(?:=|$)`);
  const options = z.array(z.string().regex(isOption, "an option such as --only=job")).optional()
    .describe(
      OPTIONS.map(({ name, value, isValueOptional, summary }) =>
        `--${name}${value === undefined || isValueOptional ? "" : `=${value}`}: ${summary}`
      ).join("\n"),
    );
  return [
    {
      name: "check",
      description: "Find mistakes in workflows and run nothing: each with its place and its cure",
      input: z.strictObject({
        ...workflow,
        strict: z.boolean().optional().describe("Treat warnings as errors"),
      }),
      isReadOnly: true,
      async answer({ strict, ...args }, { run }) {
        const { file, unsaved } = workflowOf(args);
        const printed = await run(["check", ...strict ? ["--strict"] : [], "--", file], unsaved);
        // What is wrong in a file begins with its place; a file that is missing has none.
        return outputOf(printed, printed.stderr === "" || /:\d+:\d+: \w+: /.test(printed.stdout));
      },
    },
    {
      name: "run",
      description: "Run workflows. The first line says whether they passed; then what failed, " +
        "from the JSON report, which is a resource as a whole. Snapshots are compared and never " +
        "written, unless --snapshot=write or --update-snapshots says so",
      input: z.strictObject({ ...workflow, options }),
      async answer({ options, ...args }, call) {
        const { file, unsaved } = workflowOf(args);
        const { report, printed } = await runToReport(file, options, call, unsaved);
        const verdict = printed.code === 0 ? "passed" : "FAILED";
        const lines = [`${verdict} in ${formatElapsed(report.duration)}`, printed.stderr.trim()];
        return [...lines.filter(Boolean), renderData(failedPart(report))].join("\n");
      },
    },
    {
      name: "list",
      description: "List the jobs and steps of workflows with their ids, and run nothing",
      input: z.strictObject({
        file: text(`${workflow.file.description}; by default all workflows here`),
      }),
      isReadOnly: true,
      answer: async ({ file = "." }, { run }) =>
        outputOf(await run(["--list", "--no-github", "--", String(file)])),
    },
    {
      name: "explain",
      description: "Explain a key, action, parameter, function, option, command, page of the " +
        "docs, or the first line of an error message",
      input: z.strictObject({ word: z.string().describe("http, retry, --only, or the line") }),
      isReadOnly: true,
      async answer({ word }, { run }) {
        const [line = ""] = String(word).trim().split("\n");
        // What a message quotes is of the file, and no page has it.
        const general = line.replace(/^.*?\b(?:error|warning): /, "").replace(/"[^"]*"/g, "");
        return outputOf(await run(["help", "--", general.trim() || line]));
      },
    },
    {
      name: "new_from_curl",
      description: "Make a workflow of curl commands; secrets in them become environment variables",
      input: z.strictObject({
        command: z.string().regex(/^\s*curl\s/, 'it begins with "curl "'),
        out,
      }),
      answer: async ({ command, out }, { run }) =>
        madeOf(await run(["new", "--from=curl", ...outOf(out), "--", String(command).trim()])),
    },
    {
      name: "generate",
      description: "Make a workflow of an OpenAPI description, with a step for each operation",
      input: z.strictObject({
        openapi: z.string().describe("The file of the description, in YAML or JSON"),
        workflow: text("A workflow of this description: make only the operations that it lacks"),
        out,
      }),
      answer: async ({ openapi, workflow, out }, { run }) =>
        madeOf(await run(["gen", ...outOf(out), "--", ...[openapi, workflow ?? []].flat() as []])),
    },
    {
      name: "actual",
      description: "Carry out one step, without its test, and show its req and res: write the " +
        "test from these. No other step runs: what it needs of them has to be in the text",
      input: z.strictObject({
        text: text('The step in YAML, such as "uses: http\\nwith: { get: https://example.com }"'),
        file: text("In place of the text: the workflow file of the step"),
        id: text("With file: the id or the name of the step"),
        options,
      }),
      async answer({ options, ...args }, call) {
        const step = await findStep(args, call);
        const { report } = await runToReport(step.path, options, call, step);
        const { failures, exchange, responseTime } = report.jobs[0].steps[0];
        const reasons = failures.flatMap(({ message, hint = [] }: Arguments) => [message, hint]);
        const { req, res } = exchange ?? {};
        return [...reasons.flat(), renderData({ req, res, milliseconds: responseTime })].join("\n");
      },
    },
  ];
}

function workflowOf({ file, text }: Arguments): { file: string; unsaved?: Unsaved } {
  if ((file === undefined) === (text === undefined)) {
    throw new UsageError("a workflow is missing, or there are two", 'give either "file" or "text"');
  }
  if (text === undefined) return { file: String(file) };
  return { file: UNSAVED, unsaved: { path: UNSAVED, text: String(text) } };
}

function outOf(out: unknown): readonly string[] {
  return out === undefined ? [] : [`--out=${out}`];
}

/** What a command has printed. Throws RunnerError if it was not carried out. */
function outputOf({ code, stdout, stderr }: Printed, isDone = code === 0): string {
  if (!isDone) throw new RunnerError(stderr || stdout);
  return stdout;
}

/** A workflow or the file that it was written to, and what was not translated. */
function madeOf(printed: Printed): string {
  return `${outputOf(printed)}\n${printed.stderr}`.trim();
}

/** Runs workflows to their JSON report. Throws RunnerError if they cannot be run. */
async function runToReport(
  file: string,
  options: unknown,
  { run, keep }: ToolCall,
  unsaved?: Unsaved,
) {
  const given = (options ?? []) as readonly string[];
  const isWriting = given.some((option) => /^--(?:update-)?snapshot/.test(option));
  const fixed = ["--report=json=-", "--no-github", ...isWriting ? [] : ["--snapshot=check"]];
  const printed = await run([...fixed, ...given, "--", file], unsaved);
  if (printed.code === undefined) throw new RunnerError(printed.stderr);
  keep(printed.stdout);
  return { report: JSON.parse(printed.stdout), printed };
}

/** Parts of a report that say nothing about a failure. */
const LEFT_OUT = new Set([
  ...["schema", "units", "runId", "tool", "origin", "vars", "warnings", "started", "plan", "needs"],
  ...["attempts", "assertions", "tally", "step", "phases", "instant", "view", "brief"],
]);

/** A report without what passed. */
function failedPart(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((one) => !/^(?:passed|skipped|untested|allowed)$/.test(one?.state))
      .map(failedPart);
  }
  if (!isDict(value as Value)) return value;
  const entries = Object.entries(value as Arguments).filter(([key]) => !LEFT_OUT.has(key));
  // Some have data of the user.
  const isData = (key: string) => /^(?:req|res|failures|totals)$/.test(key);
  return Object.fromEntries(
    entries.map(([key, one]) => [key, isData(key) ? one : failedPart(one)]),
  );
}

/** The longest text, and the longest list, that are shown. */
const [MOST_CHARACTERS, MOST_ITEMS] = [2000, 20];

function renderData(data: unknown): string {
  const cut = (_: string, value: unknown) => {
    if (typeof value === "string" && value.length > MOST_CHARACTERS) {
      return `${value.slice(0, MOST_CHARACTERS)}… (of ${value.length} characters)`;
    }
    if (!Array.isArray(value) || value.length <= MOST_ITEMS) return value;
    return [...value.slice(0, MOST_ITEMS), `… (of ${value.length} items)`];
  };
  return JSON.stringify(data, cut, 1);
}

/** A workflow of one step alone, without what judges it. */
async function findStep({ text, file, id }: Arguments, { readFile }: ToolCall): Promise<Unsaved> {
  const { file: name, unsaved } = workflowOf({ text, file });
  const { value } = await readYaml([{ name, text: unsaved?.text ?? await readFile(name) }]);
  const workflow = unsaved ? { jobs: [{ steps: [value].flat() }] } : value;
  const { jobs, vars } = isDict(workflow) ? workflow : {};
  for (const { steps, finally: cleanup, defaults } of [jobs].flat().filter(isDict)) {
    for (const step of [steps, cleanup].flat().filter(isDict)) {
      if (!unsaved && step.id !== id && step.name !== id) continue;
      const { uses, with: params, vars: own, timeout } = step;
      const alone = { name: "actual", uses, with: params, vars: own, timeout };
      const job = { name: "actual", defaults, steps: [alone] };
      const whole = JSON.parse(JSON.stringify({ name: "actual", vars, jobs: [job] }));
      const [directory] = /^.*[\\/]|/s.exec(name)!;
      return { path: `${directory}${UNSAVED}`, text: printYaml(whole) };
    }
  }
  if (unsaved) throw new UsageError("the text is not a step", "write its keys: uses, with");
  throw new UsageError(`no step of '${file}' has the id or name "${id}"`, "list shows the ids");
}
