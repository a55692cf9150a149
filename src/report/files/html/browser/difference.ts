import type { Difference } from "../../../../run/event.ts";
import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";

/** Shows what differs. */
export type ShowDifference = (difference: Difference) => PageElement;

/** Shows lines that differ: long ones beside each other, others below each other. */
export function makeDifference(el: MakeElement): ShowDifference {
  const linesBlock = ({ expected, received, lines }: Difference) => {
    const classes: Readonly<Record<string, string>> = {
      "-": "expected",
      "+": "received",
      "@": "muted",
    };
    return el(
      "pre",
      { tabindex: "0" },
      ...[`- expected: ${expected}`, `+ received: ${received}`, ...lines].map((line) =>
        el("span", { class: classes[line[0] ?? ""] ?? "" }, `${line}\n`)
      ),
    );
  };

  /** Expected lines on the left, received ones on the right, and common ones on both sides. */
  const sidesTable = ({ expected, received, lines }: Difference) => {
    const rows: [left: string | undefined, right: string | undefined, kind: string][] = [];
    let open = 0;
    for (const line of lines) {
      const [mark, text] = [line[0], line.slice(2)];
      if (mark === "-") rows.push([text, undefined, "changed"]);
      else if (mark === "+") {
        const free = rows.findIndex((row, at) => at >= open && row[1] === undefined);
        if (free < 0) rows.push([undefined, text, "changed"]);
        else rows[free]![1] = text;
      } else {
        rows.push(mark === " " ? [text, text, ""] : [line, line, "muted"]);
        open = rows.length;
      }
    }
    const cell = (text: string | undefined, kind: string) =>
      el("td", { class: text === undefined ? "" : kind }, text ?? "");
    const head = (text: string) => el("th", { scope: "col" }, text);
    return el(
      "table",
      { class: "sides" },
      el("thead", {}, el("tr", {}, head(`expected: ${expected}`), head(`received: ${received}`))),
      el(
        "tbody",
        {},
        ...rows.map(([left, right, kind]) =>
          kind === "changed"
            ? el("tr", {}, cell(left, "expected"), cell(right, "received"))
            : el("tr", {}, cell(left, kind), cell(right, kind))
        ),
      ),
    );
  };

  return (difference) => difference.sideBySide ? sidesTable(difference) : linesBlock(difference);
}
