import type { Position } from "../base/source.ts";
import { isDict } from "../base/value/value.ts";
import type { StepResult } from "../run/event.ts";
import { causeOfRun } from "../run/step_trees.ts";
import { type FailedPart, isOnlyEmbedded } from "./failed_parts.ts";
import { withoutMinor } from "./text/render_exchange.ts";

/** The names by which failures are grouped. */
export interface CauseNames {
  /** The cause that all of its failures name. */
  readonly cause?: string;
  /** The name by which other failures refer to this one as their cause. */
  readonly causes?: string;
  /** Equal for failures with the same message at the same place or of the same request. */
  readonly likeness?: string;
  /** Equal for failures that say the same of the same result, wherever they are. */
  readonly trouble?: string;
}

/** Finds the names by which a part is grouped with others, also of other runs. */
export function causeNames(
  { failures, step, kind: rounds }: Pick<FailedPart, "failures" | "step" | "kind">,
  runId: string,
): CauseNames {
  // A step that is the cause of others is one of the same run.
  const scoped = (cause: string | undefined) =>
    cause?.startsWith("job ") ? `${runId} ${cause}` : cause;
  const request = rounds ? undefined : step?.result.exchange?.view?.request?.title;
  const [first] = failures;
  const firstPlace = failures.find(({ place }) => place)?.place;
  const likenesses = failures.map(({ kind, message, place = firstPlace }) => {
    // The message of a test does not depend on what it compares.
    const what = kind === "test" || request === undefined ? place && textOf(place) : request;
    const [line = ""] = message.split("\n", 1);
    return what && `${what} ${withoutNumbers(line)}`;
  });
  return {
    cause: scoped(failures.every(({ cause }) => cause === first?.cause) ? first?.cause : undefined),
    causes: scoped(step && !rounds ? causeOfRun(step.run) : undefined),
    // How often it failed in rounds is said of it alone.
    likeness: !rounds && first && likenesses.every(Boolean) ? likenesses.join("\n") : undefined,
    trouble: rounds || !step ? undefined : troubleOf(step.result),
  };
}

/** The host of a URL, and its path unless that is empty. */
const URL_PARTS = /\/\/([^/\s]+)(?:(\/[^\s?#]+))?/;

/** What failures have in common that say the same of the same result; undefined if they are none. */
export function troubleOf(result: Pick<StepResult, "failures" | "exchange">): string | undefined {
  const { failures, exchange } = result;
  if (failures.length === 0 || isOnlyEmbedded(result)) return undefined;
  const { req = null, res = null, brief = "", view } = exchange ? withoutMinor(exchange) : {};
  // A server that is not reached answers nothing that could differ.
  if (res === null && failures.every(({ cause = "job " }) => !cause.startsWith("job "))) {
    return failures.map(({ cause }) => cause).join("\n");
  }
  const said = failures.map(({ kind, message, hint, operands, difference }) =>
    JSON.stringify([kind, message, hint, operands, difference])
  );
  // A mistake in an expression is about its place, as is what has no result.
  const places = failures.map(({ kind, place, expression }) =>
    place && (kind === "expression" || res === null) ? textOf(place) : expression
  );
  const [, host, path = "\0"] = URL_PARTS.exec(view?.request?.title ?? "") ?? [];
  const { headers: _, code = null, ...fields } = isDict(res) ? res : { res };
  // Servers quote the path of a request, and number and date their answers.
  const answer = JSON.stringify([fields, host === undefined && req]).replaceAll(path, "");
  return JSON.stringify([host, brief, code, ...places]) +
    withoutNumbers([...said, answer].join("\n"));
}

/** Without times, sizes and counts, which differ; status codes matter. */
function withoutNumbers(text: string): string {
  return text.replace(/(\b[1-5]\d\d\b)|\d+/g, "$1");
}

function textOf({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/** Groups what failed by cause, in the order of the first of each. */
export function groupByCause<T extends CauseNames>(
  parts: readonly T[],
): readonly (readonly [T, ...T[]])[] {
  const groups: [T, ...T[]][] = [];
  const groupOf = new Map<string, [T, ...T[]]>();
  for (const part of parts) {
    const { cause, causes, likeness, trouble } = part;
    const keys = [cause, likeness, trouble].filter((key) => key !== undefined);
    let group = keys.map((key) => groupOf.get(key)).find((known) => known);
    if (group) group.push(part);
    else groups.push(group = [part]);
    for (const key of keys) if (!groupOf.has(key)) groupOf.set(key, group);
    if (causes !== undefined) groupOf.set(causes, group);
  }
  return groups;
}

/** The number of others that are named. */
const MAX_NAMED = 100;

/** `and 2 more: n 2, n 3`: the names of the others, each with its job unless that is the same again. */
export function describeOthers(others: readonly string[], first: string): string {
  let around = "";
  const names = [...new Set([first, ...others])].map((title) => {
    const start = title.lastIndexOf(" › ") + 3;
    const name = title.startsWith(around) && around.length === start ? title.slice(start) : title;
    around = title.slice(0, start);
    return name;
  }).slice(1);
  const named = names.slice(0, MAX_NAMED).join(", ");
  const rest = names.length > MAX_NAMED ? ", …" : "";
  return `and ${others.length} more${named && `: ${named}`}${rest}`;
}
