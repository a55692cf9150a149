import type { Position } from "../base/source.ts";
import type { Failure } from "../run/event.ts";

/** The properties of a failed step or job by which failures are grouped. */
export interface FailedPart {
  /** The cause that all of its failures name. */
  readonly cause?: string;
  /** The name by which other failures refer to this one as their cause. */
  readonly causes?: string;
  /** Equal for failures with the same message at the same place or of the same request. */
  readonly likeness?: string;
}

/** Finds the cause of failures; `request` is the title of the request of their step. */
export function causeOf(
  failures: readonly Failure[],
  request?: string,
): Pick<FailedPart, "cause" | "likeness"> {
  const [first] = failures;
  const firstPlace = failures.find(({ place }) => place)?.place;
  const likenesses = failures.map(({ kind, message, place = firstPlace }) => {
    // The message of a test does not depend on what it compares.
    const what = kind === "test" || request === undefined ? place && textOf(place) : request;
    const [line = ""] = message.split("\n", 1);
    // Times and sizes differ; status codes matter.
    return what && `${what} ${line.replace(/(\b[1-5]\d\d\b)|\d+/g, "$1")}`;
  });
  return {
    cause: failures.every(({ cause }) => cause === first?.cause) ? first?.cause : undefined,
    likeness: first && likenesses.every(Boolean) ? likenesses.join("\n") : undefined,
  };
}

function textOf({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/** Failures with one cause. */
export interface CauseGroup<T> {
  readonly first: T;
  /** Failures with the same likeness. */
  readonly alike: readonly T[];
  /** Failures that it caused, or that name the same cause. */
  readonly caused: readonly T[];
}

/** Groups what failed by cause, in the order of the first of each. */
export function groupByCause<T extends FailedPart>(parts: readonly T[]): readonly CauseGroup<T>[] {
  const groups: { readonly first: T; readonly alike: T[]; readonly caused: T[] }[] = [];
  const groupOf = new Map<string, typeof groups[number]>();
  for (const part of parts) {
    const { cause, causes, likeness } = part;
    const byCause = cause === undefined ? undefined : groupOf.get(cause);
    let group = byCause ?? (likeness === undefined ? undefined : groupOf.get(likeness));
    if (group) (byCause ? group.caused : group.alike).push(part);
    else groups.push(group = { first: part, alike: [], caused: [] });
    for (const key of [cause, likeness]) {
      if (key !== undefined && !groupOf.has(key)) groupOf.set(key, group);
    }
    if (causes !== undefined) groupOf.set(causes, group);
  }
  return groups;
}
