import { checkSplittable } from "../choose_piece.ts";
import { namesOf } from "../run_file.ts";
import type { Plan, PlannedJob } from "../../plan/plan.ts";
import { RunnerError } from "../../base/errors.ts";
import { titleOfJob, writtenId } from "../../workflow/step_facts.ts";

/** One task of an engine: a process, or several that share its rounds or its workflows. */
export interface Task {
  /** Its id, in characters that every engine accepts. */
  readonly id: string;
  readonly name: string;
  /** The options that choose what it runs. */
  readonly choice: readonly string[];
  /** The name of the workflow that it runs, of a suite. */
  readonly workflow?: string;
  /** The tasks that it waits for. */
  readonly needs: readonly Task[];
  /** All tasks that it depends on, directly or not. */
  readonly ancestors: readonly Task[];
  /** Over how many processes it is spread. */
  readonly parts: number;
  /** The option that gives a process its share, such as `--rounds 2/8`. */
  readonly share: "--rounds" | "--shard";
  /** It starts although a need failed: it decides by the outcomes that it is given. */
  readonly startsAnyway: boolean;
}

/** Over how many tasks jobs are spread, and whether tasks are chains of jobs. */
interface TaskOptions {
  /** Numbers of parts by the ids of jobs. */
  readonly split: ReadonlyMap<string, number>;
  readonly groupsChains: boolean;
  /** Takes secrets out of the names of jobs. */
  readonly mask: (name: string) => string;
}

/** The tasks that engines run, each after those that it needs. Throws RunnerError. */
export function makeTasks({ jobs }: Plan, options: TaskOptions): readonly Task[] {
  const working = jobs.filter(({ job }) => !job.isCleanup);
  checkSplit(working, options.split);
  const groups = joinMatrices(
    options.groupsChains ? chainsOf(working, options.split) : working.map((job) => [job]),
  );
  const ids = new Set(RESERVED);
  const tasks = new Map<PlannedJob, Task>();
  const make = (group: readonly PlannedJob[]): Task => {
    const [first] = group;
    const known = tasks.get(first!);
    if (known) return known;
    const needs = first!.needs.map((need) => make(groups.find((other) => other.includes(need))!));
    const ancestors = new Set(needs.flatMap((need) => [...need.ancestors, need]));
    const parts = options.split.get(first!.job.id) ?? 1;
    const task: Task = {
      id: uniqueId(idOfTask(group), parts, ids),
      name: options.mask(nameOfTask(group)),
      choice: isMatrix(group)
        ? ["--only", writtenId(first!.job)]
        : group.flatMap(({ job }) => ["--only", job.id]),
      needs: [...new Set(needs)],
      ancestors: [...ancestors],
      parts,
      share: "--rounds",
      startsAnyway: first!.job.when !== undefined,
    };
    for (const job of group) tasks.set(job, task);
    return task;
  };
  groups.forEach(make);
  return inOrderOfNeeds([...new Set(tasks.values())]);
}

/** Whether something that it depends on starts although a need failed. */
export function dependsOnAny({ ancestors }: Task): boolean {
  return ancestors.some(({ startsAnyway }) => startsAnyway);
}

function inOrderOfNeeds(tasks: readonly Task[]): readonly Task[] {
  const ordered = new Set<Task>();
  const add = (task: Task) => {
    if (ordered.has(task)) return;
    task.needs.forEach(add);
    ordered.add(task);
  };
  tasks.forEach(add);
  return [...ordered];
}

/**
 * A job and the only job that it needs are one chain where nothing else needs that one: they gain
 * nothing from two machines.
 */
function chainsOf(
  jobs: readonly PlannedJob[],
  split: ReadonlyMap<string, number>,
): readonly (readonly PlannedJob[])[] {
  const dependents = new Map<PlannedJob, PlannedJob[]>();
  for (const job of jobs) {
    for (const need of job.needs) dependents.set(need, [...dependents.get(need) ?? [], job]);
  }
  const next = (job: PlannedJob): PlannedJob | undefined => {
    const [only, ...others] = dependents.get(job) ?? [];
    if (!only || others.length > 0 || only.needs.length > 1 || only.job.when) return undefined;
    return [job, only].some((each) => split.has(each.job.id)) ? undefined : only;
  };
  const followers = new Set(jobs.flatMap((job) => next(job) ?? []));
  return jobs.filter((job) => !followers.has(job)).map((head) => {
    const chain = [head];
    for (let job = next(head); job; job = next(job)) chain.push(job);
    return chain;
  });
}

/** Of a matrix that limits its jobs, one process runs all: tasks do not know of each other. */
function joinMatrices(
  groups: readonly (readonly PlannedJob[])[],
): readonly (readonly PlannedJob[])[] {
  const joined = Map.groupBy(groups, ([first]) => {
    const { id, matrix, combination } = first!.job;
    return combination && (matrix?.parallel || matrix?.failFast) ? combination.of.id : id;
  });
  return [...joined.values()].map((same) => same.flat());
}

function isMatrix(group: readonly PlannedJob[]): boolean {
  const [first, second] = group;
  return first?.job.combination !== undefined && second?.job.combination !== undefined &&
    writtenId(first.job) === writtenId(second.job);
}

function idOfTask(group: readonly PlannedJob[]): string {
  const { job } = group[0]!;
  if (isMatrix(group)) return writtenId(job);
  return job.combination ? job.id.replace(/[^A-Za-z0-9-]+/g, "-").replace(/-$/, "") : job.id;
}

function nameOfTask(group: readonly PlannedJob[]): string {
  const names = group.map(({ name }) => name);
  return isMatrix(group) ? `${names[0]} and ${names.length - 1} more` : names.join(", ");
}

function checkSplit(jobs: readonly PlannedJob[], split: ReadonlyMap<string, number>): void {
  for (const [id] of split) {
    const { job } = jobs.find(({ job }) => job.id === id)!;
    checkSplittable(job);
    const expect = job.load?.expect;
    const dependent = jobs.find(({ needs }) => needs.some(({ job }) => job.id === id));
    if (expect && dependent) {
      throw new RunnerError(
        `the rounds of "${titleOfJob(job)}" cannot be split: "${
          titleOfJob(dependent.job)
        }" needs ` +
          "it, and its expect is evaluated once all parts are merged",
      );
    }
  }
}

/** The workflows of a suite, and what comes before them. */
interface SuiteOutline {
  readonly workflows: readonly { readonly path: string; readonly name: string }[];
  readonly hasSetup: boolean;
  /** Over how many tasks the workflows are spread; one for each without it. */
  readonly shards?: number;
}

/** The tasks of a suite: setup, and then all workflows at once. */
export function makeSuiteTasks({ workflows, hasSetup, shards }: SuiteOutline): readonly Task[] {
  const ids = new Set([...RESERVED, "setup"]);
  const common = { parts: 1, share: "--shard", startsAnyway: false } as const;
  const setup: Task[] = hasSetup
    ? [{
      ...common,
      ...{ id: "setup", name: "Setup", choice: ["--setup"], needs: [], ancestors: [] },
    }]
    : [];
  const after = { ...common, needs: setup, ancestors: setup };
  if (shards !== undefined) {
    const choice = shards === 1 ? ["--shard", "1/1"] : [];
    return [...setup, { ...after, id: "workflows", name: "Workflows", choice, parts: shards }];
  }
  const names = namesOf(workflows.map(({ path }) => path));
  const tasks = workflows.map(({ path, name }, at) => ({
    ...after,
    id: uniqueId(path.replace(/\.(ya?ml|json)$/i, ""), 1, ids),
    name,
    choice: ["--only", names[at]!],
    workflow: names[at]!,
  }));
  return [...setup, ...tasks];
}

/**
 * Ids that mean something else: our own tasks and artifacts, templates of Argo, and keywords of
 * GitLab.
 */
const RESERVED: readonly string[] = [
  ...["runner-prepare", "runner-report", "run", "out", "report", "graph", "pieces", "junit"],
  ...["image", "services", "stages", "types", "before_script", "after_script", "variables"],
  ...["cache", "include", "default", "workflow", "pages", "spec", "true", "false", "nil", "null"],
];

/** Longer ids are refused by some engines. */
const LONGEST_ID = 60;

/** Engines allow fewer characters than we do. The ids of parts end in their numbers. */
function uniqueId(id: string, parts: number, taken: Set<string>): string {
  const plain = id.replace(/[^A-Za-z0-9-]/g, "-").replace(/^(?![A-Za-z])/, "job-")
    .slice(0, LONGEST_ID);
  for (let number = 1;; number++) {
    const candidate = (number === 1 ? plain : `${plain}-${number}`).toLowerCase();
    const all = [candidate];
    for (let part = 1; parts > 1 && part <= parts; part++) {
      all.push(`${candidate}-${part}`, `${candidate}-part-${part}`);
    }
    if (all.some((name) => taken.has(name))) continue;
    for (const name of all) taken.add(name);
    return number === 1 ? plain : `${plain}-${number}`;
  }
}
