import type { Path } from "../../base/source.ts";
import { grouped } from "../../base/text/count_of.ts";
import { type Dict, isDict } from "../../base/value/value.ts";
import { parseExpression } from "../../expr/parse_expression.ts";
import { referencesIn } from "../../expr/references.ts";
import type { Assertion, Duration, Load, LoadStage, NameRule } from "../model.ts";
import { addError, hasErrors } from "../problem.ts";
import { decodeFields, type Decoding, NO_TIME } from "./decode_fields.ts";
import { decodeRows } from "./decode_iteration.ts";
import { readRate } from "./fields.ts";
import type { StepDraft } from "./decode_step.ts";
import { statsKeys } from "../step_facts.ts";
import { LOAD, LOAD_STAGE, MAX_IN_FLIGHT, statsOfStep } from "./load_fields.ts";

/** Beyond these, the numbers alone would keep the program busy. */
const [MAX_RATE, MAX_USERS] = [1_000_000, 100_000];

/** Decodes `load` of a job with these steps. */
export function decodeLoad(
  map: Dict,
  path: Path,
  steps: readonly StepDraft[],
  decoding: Decoding,
): Load | undefined {
  const keys = statsKeys(steps);
  const members = Object.assign(
    { "stats.steps": keys },
    ...steps.map(({ action }, index) =>
      statsOfStep(keys[index]!, action, decoding.plugins?.actions.has(action?.name ?? "") ?? false)
    ),
  );
  const seen = (names: NameRule): NameRule => ({
    ...names,
    members: { ...names.members, ...members },
  });
  const { expect, stop_if } = LOAD.fields;
  const fields = decodeFields(map, path, {
    ...LOAD,
    fields: {
      ...LOAD.fields,
      expect: { ...expect, names: seen(expect.names) },
      stop_if: { ...stop_if, names: seen(stop_if.names) },
    },
  }, decoding);
  if (!fields) return undefined;
  const before = decoding.problems.length;
  const kind = decodeKind(map, path, decoding);
  const stages = fields.stages
    ? decodeStages(fields.stages, [...path, "stages"], decoding)
    : decodeOnly(fields, path, decoding);
  const first = kind === "stages" ? fields.stages?.[0] : map;
  const isOpen = isDict(first) && Object.hasOwn(first, "rate");
  if (kind) {
    checkKeys(map, path, { kind, isOpen, ramps: isDict(first) && first.ramp === true }, decoding);
  }
  for (const { index, rate = 0, users = 0 } of stages ?? []) {
    const [key, value, most] = rate > 0 ? ["rate", rate, MAX_RATE] : ["users", users, MAX_USERS];
    if (value <= most) continue;
    const at = index === undefined ? [key] : ["stages", index, key];
    const limit = key === "rate" ? `${grouped(most)}/s` : grouped(most);
    addError(decoding.problems, "limit", [...path, ...at], `"${key}" must be at most ${limit}`, {
      hint: "no machine starts more; several can share a job: runner help export",
    });
  }
  const data = fields.data === undefined
    ? undefined
    : decodeRows(fields.data, [...path, "data"], decoding);
  if (!kind || !stages || hasErrors(decoding.problems.slice(before))) return undefined;
  return {
    stages,
    count: fields.count,
    warmUp: fields.warm_up,
    thinkTime: fields.think_time ?? NO_TIME,
    maxInFlight: isOpen ? fields.max_in_flight ?? MAX_IN_FLIGHT : Infinity,
    together: fields.together ?? false,
    data,
    takesRowsOnce: fields.each === "once",
    keepsCookies: fields.keep === "cookies",
    expect: fields.expect && [
      ...fields.expect,
      ...fields.expect.some(readsFailures)
        ? []
        : [{ expression: parseExpression("stats.failed == 0"), isImplied: true as const }],
    ],
    stopIf: fields.stop_if,
  };
}

/** Whether a threshold decides how many rounds, or requests, may fail. */
function readsFailures({ expression }: Assertion): boolean {
  return referencesIn(expression.node).some(({ root, keys }) => {
    const [first, , ...rest] = keys.map(({ name }) => name);
    const fields = first === "steps" ? rest : [first];
    return root === "stats" &&
      ["failed", "passed", "codes"].includes(fields[0] ?? "");
  });
}

type Kind = "rate" | "users" | "stages";

function decodeKind(map: Dict, path: Path, { problems }: Decoding): Kind | undefined {
  const kinds = (["rate", "users", "stages"] as const).filter((key) => Object.hasOwn(map, key));
  if (kinds.length === 1) return kinds[0];
  const message = kinds.length === 0
    ? '"load" needs "rate", "users" or "stages"'
    : `"${kinds.join('" and "')}" cannot be combined`;
  addError(problems, "load", path, message, {
    hint: "a rate starts rounds whatever the answers do; users run one round after another",
  });
  return undefined;
}

function decodeOnly(
  fields: { readonly rate?: string; readonly users?: number; readonly for?: Duration },
  path: Path,
  decoding: Decoding,
): readonly LoadStage[] | undefined {
  const { rate, users, for: duration } = fields;
  if (rate === undefined) return users === undefined ? undefined : [{ users, duration }];
  const perSecond = decodeRate(rate, [...path, "rate"], decoding);
  if (perSecond !== 0) return perSecond === undefined ? undefined : [{ rate: perSecond, duration }];
  addError(decoding.problems, "rate", [...path, "rate"], '"rate" must be more than 0');
  return undefined;
}

function decodeRate(rate: string, path: Path, { problems }: Decoding): number | undefined {
  const read = readRate(rate);
  if (read) return read.count / read.milliseconds * 1000;
  addError(problems, "rate", path, `"rate" ${LOAD.fields.rate.form}, not "${rate}"`);
  return undefined;
}

function decodeStages(
  list: readonly unknown[],
  path: Path,
  decoding: Decoding,
): readonly LoadStage[] | undefined {
  const { problems } = decoding;
  if (list.length === 0) addError(problems, "empty", path, '"stages" is empty');
  const stages = list.map((raw, index) => decodeStage(raw, [...path, index], decoding));
  const first = stages.find((stage) => stage);
  for (const [index, stage] of stages.entries()) {
    if (!first || !stage || (stage.rate === undefined) === (first.rate === undefined)) continue;
    const [has, others] = stage.rate === undefined ? ["users", "a rate"] : ["a rate", "users"];
    const message = `this stage has ${has}, and the first has ${others}`;
    addError(problems, "load", [...path, index], message, {
      hint: "all stages of a job have a rate, or all have users",
    });
  }
  return stages.length > 0 && stages.every((stage) => stage !== undefined) ? stages : undefined;
}

function decodeStage(raw: unknown, path: Path, decoding: Decoding): LoadStage | undefined {
  const { rate, users, ramp, for: duration } = decodeFields(raw, path, LOAD_STAGE, decoding) ?? {};
  if (!isDict(raw)) return undefined;
  const has = ["rate", "users"].filter((key) => Object.hasOwn(raw, key));
  if (has.length !== 1) {
    const message = has.length === 0
      ? 'a stage needs "rate" or "users"'
      : '"rate" and "users" cannot be combined';
    addError(decoding.problems, "load", path, message);
    return undefined;
  }
  const rest = { index: Number(path.at(-1)), duration, ...ramp ? { ramp } as const : {} };
  if (users !== undefined) return { users, ...rest };
  const perSecond = rate === undefined ? undefined : decodeRate(rate, [...path, "rate"], decoding);
  return perSecond === undefined ? undefined : { rate: perSecond, ...rest };
}

/** Why a key does not go with the others. */
function checkKeys(
  map: Dict,
  path: Path,
  { kind, isOpen, ramps }: {
    readonly kind: Kind;
    readonly isOpen: boolean;
    /** Whether the first stage does. */
    readonly ramps: boolean;
  },
  { problems }: Decoding,
): void {
  const has = (key: string) => Object.hasOwn(map, key) && map[key] !== null;
  const refuse = (key: string, why: string) => {
    if (!has(key)) return;
    const message = `"${key}" ${why}`;
    addError(problems, "load", [...path, key], message, { part: "key" });
  };
  if (kind === "stages") {
    for (const key of ["for", "count"]) {
      refuse(key, "cannot be combined with stages: each has its for");
    }
  } else if (!has("for") && !has("count") && !has("each")) {
    addError(problems, "missing", path, '"load" needs "for" or "count": when it ends');
  }
  if (isOpen) refuse("think_time", "goes with users, not with a rate");
  else refuse("max_in_flight", "has no effect with users, each of whom runs one round at a time");
  if (kind !== "users") refuse("together", 'goes with "users"');
  if (ramps) refuse("warm_up", "needs a first stage without ramp: what would its pace be?");
  if (!has("data")) refuse("each", 'has no effect without "data"');
}
