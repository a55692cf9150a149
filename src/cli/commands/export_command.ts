import { countOf } from "../../base/text/count_of.ts";
import { positionsOf } from "../../base/yaml/positions.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { UsageError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import type { Host } from "../../host/host.ts";
import type { Plan, PlannedJob } from "../../plan/plan.ts";
import { jobHint, matchJobs } from "../../plan/select_jobs.ts";
import { VARIABLE } from "../../run/failure/explain_nil.ts";
import { addSecretsOf, addSecretValue, makeMasker } from "../../secrets/find_secrets.ts";
import { MAX_PARTS } from "../../spread/piece_events.ts";
import { shellWord } from "../../base/text/shell_word.ts";
import type { Exported } from "../../spread/engines/exported.ts";
import { EXPORTERS } from "../../spread/engines/registry.ts";
import { makeSuiteTasks, makeTasks } from "../../spread/engines/tasks.ts";
import { loadPlan, type PlanOptions } from "../../suite/load_plan.ts";
import { loadSuite } from "../../suite/load_suite.ts";
import { openOperands } from "../../suite/open_suite.ts";
import type { OpenSuite } from "../../suite/suite.ts";
import { filesOf, relativeTo } from "../../workflow/files_of.ts";
import type { Document } from "../../workflow/model.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { checkChoice } from "../command_line.ts";
import { refuseOptions } from "../run/read_run.ts";
import { printWarnings } from "../messages.ts";
import { readCount } from "../option_values.ts";
import { logLevel } from "../output_mode.ts";
import { VERSION } from "../version.ts";
import { printWritten, refuseExisting, writeTextFile } from "../write_text_file.ts";

/** What an exported file says about a workflow or a suite. */
type Outline = Pick<Exported, "name" | "mounted" | "files" | "tasks" | "last">;

/** Writes the file with which an engine runs the jobs of a workflow on machines of its own. */
export async function exportCommand(
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { operands, values, lists, switches } = invocation;
  const { host } = program;
  const [engine = "", path] = operands;
  checkChoice("the engine", engine, EXPORTERS.map(({ name }) => name));
  if (path === undefined) throw new UsageError("<workflow_file> is missing");
  const exporter = EXPORTERS.find(({ name }) => name === engine)!;
  const image = values.get("image");
  if (exporter.needsImage && image === undefined) {
    throw new UsageError(`--image is missing: ${engine} runs everything in containers`);
  }
  const secrets = lists.get("secret") ?? [];
  for (const name of secrets) {
    if (/^[A-Za-z_]\w*$/.test(name)) continue;
    throw new UsageError(`option --secret must be the name of a variable, not ${shellWord(name)}`);
  }
  const options: PlanOptions = {
    environment: host.env.all(),
    isOutline: true,
    check: switches.has("no-check") ? undefined : { isExport: true },
  };
  const opened = await openOperands([path], host);
  refuseOptions("suite" in opened ? "suite" : "workflow", { ...invocation, operands: [path] });
  let outline: Outline;
  if ("suite" in opened) {
    outline = await outlineSuite(opened.suite, path, options, invocation, host);
  } else {
    const level = logLevel(host.env, switches);
    const { document } = opened.workflow;
    const lacking = exporter.namesVariables && document ? lackingVariables(document, secrets) : [];
    const warn = (found: readonly Diagnostic[]) => printWarnings(found, level, program);
    const plan = await loadPlan(opened.workflow, host, { ...options, warn });
    warn(lacking);
    outline = outlineWorkflow(plan, path, invocation, program);
  }
  const { exportJobs } = await exporter.load();
  const command = commandOf(engine, path, invocation);
  const text = exportJobs({ command, file: path, secrets, version: VERSION, image, ...outline });
  const out = values.get("out");
  if (out === undefined) host.stdout.write(text);
  else {
    if (!switches.has("force")) await refuseExisting(out, host);
    await writeTextFile(out, text, host);
    const tasks = countOf(outline.tasks.length, "task");
    printWritten(out, tasks, exporter.next(shellWord(out)), logLevel(host.env, switches), host);
  }
  return 0;
}

function outlineWorkflow(
  plan: Plan,
  path: string,
  { lists, values }: Invocation,
  { host, secrets }: Program,
): Outline {
  const split = readSplit(lists.get("split") ?? [], (name) => {
    const [job] = matchJobs(plan.jobs, name);
    if (job) return job;
    throw new UsageError(`option --split: unknown job "${name}"`, jobHint(plan.jobs, name));
  });
  const masker = makeMasker([host.env.all(), ...secrets]);
  addSecretsOf(plan.vars, masker);
  for (const value of plan.secrets) addSecretValue(value, masker);
  const files = filesOf(plan.workflow.document, plan.workflow.jobs);
  const directory = path.split(",")[0]!.replace(/[^/\\]*$/, "");
  return {
    name: plan.workflow.name,
    mounted: path.split(",").map((file) => relativeTo(directory, file)).join(","),
    files: files.map((file) => ({ ...file, name: relativeTo(directory, file.name) })),
    tasks: makeTasks(plan, {
      split,
      groupsChains: values.get("group") !== "none",
      mask: (name) => masker.mask(name),
    }),
    last: plan.jobs.some(({ job }) => job.isCleanup) ? "--finally" : undefined,
  };
}

/** The tasks and the files of a suite. Throws LoadError and UsageError. */
async function outlineSuite(
  open: OpenSuite,
  path: string,
  options: PlanOptions,
  { values }: Invocation,
  host: Host,
): Promise<Outline> {
  const count = values.get("shards");
  const shards = count === undefined
    ? undefined
    : readCount(count, "shards", "a suite has at most 256 shards");
  if (shards !== undefined && shards > MAX_PARTS) {
    throw new UsageError(`option --shards must be at most ${MAX_PARTS}, not ${shards}`);
  }
  const { suite } = await loadSuite(open, host, options);
  const { setup, workflows, teardown } = suite;
  const sources = [...setup, ...workflows, ...teardown]
    .flatMap(({ plan: { workflow } }) => filesOf(workflow.document, workflow.jobs));
  if (open.path !== undefined) {
    sources.unshift({ name: path, text: (await readTextFile(path, host, "suite file")).text });
  }
  // Files are mounted relative to the suite file, or else to the current directory.
  const root = open.path === undefined ? "" : path.replace(/[^/\\]*$/, "");
  const files = new Map(sources.map(({ name, text }) => {
    const file = relativeTo(root, name);
    return [file, { name: file, text }];
  }));
  return {
    name: suite.name ?? path,
    mounted: relativeTo(root, path),
    files: [...files.values()],
    tasks: makeSuiteTasks({
      workflows: workflows.map(({ path, plan }) => ({ path, name: plan.workflow.name })),
      hasSetup: setup.length > 0,
      shards,
    }),
    last: teardown.length > 0 ? "--teardown" : undefined,
  };
}

/** Variables that engines set themselves. */
const OF_EVERY_TASK = /^(?:GITHUB_|RUNNER_|CI$|HOME$|PATH$)/;

/** Warns of vars whose only value is an environment variable that the tasks do not get. */
function lackingVariables(
  document: Document,
  secrets: readonly string[],
): readonly Diagnostic[] {
  const { value } = document;
  const vars = isDict(value) && isDict(value.vars) ? value.vars : {};
  const positions = positionsOf(document);
  return Object.entries(vars).flatMap(([name, text]) => {
    const [, variable] = typeof text === "string" ? VARIABLE.exec(text) ?? [] : [];
    if (variable === undefined || secrets.includes(variable) || OF_EVERY_TASK.test(variable)) {
      return [];
    }
    return {
      severity: "warning",
      code: "export",
      message: `the tasks do not get the environment variable ${variable}`,
      hint: `add --secret ${variable}, or give a default: {{${variable} ?? …}}`,
      span: positions.locate(["vars", name]),
    };
  });
}

/** The command without the options for its output. */
function commandOf(
  engine: string,
  path: string,
  { values, lists }: Invocation,
): readonly string[] {
  const listed = ["split", "secret"].flatMap((name) =>
    (lists.get(name) ?? []).flatMap((value) => [`--${name}`, value])
  );
  const single = ["group", "image", "shards"].flatMap((name) => {
    const value = values.get(name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  return ["runner", "export", engine, path, ...listed, ...single];
}

/** Reads `load=8`, several times. Throws UsageError. */
function readSplit(
  texts: readonly string[],
  find: (job: string) => PlannedJob,
): ReadonlyMap<string, number> {
  return new Map(texts.map((text) => {
    const [, job, count] = /^(.+)=(\d{1,4})$/s.exec(text) ?? [];
    const parts = Number(count);
    if (job === undefined || parts < 2 || parts > MAX_PARTS) {
      throw new UsageError(
        `option --split must be a job and 2 to ${MAX_PARTS} parts, not "${text}"`,
        "write --split load=8",
      );
    }
    return [find(job).job.id, parts];
  }));
}
