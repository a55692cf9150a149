import type { Difference, Failure, Operand, Violation } from "../../../../run/event.ts";
import {
  block,
  type Content,
  copyButton,
  el,
  type PageElement,
  row,
  section,
  table,
} from "./dom.ts";
import { tree } from "./values.ts";

/** A section with failures and the values that decided them; empty if there are none. */
export function failureSection(failures: readonly Failure[]): Content {
  if (failures.length === 0) return [];
  return section(failures.length === 1 ? "Failure" : "Failures", failures.map(failureBlock));
}

function failureBlock(failure: Failure): PageElement {
  const { message, expression, operands = [], difference, hint, violation } = failure;
  // The difference shows what is in literals.
  const parts = operands.filter(({ text }) => !difference || !isLiteral(text));
  return el(
    "div.failure",
    el("p.message", message),
    failure.place ? sourceLine(failure.place) : expression !== undefined && block(expression),
    difference && differenceBlock(difference),
    parts.length > 0 && operandTable(parts),
    violation && differenceBlock(violationLines(violation)),
    hint !== undefined && el("p.hint", `Hint: ${hint}`),
    copyButton("Copy error", () => failureText(failure)),
  );
}

/** The line of the file, without its indentation and with a mark. */
function sourceLine(
  { file, line, column, text, from, to }: NonNullable<Failure["place"]>,
): Content {
  const indent = Math.min(from, text.length - text.trimStart().length);
  const mark = el("mark", text.slice(from, to));
  return [
    el("p.muted", `${file}:${line}:${column}`),
    el("pre", { tabindex: 0 }, text.slice(indent, from), mark, text.slice(to)),
  ];
}

/** The parts of a condition with their values. */
export function operandTable(operands: readonly Operand[]): PageElement {
  const rows = operands.map(({ text, type, value }) => row([el("code", text), type, tree(value)]));
  return table(["Part", "Type", "Value"], rows);
}

/** A failure as text, to be pasted elsewhere. */
function failureText(
  { message, place: location, expression, operands = [], difference, hint }: Failure,
): string {
  const lines = [message];
  if (location) {
    lines.push(`${location.file}:${location.line}:${location.column}`, location.text.trim());
  } else if (expression !== undefined) lines.push(expression);
  for (const { text, type, value } of operands) {
    lines.push(`${text} is ${JSON.stringify(value)} (${type})`);
  }
  if (difference) {
    const { expected, received } = difference;
    lines.push(`- expected: ${expected}`, `+ received: ${received}`, ...difference.lines);
  }
  if (hint !== undefined) lines.push(`Hint: ${hint}`);
  return lines.join("\n");
}

/** The sides of a violation as lines of a difference. */
function violationLines({ part, place: location, expected, received }: Violation): Difference {
  const prefixed = (sign: string, text: string) => text.split("\n").map((line) => sign + line);
  return {
    expected: location,
    received: part,
    lines: [...prefixed("- ", expected), ...prefixed("+ ", received)],
    sideBySide: true,
  };
}

/** Expected lines beside received ones; below each other where there is no room. */
function differenceBlock({ expected, received, lines }: Difference): PageElement {
  const rows: { left?: string; right?: string; kind: string }[] = [];
  let firstOpen = 0;
  for (const line of lines) {
    const [sign, text] = [line[0], line.slice(2)];
    if (sign === "-") rows.push({ left: text, kind: "changed" });
    else if (sign === "+") {
      const free = rows.slice(firstOpen).find(({ right }) => right === undefined);
      if (free) free.right = text;
      else rows.push({ right: text, kind: "changed" });
    } else {
      const shown = sign === " " ? text : line;
      rows.push({ left: shown, right: shown, kind: sign === " " ? "same" : "muted" });
      firstOpen = rows.length;
    }
  }
  const cell = (text: string | undefined, name: string) =>
    el("td", { class: text === undefined ? "none" : name }, text);
  return table(
    [sideTitle("expected", expected), sideTitle("received", received)],
    rows.map(({ left, right, kind }) =>
      kind === "changed"
        ? el("tr", cell(left, "expected"), cell(right, "received"))
        : el("tr", { class: kind }, cell(left, ""), cell(right, ""))
    ),
    "sides",
  );
}

/** The side of a difference; what a literal says is in the difference. */
function sideTitle(side: string, text: string): string {
  return isLiteral(text) ? side : `${side}: ${text}`;
}

/** Whether the text of a part of a test begins a literal list or map. */
function isLiteral(text: string): boolean {
  return /^[[{]/.test(text);
}
