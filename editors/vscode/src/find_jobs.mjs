/**
 * @typedef {object} Job
 * @property {string} id what `--only` chooses it by
 * @property {number} line where it begins, from 0
 */

const unquoted = (text) => text.trim().replace(/\s#.*$/, "").replace(/^(["'])(.*)\1$/, "$2");

/**
 * Finds the jobs of a workflow that have an id, by the columns of its lines: the file may be one
 * that is being typed.
 *
 * @param {string} text
 * @returns {Job[]}
 */
export function findJobs(text) {
  const jobs = [];
  let dash;
  let start = 0;
  let isIn = false;
  for (const [number, line] of text.split("\n").entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    if (/^[^\s-]/.test(line)) {
      isIn = /^jobs:\s*(?:#.*)?$/.test(line);
      dash = undefined;
      continue;
    }
    if (!isIn) continue;
    const [, indent, gap, content] = /^( *)(- +)?(.*)$/.exec(line);
    if (gap !== undefined) dash ??= indent.length;
    const isNew = gap !== undefined && indent.length === dash;
    if (isNew) start = number;
    const [, id] = /^id:\s*(.+)$/.exec(content) ?? [];
    const column = indent.length + (gap?.length ?? 0);
    const isOfJob = isNew || gap === undefined && column === dash + 2;
    if (id !== undefined && isOfJob) jobs.push({ id: unquoted(id), line: start });
  }
  return jobs;
}
