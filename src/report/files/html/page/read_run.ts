import { parseExactly } from "../../../../base/value/parse_json.ts";
import type { PageData, PageDetails } from "../page_data.ts";
import { find } from "./dom.ts";

/** The data of a run, whose ids end in `run`; each line of its details is parsed when needed. */
export function readRun(run: string) {
  const data: PageData = JSON.parse(find(`data${run}`).textContent!);
  const lines = find(`details-data${run}`).textContent!.trim().split("\n");
  return { data, detailsOf: (step: number): PageDetails => parseExactly(lines[step]!) };
}
