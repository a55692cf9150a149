/**
 * Where the steps of each job begin in the text of a workflow, in offsets, as far as a look at its
 * lines tells: the usual layout, in which jobs and steps are list items on lines of their own. What
 * is laid out otherwise gives undefined, or other numbers of jobs and steps than there are.
 *
 * Parsing a text anew to know where its parts stand takes longer than all else that a report does.
 */
export function findStepStarts(text: string): readonly (readonly number[])[] | undefined {
  const jobs: number[][] = [];
  let jobDash: number | undefined;
  /** Where the keys of a job stand. */
  let jobKeys = -1;
  let steps: { readonly starts: number[]; dash?: number } | undefined;
  let isInJobs = false;
  for (const { start, indent, content } of linesOf(text)) {
    if (indent === 0 && !content.startsWith("-")) {
      if (isInJobs) break;
      isInJobs = isOpening(content, "jobs");
      continue;
    }
    if (!isInJobs) continue;
    jobDash ??= indent;
    let [column, key] = [indent, content];
    if (indent === jobDash) {
      const item = itemOf(content);
      if (item === undefined) return undefined;
      [column, key] = [indent + item.length, content.slice(item.length)];
      jobKeys = column;
      steps = undefined;
      jobs.push([]);
    }
    if (steps && (steps.dash ??= indent) === indent && content.startsWith("-")) {
      const item = itemOf(content);
      if (item === undefined) return undefined;
      steps.starts.push(start + indent + item.length);
    } else if (column === jobKeys) {
      steps = isOpening(key, "steps") ? { starts: jobs.at(-1)! } : undefined;
    }
  }
  return jobs;
}

interface Line {
  readonly start: number;
  readonly indent: number;
  readonly content: string;
}

/** The lines with something in them. */
function* linesOf(text: string): Iterable<Line> {
  for (const { 0: line, index } of text.matchAll(/^ *[^ \r\n#].*$/gm)) {
    const indent = line.search(/[^ ]/);
    yield { start: index, indent, content: line.slice(indent) };
  }
}

/** The dash of a list item and the spaces behind it, where what follows is no tag or the like. */
function itemOf(content: string): string | undefined {
  return /^- +(?=[^ &!*|>?#-])/.exec(content)?.[0];
}

/** Whether a line is a key with its value on the lines below. */
function isOpening(content: string, key: string): boolean {
  return content.startsWith(key) && /^ *:\s*(?:#.*)?$/.test(content.slice(key.length));
}
