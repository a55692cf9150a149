/// <reference lib="dom" />
import type { Attempt, Exchange, Failure, Operand, StepResult } from "../../../run/event.ts";
import type { Value } from "../../../value/value.ts";
import type { MakeElement } from "./element.ts";
import type { PageJob, PageStep } from "./page_data.ts";

/** Shows all that is known of one step or job. */
export interface Details {
  readonly showStep: (step: PageStep, job: PageJob) => void;
  readonly showJob: (job: PageJob) => void;
}

/** Fills a panel with what is known of one step or job. */
export function makeDetails(panel: HTMLElement, el: MakeElement): Details {
  const time = (milliseconds: number) =>
    milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
  const isTree = (value: unknown): value is object => typeof value === "object" && value !== null;

  /** A value as it is written in JSON; lists and maps can be folded. */
  const tree = (value: Value | undefined, isOpen: boolean): HTMLElement => {
    if (!isTree(value)) {
      const kind = value === null ? "nil" : typeof value;
      return el("code", { class: `value ${kind}` }, JSON.stringify(value) ?? "");
    }
    const isList = Array.isArray(value);
    const entries = Object.entries(value as Record<string, Value>);
    if (entries.length === 0) return el("code", { class: "value" }, isList ? "[]" : "{}");
    const noun = isList ? "item" : "key";
    const count = `${entries.length} ${noun}${entries.length === 1 ? "" : "s"}`;
    const summary = el("summary", {}, isList ? `[ ${count} ]` : `{ ${count} }`);
    const fold = el("details", { class: "tree" }, summary);
    // Most folds are never opened: what is in them is made when they are.
    const fill = () => {
      if (fold.childElementCount > 1) return;
      const items = entries.map(([key, item]) =>
        el("li", {}, el("span", { class: "key" }, `${key}: `), tree(item, entries.length < 20))
      );
      fold.append(el("ul", {}, ...items));
    };
    fold.addEventListener("toggle", fill);
    if (isOpen) {
      fill();
      fold.setAttribute("open", "");
    }
    return fold;
  };

  /** A text; one that is a JSON list or map is shown as that. */
  const textOrTree = (value: Value): HTMLElement => {
    if (typeof value !== "string") return tree(value, true);
    if (/^\s*[[{]/.test(value)) {
      try {
        return tree(JSON.parse(value) as Value, true);
      } catch {
        // It only looked like it.
      }
    }
    return value.includes("\n") || value.length > 80
      ? el("pre", { tabindex: "0" }, value)
      : el("code", { class: "value" }, value);
  };

  const fields = (message: Value): HTMLElement => {
    if (!isTree(message) || Array.isArray(message)) return textOrTree(message);
    const list = el("dl", {});
    for (const [name, value] of Object.entries(message)) {
      if (value === null || value === "") continue;
      list.append(el("dt", {}, name), el("dd", {}, textOrTree(value as Value)));
    }
    return list;
  };

  const section = (title: string, ...content: Node[]) =>
    el("section", {}, el("h3", {}, title), ...content);

  const operandTable = (operands: readonly Operand[]) =>
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el("tr", {}, ...["Part", "Type", "Value"].map((name) => el("th", {}, name))),
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
            el("td", {}, tree(value, true)),
          )
        ),
      ),
    );

  const failureBlock = (failure: Failure) => {
    const { message, place, expression, operands = [], difference, hint } = failure;
    const block = el("div", { class: "failure" }, el("p", { class: "message" }, message));
    if (place) {
      const before = place.text.slice(0, place.from);
      const marked = place.text.slice(place.from, place.to);
      block.append(
        el("p", { class: "muted" }, `${place.file}:${place.line}:${place.column}`),
        el(
          "pre",
          { tabindex: "0" },
          before,
          el("mark", {}, marked),
          place.text.slice(place.to),
        ),
      );
    } else if (expression !== undefined) block.append(el("pre", { tabindex: "0" }, expression));
    if (operands.length > 0) block.append(operandTable(operands));
    if (difference) {
      const { left, right, lines } = difference;
      const text = [`- ${left}`, `+ ${right}`, ...lines].join("\n");
      block.append(el("pre", { tabindex: "0" }, text));
    }
    if (hint !== undefined) block.append(el("p", { class: "hint" }, `Hint: ${hint}`));
    return block;
  };

  const attemptTable = (attempts: readonly Attempt[]) =>
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el("tr", {}, ...["Attempt", "Outcome", "Time", ""].map((name) => el("td", {}, name))),
      ),
      el(
        "tbody",
        {},
        ...attempts.map(({ number, outcome, duration, message = "" }) =>
          el(
            "tr",
            {},
            ...[String(number), outcome, time(duration), message].map((cell) => el("td", {}, cell)),
          )
        ),
      ),
    );

  const exchangeSections = ({ req, res, command }: Exchange) => [
    section("Request", fields(req)),
    section("Response", fields(res)),
    ...command === undefined
      ? []
      : [section("To repeat it", el("pre", { tabindex: "0" }, command))],
  ];

  const sectionsOf = (result: StepResult): Node[] => {
    const { failures, test, echo, outputs, attempts, exchange } = result;
    return [
      ...failures.length === 0 ? [] : [section("Failures", ...failures.map(failureBlock))],
      ...test
        ? [
          section(
            "Test",
            el("pre", { tabindex: "0" }, test.expression),
            operandTable(test.operands),
          ),
        ]
        : [],
      ...echo === undefined ? [] : [section("Echo", el("pre", { tabindex: "0" }, echo))],
      ...attempts.length > 1 ? [section("Attempts", attemptTable(attempts))] : [],
      ...outputs === undefined ? [] : [section("Outputs", fields(outputs))],
      ...exchange ? exchangeSections(exchange) : [],
    ];
  };

  return {
    showStep(step, job) {
      const { result } = step;
      const facts = [
        step.state === "untested" ? "not tested" : step.state,
        ...step.flaky ? ["flaky"] : [],
        result.uses,
        time(step.duration),
        ...result.responseTime === undefined ? [] : [`response in ${time(result.responseTime)}`],
        ...step.place === undefined ? [] : [step.place],
      ];
      panel.replaceChildren(
        el("h2", {}, `${job.name} › ${step.name}`),
        el("p", { class: "muted" }, facts.join(" · ")),
        ...result.reason === undefined ? [] : [el("p", {}, result.reason)],
        ...result.untested === undefined ? [] : [el("p", {}, `${result.untested}, not tested`)],
        ...sectionsOf(result),
      );
      panel.scrollTop = 0;
    },
    showJob(job) {
      const facts = [
        job.state,
        time(job.duration),
        ...job.critical ? ["on the critical path"] : [],
      ];
      panel.replaceChildren(
        el("h2", {}, job.name),
        el("p", { class: "muted" }, facts.join(" · ")),
        ...job.reason === undefined ? [] : [el("p", {}, job.reason)],
        ...job.needs.length === 0 ? [] : [el("p", {}, `Needs ${job.needs.join(", ")}`)],
        ...job.failures.length === 0
          ? []
          : [section("Failures", ...job.failures.map(failureBlock))],
      );
      panel.scrollTop = 0;
    },
  };
}
