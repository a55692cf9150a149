import type { Position } from "../base/source.ts";
import type { Failure } from "../run/event.ts";

/** A failed step or job as far as it tells which failures have one cause. */
export interface FailedPart {
  /** What all of its failures name as their cause. */
  readonly cause?: string;
  /** The cause of failures that this one leads to. */
  readonly causes?: string;
  /** The same for failures at the same place, or of the same request, that say the same. */
  readonly likeness?: string;
}

/** Tells the cause of failures; `request` is the title of what their step sent. */
export function causeOf(
  failures: readonly Failure[],
  request?: string,
): Pick<FailedPart, "cause" | "likeness"> {
  const [first] = failures;
  const firstPlace = failures.find(({ place }) => place)?.place;
  const likenesses = failures.map(({ kind, message, place = firstPlace }) => {
    // A test says the same of whatever it compares.
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
  /** Those that are like it. */
  readonly alike: readonly T[];
  /** Those that it led to, or that name the same cause. */
  readonly caused: readonly T[];
}

/** Groups what failed by cause, in the order of the first of each. */
export function groupByCause<T extends FailedPart>(parts: readonly T[]): readonly CauseGroup<T>[] {
  const groups: { readonly first: T; readonly alike: T[]; readonly caused: T[] }[] = [];
  const known = new Map<string, typeof groups[number]>();
  for (const part of parts) {
    const { cause, causes, likeness } = part;
    const byCause = cause === undefined ? undefined : known.get(cause);
    let group = byCause ?? (likeness === undefined ? undefined : known.get(likeness));
    if (group) (byCause ? group.caused : group.alike).push(part);
    else groups.push(group = { first: part, alike: [], caused: [] });
    for (const key of [cause, likeness]) {
      if (key !== undefined && !known.has(key)) known.set(key, group);
    }
    if (causes !== undefined) known.set(causes, group);
  }
  return groups;
}
