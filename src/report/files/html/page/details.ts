import { formatElapsed } from "../../../../base/value/duration.ts";
import type { Value } from "../../../../base/value/value.ts";
import type {
  Attempt,
  Difference,
  Exchange,
  Failure,
  MessageView,
  Operand,
  Violation,
} from "../../../../run/event.ts";
import { distributionChart, loadParts } from "./load.ts";
import type { PageDetails, PageJob, PageStep } from "../page_data.ts";
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
import { fields, tree } from "./values.ts";
import { ICONS } from "./waterfall.ts";

/** The details of a step; `link` makes the address that leads to it. */
export function stepDetails(
  step: PageStep,
  job: PageJob,
  details: PageDetails,
  link: () => string,
): Content {
  const { failures, tests = [], echo, outputs, attempts, exchange, responseTime } = details;
  const facts = [
    step.allowFailure && "allowed failure",
    step.flaky && "flaky",
    step.uses,
    formatElapsed(step.duration),
    responseTime !== undefined && `response in ${formatElapsed(responseTime)}`,
    step.position,
  ];
  const results = [
    tests.map(({ says, expression, operands }) =>
      section(
        "Passed test",
        says !== undefined && el("p", says),
        block(expression),
        operandTable(operands),
      )
    ),
    echo !== undefined && section("Echo", block(echo)),
    !isEmpty(outputs) && section("Outputs", tree(outputs)),
  ];
  return [
    head(`${job.name} › ${step.name}`, step.state, facts, remarksOf(details), link),
    attempts
      ? [attemptParts(attempts, attemptContent(failures, step.phases, exchange)), results]
      : [failureSection(failures), results, timing(step.phases), exchangeParts(exchange)],
    traceSection(details.trace),
    messageTable(details.came, step.arrivals),
  ];
}

/** The id of the trace, which leads to it where that has an address. */
function traceSection(trace: PageDetails["trace"]): Content {
  if (!trace) return [];
  const id = el("code.value", trace.id);
  const isLink = /^https?:/.test(trace.url ?? "");
  return section("Trace", isLink ? el("a", { href: trace.url }, id) : id);
}

/** What came to a step that stayed open, and when. */
function messageTable(came: PageDetails["came"], arrivals: PageStep["arrivals"] = []): Content {
  if (!came) return [];
  const { count, texts } = came;
  const rows = texts.map((text, index) =>
    row([formatElapsed(arrivals[index] ?? 0), el("code.value", text)])
  );
  const more = count - texts.length;
  return section(
    "Messages",
    table(["At", "Message"], rows),
    more > 0 && el("p.muted", `${more} more`),
  );
}

function remarksOf(
  { assertions, reason, wait, maxAttempts, retryTime, resent }: PageDetails,
): (string | undefined | false)[] {
  return [
    assertions && `assertions: ${assertions.passed} passed, ${assertions.failed} failed`,
    reason,
    wait !== undefined && `waited ${formatElapsed(wait)} before it`,
    maxAttempts !== undefined && `at most ${maxAttempts} attempts`,
    resent !== undefined && "sent again: the server closed the connection without an answer",
    retryTime !== undefined && `attempts for at most ${formatElapsed(retryTime)}`,
  ];
}

/** The most steps that the details of a job list. */
const MAX_STEPS = 200;

/** The fewest passed steps in a row that fold in a job with others. */
const FOLDED = 3;

/**
 * The steps of a job, with what failed; passed ones in a row fold beside others. `linkTo` makes the
 * address of one by its key.
 */
function stepList(steps: readonly PageStep[], linkTo: (key: string) => string): Content {
  const own = steps.filter(({ depth }) => depth === 0);
  if (own.length === 0) return [];
  const groups: PageStep[][] = [];
  for (const step of own.slice(0, MAX_STEPS)) {
    const last = groups.at(-1);
    if (step.state === "passed" && last?.[0]?.state === "passed") last.push(step);
    else groups.push([step]);
  }
  const more = own.length - MAX_STEPS;
  return section(
    "Steps",
    groups.map((group) => {
      const lines = group.map((step) => stepLine(step, linkTo(step.key)));
      if (groups.length === 1 || group.length < FOLDED) return lines;
      const duration = group.reduce((sum, { duration }) => sum + duration, 0);
      return el(
        "details.steps",
        el(
          "summary.step-line",
          el("span.passed", `${group.length} passed`),
          el("span.time", formatElapsed(duration)),
        ),
        lines,
      );
    }),
    more > 0 && el("p.muted", `${more} more`),
  );
}

function stepLine({ state, name, message, duration }: PageStep, href: string): PageElement {
  return el(
    "div.step-line",
    el(`span.icon.${state}`, { role: "img", "aria-label": state }, ICONS[state]),
    el("div", el("a", { href }, name), message !== undefined && el("p.failed", message)),
    el("span.time", formatElapsed(duration)),
  );
}

/**
 * The details of a job with its `steps`; `nameOf` gives the name of a job by its id, `linkTo` the
 * address of one of its steps by its key, and `width` is that of charts.
 */
export function jobDetails(
  job: PageJob,
  steps: readonly PageStep[],
  nameOf: (id: string) => string | undefined,
  link: () => string,
  linkTo: (key: string) => string,
  width: number,
): Content {
  const { times = [], load } = job;
  const { state, start, duration, critical, reason, needs, rounds, failures, stats } = job;
  const facts = [
    start !== undefined && state !== "unfinished" && formatElapsed(duration),
    critical !== undefined && "on the critical path",
  ];
  const remarks = [
    reason,
    needs.length > 0 && `Needs ${needs.map(nameOf).join(", ")}`,
  ];
  return [
    head(job.name, state, facts, remarks, link),
    failureSection(failures),
    load ? loadParts(load, width, linkTo) : stepList(steps, linkTo),
    stats && section("Times of the rounds", statsTable(stats)),
    times.length > 0 &&
    section("Response times", times.map((one) => distributionChart(one, width))),
    rounds !== undefined && section("All rounds", block(rounds)),
  ];
}

function statsTable(
  { count, passed, failed, ...times }: NonNullable<PageJob["stats"]>,
): PageElement {
  return table(["rounds", "passed", "failed", ...Object.keys(times)], [
    row([`${count}`, `${passed}`, `${failed}`, ...Object.values(times).map(formatElapsed)]),
  ]);
}

function head(
  title: string,
  state: string,
  facts: readonly (string | undefined | false)[],
  remarks: readonly (string | undefined | false)[],
  link: () => string,
): Content {
  const remark = remarks.filter(Boolean).join(" · ");
  return [
    el("div.title", el("h2", { title }, title), copyButton("Copy link", link)),
    el(
      "p.facts.muted",
      el(`span.badge.${state}`, state === "untested" ? "not tested" : state),
      facts.map((fact) => fact && [" ", el(fact === "flaky" ? "span.badge.flaky" : "span", fact)]),
    ),
    remark !== "" && el("p.muted", remark),
  ];
}

function attemptContent(
  failures: readonly Failure[],
  phases: PageStep["phases"],
  exchange: Exchange | undefined,
): Content {
  return [failureSection(failures), timing(phases), exchangeParts(exchange)];
}

/** The attempts of a step. The last one is open, and `last` are its details. */
function attemptParts(attempts: readonly Attempt[], last: Content): Content {
  const parts = attempts.map(({ number, outcome, duration, message, detail }) => {
    const isLast = number === attempts.length;
    const state = outcome === "passed" ? "passed" : "failed";
    const icon = el(`span.${state}`, { role: "img", "aria-label": state }, ICONS[state]);
    const result = ` ${outcome} after ${formatElapsed(duration)}`;
    return el(
      "details.part.attempt",
      { open: isLast ? "" : undefined },
      el("summary", el("h3", icon, ` Attempt ${number}`), el("span.muted", result)),
      detail
        ? attemptContent(detail.failures, Object.entries(detail.phases ?? {}), detail.exchange)
        : isLast
        ? last
        : message !== undefined && el("p", message),
    );
  });
  return section("Attempts", parts);
}

const PHASES: Readonly<Record<string, string>> = {
  dns: "DNS",
  connect: "Connect",
  tls: "TLS",
  first_byte: "Waiting",
  download: "Download",
};

/** The phases of an action as parts of a bar, with the time of each below it. */
function timing(phases: PageStep["phases"] = []): Content {
  if (phases.length === 0) return [];
  const total = phases.reduce((sum, [, duration]) => sum + duration, 0) || 1;
  const bar = el("div.phase-bar", { "aria-hidden": "true" });
  const legend = el("ul.legend");
  for (const [name, duration] of phases) {
    const title = PHASES[name] ?? name.replaceAll("_", " ");
    const time = formatElapsed(duration);
    const part = el("span", { class: `part-of ${name}`, title: `${title} ${time}` });
    part.style.width = `${duration / total * 100}%`;
    bar.append(part);
    const dot = el("span", { class: `dot ${name}`, "aria-hidden": "true" });
    legend.append(el("li", dot, `${title} `, el("strong", time)));
  }
  return section("Timing", el("div.phases", bar, legend));
}

/** A request and its response; an empty one is left out. */
function exchangeParts(exchange: Exchange | undefined): Content {
  if (!exchange) return [];
  const { req, res, command, view } = exchange;
  const copyCommand = command?.startsWith("curl ") ? "Copy as cURL" : "Copy command";
  return [
    messagePart("Request", req, view?.request, [
      copyText(copyCommand, command),
      copyText("Copy URL", fieldOf(req, "url")),
      copyText("Copy body", fieldOf(req, "body")),
    ]),
    messagePart("Response", res, view?.response, [
      copyText("Copy body", fieldOf(res, "body")),
      copyText("Copy output", fieldOf(res, "stdout")),
    ]),
  ];
}

function messagePart(
  name: string,
  message: Value,
  view: MessageView = {},
  buttons: readonly Content[],
): Content {
  if (isEmpty(message)) return [];
  const { title, images = [] } = view;
  return el(
    "details.part",
    { open: "" },
    el("summary", el("h3", name)),
    title !== undefined && el("p.line", el("code", title)),
    images.map(({ name, data }) =>
      el("figure", el("figcaption", name), el("img", { src: data, alt: name }))
    ),
    fields(message, view),
    buttons.some(Boolean) && el("p.buttons", buttons),
  );
}

function copyText(label: string, text: Value | undefined): Content {
  if (text === undefined || text === null || text === "") return false;
  return copyButton(label, () => typeof text === "string" ? text : JSON.stringify(text, null, 2));
}

function fieldOf(message: Value, name: string): Value | undefined {
  return typeof message === "object" && message !== null && !Array.isArray(message)
    ? (message as Readonly<Record<string, Value>>)[name]
    : undefined;
}

/** Whether a value is nil, or a list or map without entries. */
function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null ||
    typeof value === "object" && Object.keys(value).length === 0;
}

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

/** Expected lines beside received ones; below each other if there is no room. */
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
