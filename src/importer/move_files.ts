import { type Dict, isDict, type Value } from "../value/value.ts";
import type { Draft } from "./draft.ts";

/** A draft with other paths of the files that its requests send or need. */
export function moveFiles(draft: Draft, move: (path: string) => string): Draft {
  const movePaths = (map: Dict, names: readonly string[]): Dict =>
    Object.fromEntries(
      Object.entries(map).map(([name, value]) => {
        // Where a variable leads is not known.
        const isMoved = names.includes(name) && typeof value === "string" &&
          !/^(?:\{\{|[/\\]|[A-Za-z]:|-----)/.test(value);
        return [name, isMoved ? move(value) : value];
      }),
    );
  const movePart = (part: Value): Value =>
    Array.isArray(part) ? part.map(movePart) : isDict(part) ? movePaths(part, ["file"]) : part;
  const moveAll = (request: Value): Value => {
    if (!isDict(request)) return request;
    const { multipart = null, tls = null } = request;
    return {
      ...movePaths(request, ["file", "cookie_file"]),
      ...isDict(tls) ? { tls: movePaths(tls, ["ca", "cert", "key", "pfx"]) } : {},
      ...isDict(multipart)
        ? {
          multipart: Object.fromEntries(
            Object.entries(multipart).map(([name, part]) => [name, movePart(part)]),
          ),
        }
        : {},
    };
  };
  const jobs = draft.jobs.map((job) => ({
    ...job,
    steps: job.steps.map(({ data, notes }) => ({
      data: data.with === undefined ? data : { ...data, with: moveAll(data.with) },
      notes,
    })),
  }));
  return { ...draft, jobs };
}
