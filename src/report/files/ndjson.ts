import type { RunEvent } from "../../run/event.ts";
import { resultJson } from "./result_json.ts";

/** An event as a line of JSON. */
export function renderNdjson(event: RunEvent): string {
  if (event.type !== "step_finished") return `${JSON.stringify(event)}\n`;
  const { result, ...rest } = event;
  return `${JSON.stringify(rest).slice(0, -1)},"result":${resultJson(result)}}\n`;
}
