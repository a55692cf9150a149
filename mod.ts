/**
 * The library: load, plan, run and report workflows, and evaluate expressions as they do.
 *
 * @example Run a workflow and print its report
 * ```ts
 * import { loadWorkflow, makePlan, makeReport, run } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const report = await makeReport("text");
 * const running = run(await makePlan(workflow));
 * for await (const event of running) console.log(report(event));
 * console.log(await running.passed ? "good" : "bad");
 * ```
 *
 * @module
 */
export {
  evaluateExpression,
  type EvaluateOptions,
  ExpressionError,
  renderTemplate,
  type RenderTemplateOptions,
} from "./src/expr/evaluate_expression.ts";
export {
  loadSuite,
  loadWorkflow,
  makePlan,
  mergeEvents,
  prepareRun,
  readEvents,
  run,
  runSuite,
} from "./src/library/library.ts";
export type {
  LoadOptions,
  PieceOptions,
  Plan,
  PlanOptions,
  PrepareOptions,
  Run,
  RunOptions,
  Suite,
  SuiteOptions,
  SuiteRunOptions,
  SuiteWorkflow,
  TlsOptions,
  Workflow,
} from "./src/library/types.ts";
export {
  makeReport,
  type Report,
  type ReportName,
  type ReportOptions,
} from "./src/library/report.ts";
export type { FileFormatName } from "./src/report/files/registry.ts";
export { LoadError, type NameRead, RunnerError, StepError, UsageError } from "./src/base/errors.ts";
export type { WrittenPermissions as Permissions } from "./src/action/permissions/rules.ts";
export type {
  AssertionCount,
  Attempt,
  AttemptDetail,
  Difference,
  EchoTally,
  EventBase,
  Exchange,
  Failure,
  FailureCount,
  FailureTally,
  JobFinished,
  JobStarted,
  JobState,
  LoadEnded,
  LoadEndedFields,
  LoadNumbers,
  LoadOutline,
  LoadSecond,
  LoadSecondFields,
  LoadStageOutline,
  LoadStats,
  LoadStepStats,
  LoadThreshold,
  MessagesCame,
  MessageView,
  Note,
  Operand,
  PassedTest,
  PieceHeader,
  PiecePart,
  RoundFinished,
  RoundsTallied,
  RoundTally,
  RoundTraced,
  RunEvent,
  RunFinished,
  RunOrigin,
  RunStarted,
  SetupCount,
  SnapshotOutcome,
  StepFinished,
  StepOutline,
  StepResult,
  StepRetried,
  StepRun,
  StepStarted,
  StepState,
  StepTally,
  StepTraffic,
  StepTree,
  StepWaiting,
  SuiteFinished,
  SuitePart,
  SuiteStarted,
  TraceContext,
  Violation,
} from "./src/run/event.ts";
export type { EncodedHistogram, HistogramSummary } from "./src/base/value/histogram.ts";
export type { Diagnostic, Severity } from "./src/base/diagnostic.ts";
export { renderDiagnostic } from "./src/base/diagnostic.ts";
export {
  excerptOf,
  type Path,
  type Position,
  type Source,
  type SourceExcerpt,
  type Span,
} from "./src/base/source.ts";
export type { Dict, Value } from "./src/base/value/value.ts";
export type {
  ApiCoverage,
  OperationCoverage,
  ParameterCoverage,
  StatusCoverage,
} from "./src/base/value/api_coverage.ts";
export * from "./src/action/api.ts";
export type { Plugin } from "./src/actions/plugin/plugin.ts";
