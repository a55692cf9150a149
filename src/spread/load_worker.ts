import type { MessagePort } from "node:worker_threads";
import { makePlan } from "../plan/make_plan.ts";
import { type Plan, startsAlways } from "../plan/plan.ts";
import type { ApiCoverage } from "../base/value/api_coverage.ts";
import type { Dict } from "../base/value/value.ts";
import { Draws } from "../expr/draws.ts";
import { denoHost } from "../host/deno_host.ts";
import type { Host } from "../host/host.ts";
import { Cancellation } from "../run/cancellation.ts";
import type {
  BareEvent,
  Failure,
  LoadSecondFields,
  PiecePart,
  RoundTraced,
  RunEvent,
} from "../run/event.ts";
import { run } from "../run/run.ts";
import type { PreviousRun, RunOptions } from "../run/run_state.ts";
import { Masker } from "../secrets/masker.ts";
import { SHORTEST_SECRET } from "../secrets/secrets.ts";
import { loadDocument } from "../workflow/load_workflow.ts";
import type { Document, Job } from "../workflow/model.ts";
import { parseDocument, withDefaults } from "../workflow/read_files.ts";
import type { StepOutputs } from "../run/execute/outputs.ts";

/** The module that exports `serveLoad` to the worker: in a bundle, the whole program. */
export const WORKER_MODULE = import.meta.url;

/** The rounds of a load job that a worker is to run. */
export interface LoadTask {
  readonly document: Pick<Document, "name" | "files" | "defaults">;
  readonly job: string;
  readonly part: PiecePart;
  readonly seed: string;
  readonly vars: Dict;
  readonly needs: Dict;
  /** Of steps of other workflows, and of this one. */
  readonly visible: StepOutputs;
  readonly outputs: readonly (readonly [stepId: string, values: Dict])[];
  readonly previous: PreviousRun | undefined;
  readonly secrets: readonly string[];
  readonly options: Pick<
    RunOptions,
    | "load"
    | "strict"
    | "permissions"
    | "tls"
    | "openapi"
    | "cleanupTimeout"
    | "snapshots"
    | "trace"
    | "detail"
  >;
}

/** A message to a worker. */
export type LoadOrder =
  | { readonly type: "run"; readonly task: LoadTask }
  | { readonly type: "begin"; readonly at: number }
  /** As the run is interrupted, or begins nothing new. */
  | { readonly type: "cancel" | "drain"; readonly reason: string };

/** A message from a worker. */
export type LoadReport =
  | { readonly type: "ready" }
  | { readonly type: "second"; readonly second: LoadSecondFields }
  | { readonly type: "round"; readonly round: BareEvent<RoundTraced> }
  | { readonly type: "warning"; readonly text: string }
  | LoadDone
  | { readonly type: "broken"; readonly message: string; readonly hint?: string | undefined };

interface LoadDone {
  readonly type: "done";
  readonly hasFailed: boolean;
  /** Why the job failed, but for its rounds. */
  readonly failures: readonly Failure[];
  readonly coverage: readonly ApiCoverage[];
  /** Whether there were random values. */
  readonly hasDrawn: boolean;
}

/** Runs a share of the rounds of a load job, when the program asks for it. */
export function serveLoad(port: MessagePort): void {
  const [cancellation, draining] = [new Cancellation(), new Cancellation()];
  const begins = Promise.withResolvers<number>();
  const host = denoHost();
  const tell = (report: LoadReport) => port.postMessage(report);
  const begin = async () => {
    tell({ type: "ready" });
    const at = await begins.promise;
    const { promise, resolve } = Promise.withResolvers<void>();
    host.clock.after(Math.max(0, at - host.clock.now()), resolve);
    await promise;
    return at;
  };
  const stop = (which: Cancellation, reason: string) => {
    which.cancel(reason);
    begins.resolve(host.clock.now());
  };
  const serve = async (task: LoadTask) => {
    try {
      const options = { ...task.options, cancellation, draining };
      tell(await runTask(task, host, { tell, begin, options }));
    } catch (error) {
      const { message, hint } = error as Error & { readonly hint?: string };
      tell({ type: "broken", message, hint });
    }
  };
  port.on("message", (order: LoadOrder) => {
    if (order.type === "run") serve(order.task);
    else if (order.type === "begin") begins.resolve(order.at);
    else stop(order.type === "cancel" ? cancellation : draining, order.reason);
  });
}

/** The header of events that nobody writes to a file. */
const NO_RUN = { schema: "runner.events/1", run: "", workflow: "", created: 0, host: "" } as const;

async function runTask(
  task: LoadTask,
  host: Host,
  { tell, begin, options }: {
    readonly tell: (report: LoadReport) => void;
    readonly begin: () => Promise<number>;
    readonly options: RunOptions;
  },
): Promise<LoadDone> {
  const { document, job, part, vars, needs, visible, outputs } = task;
  const secrets = new Masker();
  for (const secret of task.secrets) {
    secrets.add(secret, Math.min(secret.length, SHORTEST_SECRET));
  }
  const { workflow } = await loadDocument(await readAgain(document), host, options.permissions);
  const draws = new Draws(task.seed);
  const plan = await makePlan(workflow, {}, () => vars, draws);
  let end: Pick<LoadDone, "hasFailed" | "failures"> = { hasFailed: false, failures: [] };
  let coverage: LoadDone["coverage"] = [];
  let isUnderWay = false;
  const take = (event: RunEvent) => {
    if (event.type === "job_started") isUnderWay = true;
    else if (event.type === "load_second") {
      const { type: _, runId: __, time: ___, ...second } = event;
      tell({ type: "second", second });
    } else if (event.type === "round_traced") {
      const { runId: _, ...round } = event;
      tell({ type: "round", round });
    } else if (event.type === "note" && event.level === "warning" && isUnderWay) {
      tell({ type: "warning", text: event.text });
    } else if (event.type === "job_finished") {
      isUnderWay = false;
      end = { hasFailed: event.state === "failed", failures: event.failures };
    } else if (event.type === "run_finished") coverage = event.coverage ?? [];
  };
  await run(onlyRounds(plan, job), host, take, {
    ...options,
    secrets,
    memory: { previous: task.previous, keep() {} },
    outputs: visible,
    piece: {
      header: { ...NO_RUN, jobs: [job], part },
      whole: plan,
      outcomes: new Map(),
      outputs,
      team: { needs, begin },
    },
  });
  return { type: "done", ...end, coverage, hasDrawn: draws.usedSeed !== undefined };
}

/** The plan of a job without what is decided elsewhere: whether it runs, and ends early. */
function onlyRounds(plan: Plan, id: string): Plan {
  const planned = plan.jobs.find(({ job }) => job.id === id)!;
  const load = { ...planned.job.load!, stopIf: undefined };
  const job: Job = { ...planned.job, load, skipif: undefined, allowFailure: undefined };
  return { ...plan, jobs: [{ ...planned, job, needs: [], startsWhen: startsAlways }] };
}

/** The document of the texts that the program has read, which its file may no longer have. */
async function readAgain({ name, files, defaults = [] }: LoadTask["document"]): Promise<Document> {
  const paths = name.split(",").map((path) => path.trim());
  const own = files.slice(-paths.length);
  const outer = files.slice(0, -paths.length);
  const [values] = defaults;
  const document = await parseDocument(own);
  return values
    ? withDefaults(document, { values, document: await parseDocument(outer) })
    : document;
}
