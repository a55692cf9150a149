import { makeSuiteTasks, type Task } from "../../spread/engines/tasks.ts";
import { MOST_PARTS } from "../../spread/choose_piece.ts";
import { evaluateKnownVars } from "../../plan/evaluate_vars.ts";
import { makePlan } from "../../plan/make_plan.ts";
import { LoadError, UsageError } from "../../base/errors.ts";
import type { Source } from "../../base/source.ts";
import { openSuite } from "../../suite/open_suite.ts";
import { outputsOfSetup, planMembers } from "../../suite/plan_suite.ts";
import type { SuiteFile } from "../../suite/suite.ts";
import { filesOf, relativeTo } from "../../workflow/files_of.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import type { Invocation, Program } from "../command.ts";
import { readCount } from "./prepare_run.ts";

/** What an exported file must know of a suite. */
interface SuiteOutline {
  readonly name: string;
  readonly mounted: string;
  readonly files: readonly Source[];
  readonly tasks: readonly Task[];
  readonly last?: "--teardown";
}

/** Finds the tasks and the files of a suite. Throws LoadError and UsageError. */
export async function outlineSuite(
  { operands: [, path = ""], values, lists, switches }: Invocation,
  { host }: Program,
): Promise<SuiteOutline> {
  for (const name of ["split", "group"]) {
    if (!lists.has(name) && !values.has(name)) continue;
    throw new UsageError(
      `option --${name} is about the jobs of one workflow, and '${path}' is a suite`,
      "--shards says over how many tasks the workflows of a suite are spread",
    );
  }
  const shards = readCount(values.get("shards"), "shards", "a suite has at most 256 shards");
  if (shards !== undefined && shards > MOST_PARTS) {
    throw new UsageError(`option --shards must be at most ${MOST_PARTS}, not ${shards}`);
  }
  const suite = await openSuite([path], host);
  const environment = host.env.all();
  const found = await suite.findFiles(environment);
  const check = switches.has("no-check")
    ? undefined
    : { isExport: true, outputs: await outputsOfSetup(found.setup, host) };
  const load = async (files: readonly SuiteFile[]) => {
    const members = await planMembers(files, host, {
      check,
      plan: (workflow) => makePlan(workflow, environment, evaluateKnownVars),
    });
    return members.map((member) => {
      if (member.kind === "refused") throw member.refusal;
      return member;
    });
  };
  const [setup, workflows, teardown] = [
    await load(found.setup),
    await load(found.workflows),
    await load(found.teardown),
  ];
  if (workflows.length === 0) throw new LoadError("the suite has no workflows", []);
  const sources = [...setup, ...workflows, ...teardown]
    .flatMap(({ plan: { workflow } }) => filesOf(workflow.document, workflow.jobs));
  if (suite.path !== undefined) {
    sources.unshift({ name: path, text: (await readTextFile(path, host, "suite file")).text });
  }
  // A suite file is mounted beside its workflows, a directory or a pattern from where it was named.
  const root = suite.path === undefined ? "" : path.replace(/[^/\\]*$/, "");
  const files = new Map(sources.map(({ name, text }) => {
    const file = relativeTo(root, name);
    return [file, { name: file, text }];
  }));
  return {
    name: found.name ?? path,
    mounted: relativeTo(root, path),
    files: [...files.values()],
    tasks: makeSuiteTasks({
      workflows: workflows.map(({ path, plan }) => ({ path, name: plan.workflow.name })),
      hasSetup: setup.length > 0,
      ...shards === undefined ? {} : { shards },
    }),
    ...teardown.length > 0 ? { last: "--teardown" } : {},
  };
}
