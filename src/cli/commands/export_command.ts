import { refuseFailing } from "../../check/refuse_run.ts";
import { EXPORTERS } from "../../spread/engines/registry.ts";
import { shellWord } from "../../spread/engines/exported.ts";
import { makeTasks, readSplit } from "../../spread/engines/tasks.ts";
import { evaluateKnownVars } from "../../plan/evaluate_vars.ts";
import { makePlan } from "../../plan/make_plan.ts";
import { jobHint, matchJobs } from "../../plan/select_jobs.ts";
import { addSecretsOf, addSecretValue, makeMasker } from "../../secrets/add_secrets.ts";
import { VARIABLE } from "../../run/failure/explain_nil.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { UsageError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import { filesOf, relativeTo } from "../../workflow/files_of.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { Document } from "../../workflow/model.ts";
import { checkChoice } from "../args/parse_flags.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { refuseExisting, writeTextFile } from "../write_text_file.ts";
import { logLevel, printWarnings } from "../messages/warnings.ts";
import { VERSION } from "../version.ts";

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
  const out = values.get("out");
  if (switches.has("force") && out === undefined) {
    throw new UsageError("--force requires --out", "give a file to write: --out FILE");
  }
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
  const level = await logLevel(host.env, switches);
  const load = await exporter.load();
  const more = {
    ...{ command: commandOf(engine, path, invocation), file: path, secrets, version: VERSION },
    ...image === undefined ? {} : { image },
  };
  const { isSuiteOf } = await import("../../suite/open_suite.ts");
  if (await isSuiteOf([path], host)) {
    const { outlineSuite } = await import("../inputs/outline_suite.ts");
    const { tasks, ...suite } = await outlineSuite(invocation, program);
    await write(load.exportJobs({ ...more, ...suite, tasks }), invocation, program);
    return 0;
  }
  if (values.has("shards")) {
    throw new UsageError(
      "option --shards divides a suite, and this is one workflow",
      "--split spreads the rounds of one of its jobs",
    );
  }
  const loaded = await loadWorkflow(path, host);
  const { workflow, warnings } = loaded;
  const lacking = exporter.namesVariables ? await lackingVariables(workflow.document, secrets) : [];
  await printWarnings([...warnings, ...lacking], level, program);
  const plan = await makePlan(workflow, host.env.all(), evaluateKnownVars);
  if (!switches.has("no-check")) await refuseFailing(loaded, plan, host, { isExport: true });
  const split = readSplit(lists.get("split") ?? [], (name) => {
    const [job] = matchJobs(plan.jobs, name);
    if (job) return job;
    throw new UsageError(`option --split: unknown job "${name}"`, jobHint(plan.jobs, name));
  });
  const masker = makeMasker([host.env.all(), ...program.secrets]);
  addSecretsOf(plan.vars, masker);
  for (const value of plan.secrets) addSecretValue(value, masker);
  const files = filesOf(plan.workflow.document, plan.workflow.jobs);
  const directory = path.split(",")[0]!.replace(/[^/\\]*$/, "");
  const text = load.exportJobs({
    ...more,
    name: workflow.name,
    mounted: path.split(",").map((file) => relativeTo(directory, file)).join(","),
    files: files.map((file) => ({ ...file, name: relativeTo(directory, file.name) })),
    tasks: makeTasks(plan, {
      split,
      groupsChains: values.get("group") !== "none",
      mask: (name) => masker.mask(name),
    }),
    ...plan.jobs.some(({ job }) => job.isCleanup) ? { last: "--finally" } : {},
  });
  await write(text, invocation, program);
  return 0;
}

/** Variables that engines set themselves. */
const OF_EVERY_TASK = /^(?:GITHUB_|RUNNER_|CI$|HOME$|PATH$)/;

/** Warns of vars that are a variable, and have no other value, which the tasks would not get. */
async function lackingVariables(
  document: Document,
  secrets: readonly string[],
): Promise<readonly Diagnostic[]> {
  const { value } = document;
  const vars = isDict(value) && isDict(value.vars) ? value.vars : {};
  const positions = await document.positions();
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

async function write(
  text: string,
  { values, switches }: Invocation,
  { host }: Program,
): Promise<void> {
  const out = values.get("out");
  if (out === undefined) {
    host.stdout.write(text);
    return;
  }
  if (!switches.has("force")) await refuseExisting(out, host);
  await writeTextFile(out, text, host);
}

/** The command without what says where its output goes. */
function commandOf(
  engine: string,
  path: string,
  { values, lists }: Invocation,
): readonly string[] {
  const more = ["split", "secret"].flatMap((name) =>
    (lists.get(name) ?? []).flatMap((value) => [`--${name}`, value])
  );
  const single = ["group", "image", "shards"].flatMap((name) => {
    const value = values.get(name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  return ["runner", "export", engine, path, ...more, ...single];
}
