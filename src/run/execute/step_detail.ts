import type { HideSecrets } from "../../action/parameter.ts";
import type { CommandLine, CommandWord, MessageDescription } from "../../action/explainer.ts";
import { roundDuration } from "../../base/value/duration.ts";
import { parseExactly } from "../../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../../base/value/value.ts";
import { explain } from "../../expr/evaluate/explain.ts";
import type { Bounded } from "../../secrets/bound_value.ts";
import { MASK, type Masker } from "../../secrets/masker.ts";
import { isSecretName, withoutSecretNames } from "../../secrets/secrets.ts";
import type {
  Attempt,
  AttemptDetail,
  Exchange,
  MessageView,
  PassedTest,
  StepResult,
} from "../event.ts";
import { shownOperands } from "../failure/make_failure.ts";
import type { StepExecution } from "../run_state.ts";
import { type AttemptResult, phasesOf } from "./attempt_step.ts";
import { wordsOf } from "./evaluate_field.ts";
import { isPrintable } from "../../base/text/printable.ts";
import { quoteForShell } from "../../base/text/shell_word.ts";
import { isSurelyTrue } from "./read_condition.ts";

/** Details of a step besides its outcome: of all steps, or of failed ones. */
export async function stepDetail(
  step: StepExecution,
  attempt: AttemptResult,
): Promise<Pick<StepResult, "exchange" | "outputs" | "tests">> {
  const { all, limit } = step.run.detail;
  return {
    exchange: await exchangeOf(step, attempt, limit),
    outputs: all ? publishedBy(step) : undefined,
    tests: all && attempt.assertions ? passedTests(step) : undefined,
  };
}

/** Limits for the details of attempts before the last one, which come on top of the result. */
const ATTEMPT = { latest: 9, limit: 4096, image: 200_000 } as const;

/** Returns the details that are kept of an attempt before the last one. */
export async function attemptDetail(
  step: StepExecution,
  attempt: AttemptResult,
): Promise<AttemptDetail> {
  const { response, failures } = attempt;
  const limit = Math.min(step.run.detail.limit, ATTEMPT.limit);
  const exchange = await exchangeOf(step, attempt, limit);
  const kept: AttemptDetail = {
    failures,
    responseTime: response && roundDuration(response.elapsed),
    phases: phasesOf(attempt),
    exchange: exchange && withSmallImages(exchange),
  };
  // A copy, because a substring keeps the whole text in memory.
  return parseExactly(JSON.stringify(kept));
}

/** Takes the details of one in the middle away, so that a step that polls for hours stays small. */
export function withoutMiddle(attempts: Attempt[]): void {
  const index = attempts.length - 1 - ATTEMPT.latest;
  const old = attempts[index];
  if (index < 1 || !old) return;
  const { detail: _, ...brief } = old;
  attempts[index] = brief;
}

function withSmallImages({ view, ...exchange }: Exchange): Exchange {
  const { response } = view ?? {};
  if (!response?.images) return { ...exchange, view };
  const images = response.images.filter(({ data }) => data.length <= ATTEMPT.image);
  return { ...exchange, view: { ...view, response: { ...response, images } } };
}

/** The tests that came out true, also beside others that did not. */
function passedTests({ run, model, scope }: StepExecution): PassedTest[] | undefined {
  const passed = (model.test ?? []).filter(({ expression }) => isSurelyTrue(expression, scope));
  if (passed.length === 0) return undefined;
  return passed.map((assertion) => ({
    says: wordsOf(assertion, scope),
    expression: assertion.expression.source,
    operands: shownOperands(run, explain(assertion.expression, scope, true).operands),
  }));
}

function publishedBy({ run, model, round }: StepExecution): Bounded | undefined {
  if (model.id === undefined || model.outputs.length === 0) return undefined;
  const published = round.outputs.view[model.id];
  return isDict(published) ? run.bound(withoutSecretNames(published, MASK)) : undefined;
}

/** Request and response as reports show them, with no more than `limit` characters of a field. */
async function exchangeOf(
  { run, model: { action }, params = {} }: StepExecution,
  { exchange }: AttemptResult,
  limit: number,
): Promise<Exchange | undefined> {
  if (!exchange) return undefined;
  const { req, res, brief } = { ...exchange, ...exchange.whole?.() };
  const explainer = await action.explainer?.();
  const described = explainer?.describe?.(req, res) ?? {};
  const [request, response] = [described.request, described.response].map((message) =>
    message && viewOf(message, (title) => (run.bound({ title }, limit) as Dict).title as string)
  );
  const shown = (message: Dict, fields: readonly Field[] = []) =>
    run.bound(hideFields(message, fields), limit);
  const line = explainer?.command?.(req, params);
  // The environment of a run does not change.
  const named = run.resources.resource("named secrets", () => namedSecrets(run.host.env.all()));
  return {
    req: shown(described.request?.kept ?? req, action.parameters),
    res: res && shown(described.response?.kept ?? res, action.responseFields),
    brief,
    view: request || response ? { request, response } : undefined,
    command: line && shellText(line, named, run.secrets),
  };
}

/** A field of a request or a response. Its action may hide parts of it. */
interface Field {
  readonly name: string;
  readonly hide?: HideSecrets;
}

/** Hides the fields of a request or response that its action declares secret. */
export function hideFields(message: Dict, fields: readonly Field[]): Dict {
  const hidden: Record<string, Value> = {};
  for (const { name, hide } of fields) {
    const value = hide && message[name];
    if (value !== undefined) hidden[name] = hide!(value, MASK);
  }
  return { ...message, ...hidden };
}

function viewOf(
  { title, covered, asJson, asTable, minor, images }: MessageDescription,
  bound: (title: string) => string,
): MessageView {
  return {
    title: title && bound(title),
    covered: unlessEmpty(covered),
    asJson: unlessEmpty(asJson),
    asTable: unlessEmpty(asTable),
    minor: unlessEmpty(minor),
    images: unlessEmpty(images),
  };
}

function unlessEmpty<T>(list: readonly T[] = []): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The environment variables that hold secrets, by their values. */
type NamedSecrets = ReadonlyMap<string, string>;

/** The secrets of an environment whose variables a shell can read. */
function namedSecrets(environment: Readonly<Record<string, string>>): NamedSecrets {
  const named = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (isSecretName(name) && /^[A-Za-z_]\w*$/.test(name) && !named.has(value)) {
      named.set(value, name);
    }
  }
  return named;
}

/**
 * A command for any POSIX shell, a group of words on each line. Secrets are written as `$NAME`
 * where a variable of the environment holds it, and otherwise as `***`.
 */
function shellText(
  { groups, input, note }: CommandLine,
  named: NamedSecrets,
  masker: Masker,
): string {
  const read = (word: CommandWord) => partsOf(word, named, masker);
  const lines = groups.map((words) => words.map((word) => writeWord(read(word))).join(" "));
  const before = [
    ...note === undefined ? [] : [`# ${note}\n`],
    ...input === undefined ? [] : [`${printing(read(input))} |\n  `],
  ];
  return before.join("") + lines.join(" \\\n  ");
}

/** A part of a text: as it is, or the name of the variable that holds it. */
type TextPart = { readonly text: string } | { readonly name: string };

/** Splits a word into texts without secrets and names of variables that hold them. */
function partsOf(word: CommandWord, named: NamedSecrets, masker: Masker): readonly TextPart[] {
  if (typeof word === "string") return textParts(word, named, masker);
  const parts = textParts(word.secret, named, masker);
  const isNamed = parts.some((part) => "name" in part) &&
    parts.every((part) => "name" in part || /^[A-Za-z]+ $/.test(part.text));
  const before = textParts(word.before, named, masker);
  return joined([...before, ...isNamed ? parts : textParts(word.shown, named, masker)]);
}

function textParts(text: string, named: NamedSecrets, masker: Masker): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const range of masker.find(text)) {
    parts.push({ text: text.slice(end, range.start) });
    parts.push(...secretParts(text.slice(range.start, range.end), named));
    end = range.end;
  }
  return joined([...parts, { text: text.slice(end) }]);
}

/** A secret by its name. A scheme before it, as in `Bearer …`, is kept. */
function secretParts(secret: string, named: NamedSecrets): readonly TextPart[] {
  const [, scheme = "", value = ""] = /^([A-Za-z]+ )?(.*)$/s.exec(secret) ?? [];
  const whole = named.get(secret);
  if (whole !== undefined) return [{ name: whole }];
  const name = named.get(value);
  return name === undefined ? [{ text: MASK }] : [{ text: scheme }, { name }];
}

function writeWord(parts: readonly TextPart[]): string {
  if (parts.length === 0) return "''";
  return parts.map((part) => "name" in part ? `"$${part.name}"` : quote(part.text))
    .join("");
}

/** The same parts with neighboring texts joined, without empty ones. */
function joined(parts: readonly TextPart[]): readonly TextPart[] {
  const out: TextPart[] = [];
  for (const part of parts) {
    if ("text" in part && part.text === "") continue;
    const last = out.at(-1);
    if (last && "text" in last && "text" in part) {
      out[out.length - 1] = { text: last.text + part.text };
    } else out.push(part);
  }
  return out;
}

function quote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (isPrintable(text) && !/[\n\t]/.test(text)) return quoteForShell(text);
  return `"$(${printing([{ text }])})"`;
}

/** A command that prints a text. In its format, invisible characters are written as numbers. */
function printing(parts: readonly TextPart[]): string {
  const names = parts.flatMap((part) => "name" in part ? [`"$${part.name}"`] : []);
  const format = parts.map((part) => "name" in part ? "%s" : inFormat(part.text)).join("");
  // A dash would begin an option.
  return ["printf", quoteForShell(format.replace(/^-/, "\\055")), ...names].join(" ");
}

function inFormat(text: string): string {
  return [...text].map((character) => {
    const known = ESCAPES.get(character);
    if (known !== undefined) return known;
    return isPrintable(character) ? character : octal(character);
  }).join("");
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\\\"],
  ["%", "%%"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function octal(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
