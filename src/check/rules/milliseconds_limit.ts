import type { Expression } from "../../expr/expression.ts";
import type { Node } from "../../expr/parse/ast.ts";
import { childrenOf } from "../../expr/parse/tree.ts";
import type { Path } from "../../base/source.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { Problem } from "../../workflow/problem.ts";
import type { Check } from "../check.ts";
import { isRawMap } from "../../workflow/decode/decode_value.ts";
import type { CheckedStep } from "../model/check_model.ts";
import { conditionsOf } from "../model/conditions.ts";

/** Limits for times in seconds that are probably meant in milliseconds, and so never exceeded. */
export const millisecondsLimit: Check = {
  codes: [{
    code: "milliseconds-limit",
    severity: "warning",
    summary: "A time in seconds is, or is compared with, a number that looks like milliseconds.",
  }],
  *find({ jobs }) {
    for (const { draft: { path, repeat }, steps } of jobs) {
      for (const assertion of repeat?.expect ?? []) {
        const place = assertionPath([...path, "repeat", "expect"], assertion);
        yield* problemsIn(assertion.expression, place, STATS);
      }
      for (const step of steps) {
        yield* durationsIn(step);
        // Commands and statements may well take minutes.
        if (step.draft.action?.name !== "http") continue;
        for (const [place, condition] of conditionsOf(step)) {
          yield* problemsIn(condition, place, OF_HTTP);
        }
      }
    }
  },
};

const STATS = /^stats\.(?:min|mean|p\d+|max)$/;
const OF_HTTP = /^(?:rt\.sec|res\.timing\.\w+)$/;

/** More seconds than a request may be expected to take. */
const LEAST = 100;

function* problemsIn({ node, source }: Expression, path: Path, time: RegExp): Iterable<Problem> {
  for (const { left, right, start, end } of comparisonsIn(node)) {
    const textOf = (side: Node) => source.slice(side.start, side.end);
    const [name, limit] = time.test(textOf(left)) ? [textOf(left), right] : [textOf(right), left];
    if (!time.test(name) || limit.type !== "Literal" || typeof limit.value !== "number") continue;
    const { value } = limit;
    if (value < LEAST) continue;
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

/** Keys of a step whose values are durations; a number is one of seconds. */
const DURATIONS: readonly (readonly string[])[] = [
  ["timeout"],
  ["max_time"],
  ["wait"],
  ["retry", "interval"],
  ["retry", "initial_delay"],
  ["retry", "max_interval"],
];

function* durationsIn({ draft, raw }: CheckedStep): Iterable<Problem> {
  const { parameters = [] } = draft.action ?? {};
  const own = parameters.filter(({ type }) => type === "duration")
    .map(({ name }) => ["with", name]);
  for (const keys of [...DURATIONS, ...own]) {
    const value = keys.reduce<unknown>((map, key) => isRawMap(map) ? map[key] : undefined, raw);
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

function* comparisonsIn(node: Node): Iterable<Node & { readonly type: "BinaryExpression" }> {
  if (node.type === "BinaryExpression" && /^[<>]=?$/.test(node.operator)) yield node;
  for (const child of childrenOf(node)) yield* comparisonsIn(child);
}
