import { assertEquals } from "@std/assert";
import { findIn } from "../support/check_text.ts";

/** A workflow and its findings in the order of their positions, which `¦` marks. */
export type Case = readonly [marked: string, ...found: string[]];

/** Checks workflows; of the findings only those of these codes are looked at. */
export async function check(codes: readonly string[], cases: readonly Case[]): Promise<void> {
  for (const [marked, ...reported] of cases) {
    const found = await findIn(marked.replaceAll("¦", ""));
    const matching = found.filter((line) => codes.some((code) => line.includes(` ${code}: `)));
    const locations = [...locationsOfMarks(marked)];
    assertEquals(matching, reported.map((line, index) => `${locations[index]} ${line}`), marked);
    assertEquals(locations.length, reported.length, marked);
  }
}

function* locationsOfMarks(marked: string): Iterable<string> {
  for (const [index, line] of marked.split("\n").entries()) {
    const pieces = line.split("¦").slice(0, -1);
    let column = 1;
    for (const piece of pieces) yield `${index + 1}:${column += piece.length}`;
  }
}

/**
 * A workflow whose steps are these, each on a line from line 6 on, with these keys at the top in
 * line 2. All are `hello` steps but for those that say otherwise.
 */
export function steps(lines: readonly string[], top = "description: x"): string {
  const items = lines.map((line) =>
    `    - { ${/uses:/.test(line) ? "" : "uses: hello, "}${line} }`
  );
  return `name: x\n${top}\njobs:\n  - name: a\n    steps:\n${items.join("\n")}\n`;
}

/** A workflow whose jobs are these, each with its keys and the keys of its one step on a line. */
export function jobs(lines: readonly (readonly [job: string, step: string])[]): string {
  const items = lines.map(([job, step]) =>
    `  - { name: j, ${job ? `${job}, ` : ""}steps: [{ uses: hello, ${step} }] }`
  );
  return `name: x\njobs:\n${items.join("\n")}\n`;
}
