import type { Attempt, Exchange, Failure, MessageView, Operand } from "../../../../run/event.ts";
import type { Value } from "../../../../value/value.ts";
import type { PageDetails, PageJob, PageStep } from "../page_data.ts";
import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";
import type { Values } from "./values.ts";

/** Shows the details of one step or job. */
export interface Details {
  readonly showStep: (step: PageStep, job: PageJob, details: PageDetails | undefined) => void;
  readonly showJob: (job: PageJob, nameOf: (id: string) => string) => void;
}

/** Fills a panel with the details of one step or job. */
export function makeDetails(
  panel: PageElement,
  el: MakeElement,
  { tree, fields }: Values,
  time: (milliseconds: number) => string,
): Details {
  const block = (text: string, ...more: (PageElement | string)[]) =>
    el("pre", { tabindex: "0" }, text, ...more);
  const section = (title: string, ...content: PageElement[]) =>
    el("section", {}, el("h3", {}, title), ...content);
  const foldable = (title: string, ...content: readonly PageElement[]) =>
    el("details", { open: "", class: "part" }, el("summary", {}, el("h3", {}, title)), ...content);

  const table = (heads: readonly string[], rows: readonly (readonly (PageElement | string)[])[]) =>
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))),
    );

  const operandTable = (operands: readonly Operand[]) =>
    table(
      ["Part", "Type", "Value"],
      operands.map(({ text, type, value }) => [el("code", {}, text), type, tree(value)]),
    );

  const attemptTable = (attempts: readonly Attempt[]) =>
    table(
      ["Attempt", "Outcome", "Time", "Message"],
      attempts.map(({ number, outcome, duration, message = "" }) =>
        [String(number), outcome, time(duration), message] as const
      ),
    );

  const differenceBlock = (lines: readonly string[]) => {
    const classes: Readonly<Record<string, string>> = {
      "-": "expected",
      "+": "received",
      "@": "muted",
    };
    return el(
      "pre",
      { tabindex: "0" },
      ...lines.map((line) => el("span", { class: classes[line[0] ?? ""] ?? "" }, `${line}\n`)),
    );
  };

  const failureBlock = (failure: Failure) => {
    const { message, place, expression, operands = [], difference, hint } = failure;
    const all = el("div", { class: "failure" }, el("p", { class: "message" }, message));
    if (place) {
      const { file, line, column, text, from, to } = place;
      const indent = Math.min(from, text.length - text.trimStart().length);
      all.append(
        el("p", { class: "muted" }, `${file}:${line}:${column}`),
        block(text.slice(indent, from), el("mark", {}, text.slice(from, to)), text.slice(to)),
      );
    } else if (expression !== undefined) all.append(block(expression));
    if (operands.length > 0) all.append(operandTable(operands));
    if (difference) {
      const { expected, received, lines } = difference;
      all.append(differenceBlock([`- expected: ${expected}`, `+ received: ${received}`, ...lines]));
    }
    if (hint !== undefined) all.append(el("p", {}, `Hint: ${hint}`));
    return all;
  };

  const failureSection = (failures: readonly Failure[]) =>
    failures.length === 0 ? [] : [section("Failures", ...failures.map(failureBlock))];

  const isEmpty = (value: Value) =>
    value === null || typeof value === "object" && Object.keys(value).length === 0;

  const message = (name: string, value: Value, { title, covered = [] }: MessageView = {}) => {
    const shown = [
      ...title === undefined ? [] : [el("p", {}, el("code", {}, title))],
      fields(value, covered),
    ];
    return isEmpty(value) ? [] : [foldable(name, ...shown)];
  };

  const exchangeSections = ({ req, res, command, view }: Exchange) => [
    ...message("Request", req, view?.request),
    ...message("Response", res, view?.response),
    ...command === undefined ? [] : [section("To repeat it", block(command))],
  ];

  const sectionsOf = (details: PageDetails): PageElement[] => {
    const { failures, test, echo, outputs, attempts, exchange } = details;
    return [
      ...failureSection(failures),
      ...test ? [section("Test", block(test.expression), operandTable(test.operands))] : [],
      ...echo === undefined ? [] : [section("Echo", block(echo))],
      ...attempts ? [section("Attempts", attemptTable(attempts))] : [],
      // What is nil or empty counts here, too.
      ...isEmpty(outputs ?? null) ? [] : [section("Outputs", tree(outputs))],
      ...exchange ? exchangeSections(exchange) : [],
    ];
  };

  const remarksOf = ({ reason, untested, untestedInside, wait, maxAttempts }: PageDetails) => [
    ...reason === undefined ? [] : [reason],
    ...untested === undefined ? [] : [`${untested}, not tested`],
    ...untestedInside === undefined
      ? []
      : [`steps inside that were no success and nothing tested: ${untestedInside}`],
    ...wait === undefined ? [] : [`waited ${time(wait)} before it`],
    ...maxAttempts === undefined ? [] : [`at most ${maxAttempts} attempts`],
  ];

  const show = (title: string, facts: readonly string[], remarks: readonly string[]) => {
    panel.replaceChildren(
      el("h2", {}, title),
      el("p", { class: "muted" }, facts.join(" · ")),
      ...remarks.map((remark) => el("p", {}, remark)),
    );
    panel.scrollTop = 0;
  };

  return {
    showStep(step, job, details) {
      const { responseTime } = details ?? {};
      const facts = [
        step.state === "untested" ? "not tested" : step.state,
        ...step.flaky ? ["flaky"] : [],
        step.uses,
        time(step.duration),
        ...responseTime === undefined ? [] : [`response in ${time(responseTime)}`],
        ...(step.phases ?? []).map(([name, took]) => `${name.replace("_", " ")} ${time(took)}`),
        ...step.place === undefined ? [] : [step.place],
      ];
      show(`${job.name} › ${step.name}`, facts, details ? remarksOf(details) : []);
      panel.append(...details ? sectionsOf(details) : []);
    },
    showJob(job, nameOf) {
      const { state, start, duration, critical, reason, needs, rounds, failures } = job;
      const facts = [
        state,
        ...start === undefined || state === "unfinished" ? [] : [time(duration)],
        ...critical ? ["on the critical path"] : [],
      ];
      show(job.name, facts, [
        ...reason === undefined ? [] : [reason],
        ...needs.length === 0 ? [] : [`Needs ${needs.map(nameOf).join(", ")}`],
      ]);
      panel.append(
        ...failureSection(failures),
        ...rounds === undefined ? [] : [section("All rounds", block(rounds))],
      );
    },
  };
}
