import type { Attempt } from "../../run/event.ts";
import { displayWidth } from "../../base/text/display_width.ts";
import { cutLine } from "./fit_lines.ts";
import { oneLine } from "../../base/text/printable.ts";
import type { Room } from "./text_lines.ts";

const FIRST_SHOWN = 5;
const LAST_SHOWN = 2;

interface AttemptGroup {
  readonly from: number;
  to: number;
  readonly message: string;
}

/** The results of the attempts of a step; equal ones in a row share a line. */
export function renderAttempts(attempts: readonly Attempt[], room: Room): string[] {
  if (attempts.length < 2) return [];
  const texts = shortened(groupsOf(attempts)).map((group) =>
    typeof group === "string" ? group : groupText(group)
  );
  const line = `attempts: ${texts.join(", ")}`;
  if (displayWidth(line) <= room.columns) return [line];
  return ["attempts:", ...texts.map((text) => `  ${cutLine(text, room.columns - 2)}`)];
}

function groupsOf(attempts: readonly Attempt[]): AttemptGroup[] {
  const groups: AttemptGroup[] = [];
  for (const { number, message, outcome } of attempts) {
    const text = oneLine(message ?? outcome);
    const last = groups.at(-1);
    if (last?.message === text) last.to = number;
    else groups.push({ from: number, to: number, message: text });
  }
  return groups;
}

function groupText({ from, to, message }: AttemptGroup): string {
  return `${from === to ? from : `${from}–${to}`} ${message}`;
}

function shortened(groups: readonly AttemptGroup[]): readonly (AttemptGroup | string)[] {
  if (groups.length <= FIRST_SHOWN + LAST_SHOWN + 1) return groups;
  const left = groups.slice(FIRST_SHOWN, -LAST_SHOWN);
  const between = `… (${left[0]!.from}–${left.at(-1)!.to})`;
  return [...groups.slice(0, FIRST_SHOWN), between, ...groups.slice(-LAST_SHOWN)];
}
