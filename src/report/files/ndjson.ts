import type { RunEvent } from "../../run/event.ts";
import { resultJson, resultText } from "./result_json.ts";

/** An event as a line of JSON. */
export function renderNdjson(event: RunEvent): string {
  if (event.type !== "step_finished") return `${JSON.stringify(event)}\n`;
  const { type, runId, time, run, result } = event;
  const head = JSON.stringify({ type, runId, time, run });
  return `${head.slice(0, -1)},"result":${resultJson(resultText(result))}}\n`;
}
