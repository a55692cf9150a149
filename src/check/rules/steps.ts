import type { Expression } from "../../expr/expression.ts";
import { isChanging } from "../../expr/functions/registry.ts";
import type { BinaryExpression, Node } from "../../expr/parse/ast.ts";
import { childrenOf } from "../../expr/parse/tree.ts";
import { referencesIn } from "../../expr/references.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { isDict, valueAt } from "../../base/value/value.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { Problem } from "../../workflow/problem.ts";
import type { Check, CheckedStep } from "../model.ts";
import { conditionsOf, whereOf } from "../readings.ts";

/** Tests whose outcome does not depend on the run, and jobs that never run. */
export const constantTest: Check = {
  codes: [
    {
      code: "constant-test",
      severity: "warning",
      summary: "A test or a threshold has the same outcome for every result.",
    },
    {
      code: "no-rounds",
      severity: "warning",
      summary: "A job with `repeat.count: 0` never runs.",
    },
  ],
  *find({ jobs, steps }) {
    for (const { draft: { path, repeat, load } } of jobs) {
      for (const assertion of load?.expect ?? []) {
        const outcome = constantOutcome(assertion.expression);
        if (outcome === undefined) continue;
        yield {
          severity: "warning",
          code: "constant-test",
          path: assertionPath([...path, "load", "expect"], assertion),
          message: `this threshold is always ${outcome}`,
          hint: "compare the statistics with limits, like stats.p95 < 0.3",
        };
      }
      if (repeat?.count !== 0) continue;
      yield {
        severity: "warning",
        code: "no-rounds",
        path: [...path, "repeat", "count"],
        message: "with a count of 0 the job never runs",
        hint: "to skip a job on purpose, use skipif: true",
      };
    }
    for (const step of steps) {
      const { draft: { test, path, action }, raw } = step;
      if (action?.name === "assert" && raw.test === undefined && !raw.snapshot) {
        yield {
          severity: "warning",
          code: "constant-test",
          path: [...path, "uses"],
          message: "this step asserts nothing",
          hint: `add a test, like test: ${action.exampleTest}`,
        };
      }
      for (const [path, where] of whereOf(step)) {
        const outcome = constantOutcome(where);
        if (outcome === undefined) continue;
        yield {
          severity: "warning",
          code: "constant-test",
          path,
          message: `this is always ${outcome}: ${outcome ? "every" : "no"} message fits`,
          hint: "compare something of the message, like message.body.id == vars.id",
        };
      }
      // A step of `hello` may try an expression out.
      if (!test || !action || action.neverFails) continue;
      for (const assertion of test) {
        const outcome = constantOutcome(assertion.expression);
        if (outcome === undefined) continue;
        yield {
          severity: "warning",
          code: "constant-test",
          path: assertionPath([...path, "test"], assertion),
          message: `this test is always ${outcome}`,
          hint: `test the result, like ${action.exampleTest ?? "status == 0"}`,
        };
      }
    }
  },
};

function constantOutcome(test: Expression): boolean | undefined {
  if (referencesIn(test.node).length > 0 || callsChanging(test.node)) return undefined;
  try {
    const value = test.evaluate({ names: {}, strict: true });
    return typeof value === "boolean" ? value : undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** Whether a node gives another value each time. */
function callsChanging(node: Node): boolean {
  const isCall = node.type === "CallExpression" && node.callee.type === "Identifier" &&
    isChanging(node.callee.name);
  return isCall || childrenOf(node).some(callsChanging);
}

/** Tests that are written as data. */
export const misplacedTest: Check = {
  codes: [
    {
      code: "misplaced-test",
      severity: "warning",
      summary: "A `test` is not a key of its step, and is never evaluated.",
    },
  ],
  *find({ document: { value }, jobs, steps }) {
    yield* misplaced("at the top level", [], value);
    for (const { draft: { path } } of jobs) {
      const job = valueAt(value, path);
      if (path.length > 0) yield* misplaced("of a job", path, job);
      const defaults = isDict(job) ? job.defaults : undefined;
      yield* misplaced("in defaults", [...path, "defaults"], defaults);
      for (const [action, params] of Object.entries(isDict(defaults) ? defaults : {})) {
        yield* misplaced("in defaults", [...path, "defaults", action], params);
      }
    }
    for (const { raw, draft: { path } } of steps) {
      if (raw.test !== undefined) continue;
      for (const key of ["with", "outputs", "vars"]) {
        yield* misplaced(`in ${key}`, [...path, key], raw[key]);
      }
      for (const [index, entry] of [raw.iteration].flat().entries()) {
        yield* misplaced("in iteration", [...path, "iteration", index], entry);
      }
    }
  },
};

function* misplaced(where: string, path: Path, map: unknown): Iterable<Problem> {
  if (!isDict(map) || !looksLikeTest(map.test)) return;
  yield {
    severity: "warning",
    code: "misplaced-test",
    path: [...path, "test"],
    part: "key",
    message: `"test" ${where} is not evaluated`,
    hint: "make it a key of the step, beside uses",
  };
}

/** Whether it reads a result; anything else may be data under the same name. */
function looksLikeTest(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(looksLikeTest);
  return typeof value === "string" && /(^|[^\w.])(res|status|rt|outputs)\b(?!:)/.test(value);
}

/** A time in the statistics of rounds, or of a step. */
const STATS_TIME = /^stats\.(?:steps(?:\.[\w-]+|\[[^\]]*\])\.)?(?:min|mean|p\d+|max)$/;

/** Limits for times in seconds that are probably meant in milliseconds, and so never exceeded. */
export const millisecondsLimit: Check = {
  codes: [{
    code: "milliseconds-limit",
    severity: "warning",
    summary: "A time in seconds is, or is compared with, a number that looks like milliseconds.",
  }],
  *find({ jobs, steps }) {
    for (const { draft: { path, load } } of jobs) {
      for (const assertion of load?.expect ?? []) {
        const location = assertionPath([...path, "load", "expect"], assertion);
        yield* highLimits(assertion.expression, location, STATS_TIME);
      }
    }
    for (const step of steps) {
      yield* longDurations(step);
      // Commands and SQL statements can take minutes.
      if (step.draft.action?.name !== "http") continue;
      for (const [path, condition] of conditionsOf(step)) {
        yield* highLimits(condition, path, /^(?:rt\.sec|res\.timing\.\w+)$/);
      }
    }
  },
};

/** More seconds than a request may be expected to take. */
const HIGH_LIMIT = 100;

function* highLimits({ node, source }: Expression, path: Path, time: RegExp): Iterable<Problem> {
  // Nearly all conditions read no time.
  if (!/\b(?:rt|timing|stats)\b/.test(source)) return;
  for (const { left, right, start, end } of inequalitiesIn(node)) {
    const textOf = (side: Node) => source.slice(side.start, side.end);
    const [name, limit] = time.test(textOf(left)) ? [textOf(left), right] : [textOf(right), left];
    if (!time.test(name) || limit.type !== "Literal" || typeof limit.value !== "number") continue;
    const { value } = limit;
    if (value < HIGH_LIMIT) continue;
    yield {
      severity: "warning",
      code: "milliseconds-limit",
      path,
      range: { start, end },
      message: `${name} is in seconds: ${value} is ${formatDuration(value * 1000)}`,
      hint: `for milliseconds write ${value / 1000}`,
    };
  }
}

function* inequalitiesIn(node: Node): Iterable<BinaryExpression> {
  if (node.type === "BinaryExpression" && /^[<>]=?$/.test(node.operator)) yield node;
  for (const child of childrenOf(node)) yield* inequalitiesIn(child);
}

/** Keys of a step whose values are durations; a number is one of seconds. */
const DURATIONS: readonly (readonly string[])[] = [
  ...[["timeout"], ["max_time"], ["wait"]],
  ...["interval", "initial_delay", "max_interval"].map((key) => ["retry", key]),
];

function* longDurations({ draft, raw }: CheckedStep): Iterable<Problem> {
  const parameters = (draft.action?.parameters ?? []).filter(({ type }) => type === "duration");
  for (const keys of [...DURATIONS, ...parameters.map(({ name }) => ["with", name])]) {
    const value = valueAt(raw, keys);
    // An hour is 3600, and 5000 is hardly a number of seconds.
    if (typeof value !== "number" || value < 1000 || value % 500 !== 0) continue;
    yield {
      severity: "warning",
      code: "milliseconds-limit",
      path: [...draft.path, ...keys],
      message: `a number is one of seconds: ${value} is ${formatDuration(value * 1000)}`,
      hint: `for milliseconds write ${value}ms`,
    };
  }
}

/** Retries of a step that succeeds at the first attempt. */
export const pointlessRetry: Check = {
  codes: [
    {
      code: "pointless-retry",
      severity: "warning",
      summary: "A `retry` is on a step that cannot fail.",
    },
  ],
  *find({ steps }) {
    for (const { draft, raw } of steps) {
      const { action, retry, test, path } = draft;
      if (!retry || !action?.neverFails) continue;
      const isTrue = test?.every(({ expression: { node } }) =>
        node.type === "Literal" && node.value === true
      ) ?? false;
      if (raw.test !== undefined && !isTrue || raw.snapshot || raw.max_time) continue;
      yield {
        severity: "warning",
        code: "pointless-retry",
        path: [...path, "retry"],
        part: "key",
        message: `${action.name} cannot fail, so this retry never repeats it`,
        hint: test ? "test something that may be false" : "add a test, or remove the retry",
      };
    }
  },
};

/** Commands that a release would regret after a failed test. */
export const runsAfterFailure: Check = {
  codes: [
    {
      code: "runs-after-failure",
      severity: "warning",
      summary:
        "A command named like `deploy` runs although a test before it failed: a failed step does not " +
        "stop its job.",
    },
  ],
  *find({ jobs }) {
    for (const { draft, steps } of jobs) {
      if (draft.stopsAtFailure) continue;
      const first = steps.findIndex(({ draft: { test, allowFailure } }) => test && !allowFailure);
      for (const { draft: { path, action, isCleanup }, raw } of steps.slice(first + 1)) {
        if (first < 0 || isCleanup || raw.skipif !== undefined) continue;
        if (!COMMANDS.has(action?.name ?? "")) continue;
        const [, word] = CHANGES.exec(String(raw.name ?? "")) ?? [];
        if (word === undefined) continue;
        yield {
          severity: "warning",
          code: "runs-after-failure",
          path: [...path, "name"],
          message: `this would ${word.toLowerCase()} although a test before it failed`,
          hint: "a failed step does not stop its job: add on_failure: stop to the job",
        };
      }
    }
  },
};

/** The actions that change something outside. Of requests, a DELETE is as often the test itself. */
const COMMANDS: ReadonlySet<string> = new Set(["shell", "ssh"]);

/** The name of a step that changes what others use. */
const CHANGES = /^\s*(deploy|publish|release|delete)\b/i;
