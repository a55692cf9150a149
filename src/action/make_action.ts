import type {
  Action,
  ActionContext,
  ActionResult,
  CompileAction,
  Demand,
  ResponseField,
  RunAction,
  SecretSink,
} from "./action.ts";
import {
  checkRelations,
  Param,
  parametersOf,
  readFields,
  readKnownFields,
  type Shape,
  type Values,
} from "./rule.ts";
import { StepError } from "../base/errors.ts";
import type { Dict, TypeName, Value } from "../base/value/value.ts";
import type { Alternatives } from "./parameter.ts";
import type { ActionExplainer } from "./explainer.ts";
import type { ActionAttempt, Refusal } from "./attempt.ts";
import type { Connection } from "./connection.ts";
import type { OpenStep } from "./open_step.ts";
import type { Target } from "./target.ts";

/** What an action says of itself, besides how it is carried out. */
export interface ActionDeclaration<S extends Shape, F extends ResponseShape>
  extends ActionExplainer {
  /** The name that a step uses. */
  readonly name: string;
  /** One line, for help and documents. */
  readonly summary: string;
  /** A rule for each parameter. */
  readonly params: S;
  /** Alternative parameters: a step gives exactly one of them. */
  readonly oneOf?: readonly (keyof S & string)[];
  /** Alternative parameters that a step may also leave out. */
  readonly atMostOne?: readonly (keyof S & string)[];
  /**
   * Reports parameters that do not fit together. A value that is not known yet is undefined; `raw`
   * tells whether it is given.
   */
  readonly check?: (params: Partial<Values<S>>, param: Param, raw: Dict) => unknown;
  /** Whether these parameters say what the result must be, so that the step needs no test. */
  readonly expectsResult?: (params: Dict) => boolean;
  /** Whether any answer is a result, as a response of HTTP is. */
  readonly acceptsAnswers?: true;
  /** The maps among its parameters from which fields that are nil are left out. */
  readonly omitsNilIn?: (params: Dict) => readonly string[];
  /** Merges the parameters of a step with the defaults of its job, where key by key does not do. */
  readonly merge?: (defaults: Dict, params: Dict) => Dict;
  /** The fields of `res`: `run` returns all of them that are not optional. By default any. */
  readonly res?: F;
  /** The fields of `res` that the expressions of its step also see as names. */
  readonly resultNames?: readonly (keyof F & string)[];
  /** The fields of the messages that come to a step that stays open. */
  readonly messages?: ResponseShape;
  /** The `with` of a step as an example, in YAML, for help. */
  readonly usage?: string;
  /** A test of its result, for help and hints. */
  readonly example?: string;
}

/** All there is to say about an action; `action()` makes an `Action` of it. */
export interface ActionSpec<S extends Shape, F extends ResponseShape, C>
  extends ActionDeclaration<S, F> {
  /** Whether `timeout` limits parts of the attempt, which `run` sees to, and not all of it. */
  readonly limitsParts?: true;
  /** The server, file or program that it works with, for permissions and messages; if any. */
  readonly target?: (params: Values<S>) => Target | Promise<Target>;
  /** Waits until the action may begin, before its timeout does; the result is called at its end. */
  readonly acquire?: (context: ActionContext) => Promise<() => void>;
  /** Loads modules that must not be loaded while other steps are under way. */
  readonly modules?: () => Promise<unknown>;
  /** How steps get and share what they work with; absent if an attempt needs nothing of it. */
  readonly connection?: Connection<Values<S>, C>;
  /** What to say about errors of the library. */
  readonly refusals?: readonly Refusal[];
  /** The request for reports, also where it fails; without it, `run` returns it as `req`. */
  readonly request?: (params: Values<S>, raw: Dict) => Dict;
  /**
   * `raw` are the parameters as the step gives them, for `req`. Absent where all steps stay open.
   */
  readonly run?: (
    connection: C,
    params: Values<S>,
    attempt: ActionAttempt,
    raw: Dict,
  ) => Promise<ActionResponse<F>>;
  /** Opens a step that stays open, and returns once messages are kept: see `open_step.ts`. */
  readonly subscribe?: (
    connection: C,
    params: Values<S>,
    open: OpenStep,
    attempt: ActionAttempt,
    raw: Dict,
  ) => Promise<ActionResponse<F>>;
}

/** The fields of `res`: the type of each, or more about it. */
export type ResponseShape = Readonly<Record<string, FieldType | FieldOf>>;

/** The type of a field of `res`. */
export type FieldType = TypeName | "any";

/** A field of `res`. */
export interface FieldOf extends Omit<ResponseField, "name" | "type"> {
  /** Its type; `any` where results differ. */
  readonly type: FieldType;
  /** Whether some results do not have it. */
  readonly optional?: true;
}

/** The values of fields by type. */
export interface FieldValues {
  /** Nothing. */
  readonly nil: null;
  /** A boolean. */
  readonly bool: boolean;
  /** A whole number. */
  readonly int: number;
  /** A number. */
  readonly float: number;
  /** A text. */
  readonly string: string;
  /** A list. */
  readonly array: readonly Value[];
  /** Nil if there is none. */
  readonly map: Dict | null;
  /** Any value. */
  readonly any: Value;
}

/** The value of a field. */
export type FieldValue<T> = FieldValues[T extends FieldOf ? T["type"] : T & FieldType];

/** The names of fields that some results do not have. */
export type Optional<F extends ResponseShape> = {
  [K in keyof F]: F[K] extends { readonly optional: true } ? K : never;
}[keyof F];

/** What `run` returns. */
export interface ActionResponse<F extends ResponseShape>
  extends Omit<ActionResult, "req" | "res" | "status"> {
  /** The request for reports. */
  readonly req?: Dict;
  /** The fields that the action has named. */
  readonly res:
    & { readonly [K in Exclude<keyof F, Optional<F>>]: FieldValue<F[K]> }
    & { readonly [K in Optional<F>]?: FieldValue<F[K]> };
  /** Not 0 where the other side refused what was asked of it. */
  readonly status?: number;
}

/** Makes an action from its definition. */
export function action<const S extends Shape, const F extends ResponseShape, C = undefined>(
  spec: ActionSpec<S, F, C>,
): Action {
  return {
    ...declare(spec),
    load: () => inTurn(() => runnerOf(spec)),
  };
}

/** The part of an action that is not how it is carried out, for one that carries itself out. */
export function declare<const S extends Shape, const F extends ResponseShape>(
  declaration: ActionDeclaration<S, F>,
): Omit<Action, "load"> {
  const { name, summary, params, example, res, messages } = declaration;
  return {
    name,
    summary,
    parameters: parametersOf(params),
    alternatives: alternativesOf(declaration),
    problems(raw) {
      const param = new Param(name);
      readParams(declaration, raw, param);
      return param.problems;
    },
    expectsResult: declaration.expectsResult,
    acceptsAnswers: declaration.acceptsAnswers,
    omitsNilIn: declaration.omitsNilIn,
    merge: declaration.merge,
    responseFields: res && listFields(res),
    resultNames: declaration.resultNames,
    ...messages && {
      messageFields: listFields(messages),
      staysOpen: ({ background = null }: Dict) =>
        !Object.hasOwn(params, "background") || background !== null && background !== false,
    },
    usage: declaration.usage,
    exampleTest: example,
    ...(declaration.describe || declaration.command || declaration.testHint) && {
      explainer: () => Promise.resolve(declaration),
    },
  };
}

function listFields(shape: ResponseShape): readonly ResponseField[] {
  return Object.entries(shape).map(([name, field]) => {
    const whole: FieldOf = typeof field === "string" ? { type: field, summary: name } : field;
    const { type, optional: _, ...rest } = whole;
    return { name, ...rest, ...type !== "any" && { type } };
  });
}

/** The action that is being loaded, or was last. */
let loading: Promise<unknown> = Promise.resolve();

/**
 * Loads one action after the other: side by side they may make the runtime panic
 * (denoland/deno#36258).
 */
function inTurn(load: () => Promise<RunAction>): Promise<RunAction> {
  const loaded = loading.then(load);
  loading = loaded.catch(() => {});
  return loaded;
}

/** Loads what carries actions out, which a run without one never needs. */
async function runnerOf<S extends Shape, F extends ResponseShape, C>(
  spec: ActionSpec<S, F, C>,
): Promise<RunAction> {
  const { ActionAttempt } = await import("./attempt.ts");
  const { onConnection, withoutConnection } = await import("./connection.ts");
  const { name, connection, refusals, subscribe } = spec;
  // Libraries that cannot be loaded say more than a refused connection.
  await spec.modules?.();
  const run = spec.run!;
  return async (raw, context) => {
    const params = readRun(spec, raw, context.secrets);
    // One that reaches nothing needs no permission.
    const target = await spec.target?.(params) ?? { program: name };
    const { timeout }: { readonly timeout?: number } = spec.limitsParts ? {} : params;
    const begin = () => new ActionAttempt(context, target, refusals, timeout);
    const req = spec.request?.(params, raw) ?? {};
    const staysOpen = subscribe &&
      (spec.params.background === undefined || params.background === true);
    const stayOpen = async () => {
      const { keepOpen, openFor } = await import("./open_step.ts");
      return await keepOpen(raw, context, timeout, async (open) => {
        const attempt = new ActionAttempt(open.context, target, refusals);
        const opened = await openFor(open, connection, params, attempt);
        return await subscribe!(opened, params, open, attempt, raw);
      });
    };
    const carryOut = () =>
      staysOpen ? stayOpen() : connection
        ? onConnection(
          connection,
          { action: name, params, raw, context, begin },
          (connection, attempt) => run(connection, params, attempt, raw),
        )
        : withoutConnection(begin(), (attempt) => run(undefined as C, params, attempt, raw));
    const release = await spec.acquire?.(context);
    try {
      const response = await carryOut();
      return { status: 0, req, ...response, res: response.res as Dict };
    } catch (error) {
      if (!spec.request || !(error instanceof StepError)) throw error;
      throw new StepError(error.message, error.hint, { req, ...error.details });
    } finally {
      release?.();
    }
  };
}

/** What an action says of its parameters. */
type ParamsDeclaration<S extends Shape> = Pick<
  ActionDeclaration<S, ResponseShape>,
  "name" | "params" | "oneOf" | "atMostOne" | "check"
>;

/** Reads the parameters of an attempt. Throws the first problem. */
export function readRun<S extends Shape>(
  declaration: ParamsDeclaration<S>,
  raw: Dict,
  secrets: Pick<SecretSink, "add">,
): Values<S> {
  const param = new Param(declaration.name, secrets);
  const values = readParams(declaration, raw, param);
  throwProblem(param);
  return values as Values<S>;
}

/** Reads the parameters, before or in a run: by the same rules, with the same messages. */
function readParams<S extends Shape>(
  declaration: ParamsDeclaration<S>,
  raw: Dict,
  param: Param,
): Partial<Values<S>> {
  const { params, check } = declaration;
  const { values } = readFields(params, raw, param);
  checkRelations({ alternatives: alternativesOf(declaration), check }, values, raw, param);
  return values;
}

/** The parameters that exclude each other. */
function alternativesOf(
  { oneOf, atMostOne }: Pick<ActionDeclaration<Shape, ResponseShape>, "oneOf" | "atMostOne">,
): readonly Alternatives[] {
  return [
    ...oneOf ? [{ names: oneOf, required: true as const }] : [],
    ...atMostOne ? [{ names: atMostOne }] : [],
  ];
}

/** Reads rendered parameters by their rules; others are ignored. Throws the first problem. */
export function readRendered<S extends Shape>(
  action: string,
  shape: S,
  raw: Dict,
  secrets: Pick<SecretSink, "add"> = { add() {} },
): Values<S> {
  const param = new Param(action, secrets);
  const { values } = readKnownFields(shape, raw, param);
  throwProblem(param);
  return values as Values<S>;
}

/** Throws the first problem of rendered parameters. */
function throwProblem({ action, problems: [problem] }: Param): void {
  if (!problem) return;
  const { path: [parameter], message, hint } = problem;
  const details = typeof parameter === "string" ? { parameter } : {};
  throw new StepError(`cannot run ${action}: ${message}`, hint, details);
}

/** Every field is read. */
export const EVERYTHING: Demand = { req: "all", res: "all" };

/** Makes the code of an action that prepares the attempts of its steps. */
export function compiledAction(compile: CompileAction): RunAction {
  const run: RunAction = async (params, context) => {
    const carryOut = await compile(params, EVERYTHING, context);
    return await carryOut(context);
  };
  return Object.assign(run, { compile });
}
