import type { Note } from "../run/event.ts";
import type { Style } from "./style.ts";
import { indentLines } from "./text_lines.ts";

/** Something that a run has to tell apart from its results, with whom it is about. */
export function noteLines({ level, text }: Note, about: string, style: Style): string[] {
  const paint = level === "warning" ? style.yellow : style.dim;
  const [first = "", ...more] = text.trimEnd().split("\n");
  return [
    `${paint(`${level}:`)} ${about === "" ? "" : `${about}: `}${first}`,
    ...indentLines(more, 2),
  ];
}
