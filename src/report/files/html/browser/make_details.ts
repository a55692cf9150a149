import type { Attempt, Exchange, Failure, RoundStats } from "../../../../run/event.ts";
import type { Value } from "../../../../base/value/value.ts";
import type { PageDetails, PageJob, PageStep } from "../page_data.ts";
import type { MakeCopyButton } from "./copy.ts";
import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";
import type { Failures } from "./failures.ts";
import type { ShowExchange } from "./make_messages.ts";
import type { ShowPhases } from "./make_phases.ts";
import type { PageTab, ShowTabs } from "./make_tabs.ts";
import type { Values } from "./values.ts";

/** Shows the details of one step or job. */
export interface Details {
  readonly showStep: (
    step: PageStep,
    job: PageJob,
    details: PageDetails | undefined,
    link: string,
  ) => void;
  readonly showJob: (job: PageJob, nameOf: (id: string) => string, link: string) => void;
}

/** What shows the parts of the details. */
export interface DetailParts {
  readonly el: MakeElement;
  readonly time: (milliseconds: number) => string;
  readonly values: Values;
  readonly copyButton: MakeCopyButton;
  readonly failures: Failures;
  readonly showExchange: ShowExchange;
  readonly showPhases: ShowPhases;
  readonly showTabs: ShowTabs;
}

/** Fills a panel with the details of one step or job. */
export function makeDetails(panel: PageElement, parts: DetailParts): Details {
  const { el, time, values: { tree }, copyButton, failures, showExchange } = parts;
  const { showPhases, showTabs } = parts;
  const block = (text: string) => el("pre", { tabindex: "0" }, text);
  const section = (title: string, ...content: PageElement[]) =>
    el("section", {}, el("h3", {}, title), ...content);

  const table = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell))))),
    );

  const statsTable = ({ count, passed, failed, ...times }: RoundStats) =>
    table(
      ["rounds", "passed", "failed", ...Object.keys(times)],
      [[`${count}`, `${passed}`, `${failed}`, ...Object.values(times).map(time)]],
    );

  const failureSection = (all: readonly Failure[]) =>
    all.length === 0
      ? []
      : [section(all.length === 1 ? "Failure" : "Failures", ...all.map(failures.failure))];

  const timing = (phases: PageStep["phases"] = []) =>
    phases.length === 0 ? [] : [section("Timing", showPhases(phases))];

  /** What is known of one attempt. */
  const attemptContent = (
    failed: readonly Failure[],
    phases: PageStep["phases"],
    exchange: Exchange | undefined,
  ) => [...failureSection(failed), ...timing(phases), ...exchange ? showExchange(exchange) : []];

  const attemptTabs = (attempts: readonly Attempt[], last: () => PageElement[]) => {
    const tabs = attempts.flatMap(({ number, outcome, duration, detail }): PageTab[] => {
      const isLast = number === attempts.length;
      if (!isLast && !detail) return [];
      return [{
        label: `Attempt ${number}`,
        state: outcome === "passed" ? "passed" : "failed",
        content: () => [
          el("p", { class: "muted" }, `${outcome} after ${time(duration)}`),
          ...detail
            ? attemptContent(detail.failures, Object.entries(detail.phases ?? {}), detail.exchange)
            : last(),
        ],
      }];
    });
    const others = attempts.filter(({ number, detail }) => number < attempts.length && !detail);
    const rows = others.map(({ number, outcome, duration, message = "" }) =>
      [String(number), outcome, time(duration), message] as const
    );
    return [
      ...tabs.length > 1 ? [section("Attempts", showTabs("Attempts", tabs))] : last(),
      ...rows.length === 0 ? [] : [
        el(
          "details",
          { class: "part" },
          el("summary", {}, el("h3", {}, tabs.length > 1 ? "Other attempts" : "Attempts")),
          table(["Attempt", "Outcome", "Time", "Message"], rows),
        ),
      ],
    ];
  };

  const isEmpty = (value: Value) =>
    value === null || typeof value === "object" && Object.keys(value).length === 0;

  const sectionsOf = ({ phases }: PageStep, details: PageDetails): PageElement[] => {
    const { failures: failed, tests = [], echo, outputs, attempts, exchange } = details;
    const outcome = [
      ...tests.map(({ expression, operands }) =>
        section("Passed test", block(expression), failures.operands(operands))
      ),
      ...echo === undefined ? [] : [section("Echo", block(echo))],
      // Nil and empty outputs are left out.
      ...isEmpty(outputs ?? null) ? [] : [section("Outputs", tree(outputs))],
    ];
    if (attempts) {
      return [...attemptTabs(attempts, () => attemptContent(failed, phases, exchange)), ...outcome];
    }
    return [
      ...failureSection(failed),
      ...outcome,
      ...timing(phases),
      ...exchange ? showExchange(exchange) : [],
    ];
  };

  const remarksOf = (
    { assertions, reason, untested, untestedInside, wait, maxAttempts }: PageDetails,
  ) => [
    ...assertions === undefined
      ? []
      : [`assertions: ${assertions.passed} passed, ${assertions.failed} failed`],
    ...reason === undefined ? [] : [reason],
    ...untested === undefined ? [] : [`${untested}, not tested`],
    ...untestedInside === undefined
      ? []
      : [`unsuccessful steps inside that nothing tested: ${untestedInside}`],
    ...wait === undefined ? [] : [`waited ${time(wait)} before it`],
    ...maxAttempts === undefined ? [] : [`at most ${maxAttempts} attempts`],
  ];

  const show = (
    title: string,
    state: string,
    facts: readonly string[],
    remarks: readonly string[],
    link: string,
  ) => {
    const word = state === "untested" ? "not tested" : state;
    panel.replaceChildren(
      el(
        "div",
        { class: "title" },
        el("h2", { title }, title),
        copyButton("Copy link", () => link),
      ),
      el(
        "p",
        { class: "facts muted" },
        el("span", { class: `badge ${state}` }, word),
        ...facts.flatMap((fact) => [
          " ",
          el("span", { class: fact === "flaky" ? "badge flaky" : "" }, fact),
        ]),
      ),
      ...remarks.length === 0 ? [] : [el("p", { class: "muted" }, remarks.join(" · "))],
    );
    panel.scrollTop = 0;
  };

  return {
    showStep(step, job, details, link) {
      const { responseTime } = details ?? {};
      const facts = [
        ...step.flaky ? ["flaky"] : [],
        step.uses,
        time(step.duration),
        ...responseTime === undefined ? [] : [`response in ${time(responseTime)}`],
        ...step.place === undefined ? [] : [step.place],
      ];
      const remarks = details ? remarksOf(details) : [];
      show(`${job.name} › ${step.name}`, step.state, facts, remarks, link);
      panel.append(...details ? sectionsOf(step, details) : []);
    },
    showJob(job, nameOf, link) {
      const { state, start, duration, critical, reason, needs, rounds, failures: failed } = job;
      const { expect, stats } = job;
      const facts = [
        ...start === undefined || state === "unfinished" ? [] : [time(duration)],
        ...critical ? ["on the critical path"] : [],
      ];
      const remarks = [
        ...reason === undefined ? [] : [reason],
        ...needs.length === 0 ? [] : [`Needs ${needs.map(nameOf).join(", ")}`],
        ...expect === undefined ? [] : [`Expects ${expect}`],
      ];
      show(job.name, state, facts, remarks, link);
      panel.append(
        ...failureSection(failed),
        ...stats ? [section("Times of the rounds", statsTable(stats))] : [],
        ...rounds === undefined ? [] : [section("All rounds", block(rounds))],
      );
    },
  };
}
