import type { Difference, Failure, Operand, Violation } from "../../../../run/event.ts";
import type { MakeCopyButton } from "./copy.ts";
import type { ShowDifference } from "./difference.ts";
import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";
import type { Values } from "./values.ts";

/** Shows failures and the values that decided them. */
export interface Failures {
  readonly failure: (failure: Failure) => PageElement;
  readonly operands: (operands: readonly Operand[]) => PageElement;
}

/** Ways to show what failed. */
export function makeFailures(
  el: MakeElement,
  { tree }: Values,
  showDifference: ShowDifference,
  copyButton: MakeCopyButton,
): Failures {
  const operandTable = (operands: readonly Operand[]) =>
    el(
      "table",
      { class: "operands" },
      el(
        "thead",
        {},
        el("tr", {}, ...["Part", "Type", "Value"].map((head) => el("th", { scope: "col" }, head))),
      ),
      el(
        "tbody",
        {},
        ...operands.map(({ text, type, value }) =>
          el(
            "tr",
            {},
            el("td", {}, el("code", {}, text)),
            el("td", {}, type),
            el("td", {}, tree(value)),
          )
        ),
      ),
    );

  const textOf = ({ message, place, expression, operands = [], difference, hint }: Failure) =>
    [
      message,
      ...place ? [`${place.file}:${place.line}:${place.column}`, place.text.trim()] : [],
      ...!place && expression !== undefined ? [expression] : [],
      ...operands.map(({ text, type, value }) => `${text} is ${JSON.stringify(value)} (${type})`),
      ...difference
        ? [
          `- expected: ${difference.expected}`,
          `+ received: ${difference.received}`,
          ...difference.lines,
        ]
        : [],
      ...hint === undefined ? [] : [`Hint: ${hint}`],
    ].join("\n");

  /** The sides beside each other, line by line. */
  const asDifference = ({ part, place, expected, received }: Violation): Difference => ({
    expected: place,
    received: part,
    lines: [
      ...expected.split("\n").map((line) => `- ${line}`),
      ...received.split("\n").map((line) => `+ ${line}`),
    ],
    sideBySide: true,
  });

  const failureBlock = (failure: Failure) => {
    const { message, place, expression, operands = [], difference, hint, violation } = failure;
    const all = el("div", { class: "failure" }, el("p", { class: "message" }, message));
    if (place) {
      const { file, line, column, text, from, to } = place;
      const indent = Math.min(from, text.length - text.trimStart().length);
      const mark = el("mark", {}, text.slice(from, to));
      all.append(
        el("p", { class: "muted" }, `${file}:${line}:${column}`),
        el("pre", { tabindex: "0" }, text.slice(indent, from), mark, text.slice(to)),
      );
    } else if (expression !== undefined) all.append(el("pre", { tabindex: "0" }, expression));
    if (operands.length > 0) all.append(operandTable(operands));
    if (difference) all.append(showDifference(difference));
    if (violation) all.append(showDifference(asDifference(violation)));
    if (hint !== undefined) all.append(el("p", { class: "hint" }, `Hint: ${hint}`));
    all.append(copyButton("Copy error", () => textOf(failure)));
    return all;
  };

  return { failure: failureBlock, operands: operandTable };
}
