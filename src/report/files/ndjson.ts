import type { RunEvent } from "../../run/event.ts";
import type { RenderEvent } from "./file_format.ts";
import { resultJson, resultText } from "./result_json.ts";

/** Renders each event as a line of JSON with its number, so that a reader notices lost lines. */
export function makeNdjsonReport(): RenderEvent {
  let seq = 0;
  return (event) => `${eventJson(event).slice(0, -1)},"seq":${++seq}}\n`;
}

function eventJson(event: RunEvent): string {
  if (event.type !== "step_finished") return JSON.stringify(event);
  const { type, runId, time, run, result } = event;
  const head = JSON.stringify({ type, runId, time, run });
  return `${head.slice(0, -1)},"result":${resultJson(resultText(result))}}`;
}
