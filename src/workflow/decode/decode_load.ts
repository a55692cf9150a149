import type { Action } from "../../action/action.ts";
import { isGiven } from "../../action/parameter.ts";
import {
  choice,
  COMBINATION,
  flag,
  integer,
  list,
  map,
  type Param,
  type Rule,
  type Values,
} from "../../action/rule.ts";
import { grouped } from "../../base/text/count_of.ts";
import { type Dict, isDict } from "../../base/value/value.ts";
import type { NameRule } from "../../expr/expression.ts";
import { parseExpression } from "../../expr/parse_expression.ts";
import { referencesIn } from "../../expr/references.ts";
import type { Assertion, Load, LoadStage } from "../model.ts";
import { statsKeys } from "../step_facts.ts";
import { rows } from "./decode_iteration.ts";
import { step } from "./decode_step.ts";
import { IN_JOB, seeing } from "./expressions.ts";
import {
  assertions,
  type Decoding,
  expression,
  isReported,
  NO_TIME,
  pattern,
  rule,
  time,
} from "./key.ts";

/** The statistics that rounds and steps have. */
const NUMBERS = [
  ...["count", "passed", "failed", "rate", "min", "mean", "p50", "p90", "p95", "p99", "p999"],
  "max",
];
const TRAFFIC = ["bytes_in", "bytes_out", "resent"];
const STEP_STATS = [...NUMBERS, ...TRAFFIC, "codes", "phases"];

const OF_BROKERS = ["connect", "subscribe", "wait"];

/** The phases that each action reports; those without any send and receive nothing that is counted. */
const PHASES: Readonly<Record<string, readonly string[]>> = {
  http: ["queue", "dns", "connect", "tls", "first_byte", "download"],
  browser: ["start", "actions"],
  mqtt: OF_BROKERS,
  nats: OF_BROKERS,
  kafka: OF_BROKERS,
  amqp: OF_BROKERS,
};

/** The members of the statistics of a step. */
function statsOfStep(
  key: string,
  action: Action | undefined,
  isPlugin: boolean,
): NameRule["members"] {
  const at = `stats.steps.${key}`;
  const codes = { [`${at}.codes`]: ["1xx", "2xx", "3xx", "4xx", "5xx", "other"] };
  if (!action || action.embeds || isPlugin) return { [at]: STEP_STATS, ...codes };
  const phases = PHASES[action.name];
  const fields = action.name === "http" ? STEP_STATS : phases ? [...NUMBERS, "phases"] : NUMBERS;
  return { [at]: fields, ...codes, ...phases ? { [`${at}.phases`]: phases } : {} };
}

/** The names that thresholds see. The names of the steps are added for each job. */
const IN_THRESHOLD = {
  ...seeing(IN_JOB, ["stats"]),
  members: {
    stats: [
      ...NUMBERS,
      ...TRAFFIC,
      ...["started", "dropped", "late", "late_max", "busy", "in_flight", "elapsed", "steps"],
      "setup",
    ],
    "stats.setup": ["passed", "failed"],
    "stats.steps.*": STEP_STATS,
  },
};

/** The members of the statistics of a job. */
function statsOf(
  { plugins, steps = [] }: Pick<Decoding, "plugins" | "steps">,
): NameRule["members"] {
  const keys = statsKeys(steps);
  return Object.assign(
    { "stats.steps": keys },
    ...steps.map(({ action }, index) =>
      statsOfStep(keys[index]!, action, plugins?.actions.has(action?.name ?? "") ?? false)
    ),
  );
}

/** The maximum number of rounds under way where none is given. */
const MAX_IN_FLIGHT = 1000;

/** Beyond these, the numbers alone would keep the program busy. */
const [MAX_RATE, MAX_USERS] = [1_000_000, 100_000];

const RATE = /^\s*(\d+(?:\.\d+)?)\s*\/\s*([smh])\s*$/;
const RATE_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** Steps that are decoded with the others of the job, as they have ids and statistics like them. */
function setupSteps(summary: string): Rule<true> {
  return rule(list(step, summary).form, () => true as const);
}

/** How many rounds start in a second. */
function rate(summary: string): Rule<number> {
  return pattern(RATE, "must be like 20/s, 90/m or 100/h", summary).as((text, param) => {
    const [, count, unit] = RATE.exec(text)!;
    const perSecond = Number(count) / RATE_UNITS[unit!]!;
    if (perSecond > MAX_RATE) throw tooMany(param, `${grouped(MAX_RATE)}/s`);
    return perSecond;
  });
}

function users(summary: string, min: number): Rule<number> {
  return integer(summary, { min }).as((users, param) => {
    if (users > MAX_USERS) throw tooMany(param, grouped(MAX_USERS));
    return users;
  });
}

function tooMany(param: Param, most: string) {
  const hint = "no machine starts more; several can share a job: runner help export";
  return param.wrong(`${param.name} must be at most ${most}`, hint, { code: "limit" });
}

const STAGE = {
  rate: rate("How many rounds start in a second: 200/s."),
  users: users("How many users run one round after another.", 0),
  for: time("How long it takes.", IN_JOB).required(),
  ramp: flag("Gets there evenly from the previous stage, or from 0.")
    .with({ default: "false" }),
};

const stage = map(STAGE, "", { alternatives: [{ names: ["rate", "users"], required: true }] })
  .key({ what: "a stage", title: "stages of load" })
  .as(({ rate, users, for: duration, ramp }, param): LoadStage => {
    const rest = {
      index: Number(param.path.at(-1)),
      duration,
      ramp: ramp === true ? ramp : undefined,
    };
    return users !== undefined ? { users, ...rest } : { rate, ...rest };
  });

const stages = list(
  stage,
  "Several rates, or numbers of users, one after another, each for a time.",
)
  .as((stages, param) => {
    const [first] = stages;
    for (const stage of stages) {
      if ((stage.rate === undefined) === (first!.rate === undefined)) continue;
      const [has, others] = stage.rate === undefined ? ["users", "a rate"] : ["a rate", "users"];
      param.of(stage.index!).wrong(
        `this stage has ${has}, and the first has ${others}`,
        "all stages of a job have a rate, or all have users",
        { code: COMBINATION },
      );
    }
    return stages;
  });

const KINDS = ["rate", "users", "stages"];

const LOAD = {
  rate: rate(
    "How many rounds start in a second, a minute or an hour, however long they take: 200/s.",
  ),
  users: users("How many users run one round after another, instead of a rate.", 1),
  for: time("For how long new rounds start: 5m.", IN_JOB),
  count: integer("How many rounds start, instead of a time.", { min: 1 }),
  stages,
  warm_up: time("How long rounds run before that; they are not counted.", IN_JOB),
  think_time: time("The pause of each user between two rounds.", IN_JOB),
  max_in_flight: integer(
    "How many rounds may run at the same time; one more is dropped, and counted.",
    { min: 1 },
  ).default(MAX_IN_FLIGHT),
  together: flag(
    "Whether the first requests of all users are held back until all have a connection.",
  ).default(false),
  data: rows(
    "A file or a list: each round takes the next row, whose columns are added to vars, and " +
      "starts over after the last row.",
  ),
  each: choice(
    ["once"],
    "once: each row of data is taken once, and the job ends with the last one.",
  ),
  keep: choice(["cookies"], "cookies: each user keeps them from round to round."),
  setup: setupSteps(
    "Steps that each user runs once, before the first round; outputs, cookies and what stays open are those of the user.",
  ),
  expect: assertions(
    "Thresholds that decide whether the job passes; stats.failed == 0 is one of them, unless " +
      "they say how many rounds may fail: " +
      "stats.p95 < 0.3, stats.steps.<id>.p99 < 1, stats.failed / stats.count < 0.01.",
    IN_THRESHOLD,
  ),
  stop_if: expression(
    "Ends the job as failed once it is true; evaluated every second after the warm-up.",
    IN_THRESHOLD,
  ),
};

const measured = map(LOAD, "", {
  alternatives: [{
    names: KINDS,
    required: true,
    hint: "a rate starts rounds whatever the answers do; users run one round after another",
  }],
  check: checkKeys,
}).key({ what: "load", title: "load" }).as((written): Load => {
  const { rate, users, for: duration, stages = [{ rate, users, duration }], expect } = written;
  const [first] = stages;
  if (!first) throw isReported();
  return {
    stages,
    count: written.count,
    warmUp: written.warm_up,
    thinkTime: written.think_time ?? NO_TIME,
    maxInFlight: first.rate !== undefined ? written.max_in_flight : Infinity,
    together: written.together,
    data: written.data,
    takesRowsOnce: written.each === "once",
    keepsCookies: written.keep === "cookies",
    allowsSetupFailures: expect?.some(readsSetup),
    expect: expect && [
      ...expect,
      ...expect.some(readsFailures)
        ? []
        : [{ expression: parseExpression("stats.failed == 0"), isImplied: true as const }],
    ],
    stopIf: written.stop_if,
  };
});

export const load = rule(measured.form, (value, key) => {
  const stats = statsOf(key.decoding);
  return measured.parse(value, key.with({ stats }));
});

/** Whether a threshold decides how many rounds, or requests, may fail. */
function readsFailures({ expression }: Assertion): boolean {
  return referencesIn(expression.node).some(({ root, keys }) => {
    const [first, , ...rest] = keys.map(({ name }) => name);
    const fields = first === "steps" ? rest : [first];
    return root === "stats" &&
      ["failed", "passed", "codes"].includes(fields[0] ?? "");
  });
}

/** Whether a threshold decides how many users may fail to be set up. */
function readsSetup({ expression }: Assertion): boolean {
  return referencesIn(expression.node).some(({ root, keys: [first] }) =>
    root === "stats" && first?.name === "setup"
  );
}

/** Reports keys that do not go with the others. */
function checkKeys({ rate }: Partial<Values<typeof LOAD>>, param: Param, raw: Dict): void {
  const has = (key: string) => isGiven(raw, key);
  const refuse = (key: string, why: string) => {
    if (!has(key)) return;
    param.of(key).wrong(`"${key}" ${why}`, undefined, { at: "key", code: COMBINATION });
  };
  const [kind, other] = KINDS.filter(has);
  if (kind === undefined || other) return;
  const { stages } = raw;
  if (Array.isArray(stages) && stages.length === 0) {
    param.of("stages").wrong('"stages" is empty', undefined, { code: "empty" });
  }
  const first = kind !== "stages" ? raw : Array.isArray(stages) ? stages[0] : undefined;
  if (kind === "stages") {
    for (const key of ["for", "count"]) {
      refuse(key, "cannot be combined with stages: each has its for");
    }
  } else if (!has("for") && !has("count") && !has("each")) {
    param.wrong('load needs "for" or "count": when it ends', undefined, { code: "missing" });
  }
  if (rate === 0) {
    param.of("rate").wrong('"rate" must be more than 0', undefined, { code: "range" });
  }
  if (isDict(first) && Object.hasOwn(first, "rate")) {
    refuse("think_time", "goes with users, not with a rate");
  } else refuse("max_in_flight", "has no effect with users, each of whom runs one round at a time");
  if (kind !== "users") refuse("together", 'goes with "users"');
  if (isDict(first) && first.ramp === true) {
    refuse("warm_up", "needs a first stage without ramp: what would its pace be?");
  }
  if (!has("data")) refuse("each", 'has no effect without "data"');
}
