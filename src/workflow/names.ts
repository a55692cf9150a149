import type { Action, ResponseField } from "../action/action.ts";
import type { KeyKind, Parameter } from "../action/parameter.ts";

export type RuleForm = Omit<Parameter, "name" | "required">;

/** The kinds of keys in the words of the reference. */
const KINDS: { readonly [T in KeyKind]: string } = {
  template: "string with templates",
  expression: "expression",
  assertions: "expression or map, or list of them",
  names: "list of strings",
  data: "map with templates",
  rows: "path, list or map",
  iteration: "list, template or map",
  snapshot: "true or map",
  matrix: "map of lists",
  types: "auto or map",
  outputs: "map of names to expressions",
};

/** What a key may be; `quote` marks words that are written as they are. */
export function typeOfKey({ type, values, key }: RuleForm, quote = (word: string) => word): string {
  if (key?.kind) return KINDS[key.kind];
  return values ? values.map(quote).join(" or ") : [type].flat().join(" or ");
}

/** The keys of a map; an assertion may be the only one, without a list. */
export function fieldsOf({ fields, key }: RuleForm): readonly Parameter[] | undefined {
  return fields ?? (key?.kind === "assertions" ? key.item?.fields : undefined);
}

/** The maps of a file whose keys have a table in the reference, from the outer to the inner ones. */
export function tablesOf(root: RuleForm): readonly RuleForm[] {
  const found = new Map<string, RuleForm>();
  let level = [root];
  while (level.length > 0) {
    for (const form of level) {
      const { title } = form.key ?? {};
      if (title !== undefined && !found.has(title)) found.set(title, form);
    }
    level = level.flatMap(({ fields = [] }) => fields.flatMap((field) => field.key?.item ?? field));
  }
  return [...found.values()];
}

/** A parameter, or a field of one, by its full name: `tls.ca`, `transaction[].query`. */
export interface NamedParameter {
  readonly name: string;
  readonly parameter: Parameter;
}

/** Every parameter, each followed by its fields. */
export function listParameters(
  parameters: readonly Parameter[],
  prefix = "",
): readonly NamedParameter[] {
  return parameters.flatMap((parameter) => {
    const name = prefix + parameter.name;
    return [
      { name, parameter },
      ...listParameters(parameter.fields ?? [], `${name}.`),
      ...listParameters(parameter.items ?? [], `${name}[].`),
    ];
  });
}

/** A summary as the beginning of a sentence. */
export function sentence(summary: string): string {
  return summary[0]!.toUpperCase() + summary.slice(1);
}

/** The types of fields in the words of parameters. */
const FIELD_TYPES: { readonly [T in NonNullable<ResponseField["type"]>]: string } = {
  ...{ nil: "nil", bool: "boolean", int: "integer", float: "number" },
  ...{ string: "string", array: "list", map: "map" },
};

/** The type of a field of `res`, in the words of parameters. */
export function typeOfField({ type }: Pick<ResponseField, "type">): string {
  return type === undefined ? "any" : FIELD_TYPES[type];
}

/** A step that uses an action, in YAML. */
export function exampleStep({ name, usage, exampleTest }: Action): string {
  const test = exampleTest === undefined ? undefined : `test: ${exampleTest}`;
  const lines = [`- uses: ${name}`, usage, test].filter((part) => part !== undefined);
  return lines.join("\n").replaceAll("\n", "\n  ");
}

/** A name that expressions can read, or a part of one. */
interface NameText {
  /** Its type, in the words of parameters. */
  readonly type: string;
  /** What it is, in one line. */
  readonly summary: string;
}

function number(summary: string): NameText {
  return { type: "number", summary };
}

function integer(summary: string): NameText {
  return { type: "integer", summary };
}

function string(summary: string): NameText {
  return { type: "string", summary };
}

function map(summary: string): NameText {
  return { type: "map", summary };
}

function list(summary: string): NameText {
  return { type: "list", summary };
}

/** The numbers of rounds, and of steps in rounds. */
function statistics(what: string): Readonly<Record<string, NameText>> {
  return {
    count: integer(`how many ${what} ended`),
    passed: integer("how many of them passed"),
    failed: integer("how many of them failed"),
    rate: number("how many of them ended in a second"),
    min: number(`the shortest time of the ${what}, in seconds`),
    mean: number("the mean of the times, in seconds"),
    p50: number("the median of the times, in seconds"),
    p90: number("the time that 90 % of them were within, in seconds"),
    p95: number("the time that 95 % of them were within, in seconds"),
    p99: number("the time that 99 % of them were within, in seconds"),
    p999: number("the time that 99.9 % of them were within, in seconds"),
    max: number(`the longest time of the ${what}, in seconds`),
    bytes_in: integer("how many bytes were received"),
    bytes_out: integer("how many bytes were sent"),
    resent: integer("how many requests were sent again, as the server had closed the connection"),
  };
}

function below(
  name: string,
  parts: Readonly<Record<string, NameText>>,
): Readonly<Record<string, NameText>> {
  return Object.fromEntries(
    Object.entries(parts).map(([part, text]) => [`${name}.${part}`, text]),
  );
}

/**
 * The names that expressions see, by their paths, in which `*` is any name. Which of them a key
 * sees is the matter of its `NameRule`.
 */
export const NAMES: Readonly<Record<string, NameText>> = {
  vars: map("the variables of the workflow, with those of the step and of the entry of iteration"),
  outputs: map("what steps have published: `outputs.<step id>.<name>`, or `outputs.<name>`"),
  "outputs.*.all": list(
    "the outputs of all entries of an `iteration`, or of all jobs of a `matrix`",
  ),
  needs: map("how the jobs that this job needs have ended: `needs.<job id>.state`"),
  "needs.*.state": string("how the job ended: `passed`, `failed` or `skipped`"),
  "needs.*.all": list("the `state` and `matrix` of each job of a `matrix`"),
  matrix: map("the values of the `matrix` of the job in the combination that it runs for"),
  res: map("the response of the action; nil before it"),
  message: map("the last message that a step of `receive` took"),
  req: map("the request of the action, as it was sent; nil before it"),
  rt: map("the time that the action took"),
  ...below("rt", {
    sec: number("the time that the action took in seconds, such as 0.0123"),
    duration: string("the same as text, such as `12.3ms`"),
  }),
  status: integer("0 if the action succeeded"),
  repeat_index: integer("the number of the round of the job, from 0"),
  iteration_index: integer("the number of the entry of `iteration`, from 0"),
  trace: map("the trace of the step, by `--trace`"),
  ...below("trace", {
    id: string("the id of the trace: 32 hexadecimal digits; nil without `--trace`"),
    span: string("the id of the span of the attempt: 16 hexadecimal digits; nil without `--trace`"),
  }),
  round: map("the round of a job with `load`"),
  ...below("round", {
    index: integer("the number of the round, from 0"),
    user: integer("the number of the user who runs it, from 0"),
  }),
  run: map("how the run is going, so far; in the teardown of a suite, the whole suite"),
  ...below("run", {
    state: string("`passed`, `failed` or `interrupted`"),
    failed: integer("how many steps of the run failed"),
    failures: list(
      "why they failed, the first 100: `job`, `step`, `message`, `file` and `line` of each",
    ),
    streak: integer("how many runs in a row, this one included, are in this state, by `--state`"),
    previous: map("the run before, by `--state`; nil at the first one"),
  }),
  ...below("run.previous", {
    state: string("how it ended: `passed`, `failed` or `interrupted`"),
    streak: integer("how many runs in a row had ended in that state"),
    since: string("when the first of them began: `2026-01-31T08:00:00.000Z`"),
    duration: number("how long it took, in seconds"),
    outputs: map("the outputs of its steps that are not secret: `<step id>.<name>`"),
  }),
  job: map("how the job is going, in its `finally`"),
  ...below("job", {
    state: string("`passed`, `failed` or `interrupted`, in this round"),
    failed: integer("how many steps of the job failed, in this round"),
  }),
  stats: map("the statistics of the rounds of the job"),
  ...below("stats", {
    ...statistics("rounds"),
    started: integer("how many rounds started"),
    dropped: integer("how many rounds did not start, because too many were under way"),
    late: integer("how many rounds started more than 10 ms after they were due"),
    late_max: number("by how much a round started late at most, in seconds"),
    busy: number(
      "the part of a processor that the program used in its busiest second, from 0 to 1",
    ),
    in_flight: integer("how many rounds were under way at most"),
    elapsed: number("how long rounds ran, in seconds"),
    steps: map("the same numbers of each step, by its id"),
    setup: map("how many users were set up"),
    "setup.passed": integer("the users whose `setup` passed"),
    "setup.failed": integer("the users whose `setup` failed, who run no rounds"),
  }),
  "stats.steps.*": map("the numbers of a step"),
  ...below("stats.steps.*", {
    ...statistics("requests"),
    codes: map(
      "how many responses had a code of `1xx`, `2xx`, `3xx`, `4xx`, `5xx`, or exactly one like `429`",
    ),
    phases: map("the mean time of each phase of its requests, in seconds"),
  }),
};

/** The declaration of a name by its path; undefined if that depends on the file. */
export function nameText(path: readonly string[]): NameText | undefined {
  const whole = path.join(".");
  if (Object.hasOwn(NAMES, whole)) return NAMES[whole];
  const [root, ...rest] = path;
  const any = root === "stats"
    ? [root, "steps", "*", ...rest.slice(2)]
    : [root, "*", ...rest.slice(1)];
  const general = any.join(".");
  return path.length === any.length && Object.hasOwn(NAMES, general) ? NAMES[general] : undefined;
}
