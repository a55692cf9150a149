/**
 * What an action is written with: `mod.ts` exports it, and a plugin that is a module is given it.
 *
 * @module
 */
export { action } from "./make_action.ts";
export {
  choice,
  duration,
  either,
  flag,
  host,
  integer,
  list,
  map,
  mapOf,
  port,
  Rule,
  sharing,
  text,
  texts,
  timeout,
  value,
} from "./rule.ts";
export { tls, tlsSwitch } from "./tls/tls.ts";
export { StepError } from "../base/errors.ts";
export type {
  Action,
  ActionContext,
  ActionResult,
  ActionScopes,
  AttemptDeadline,
  Condition,
  LateContext,
  ResourceScope,
  ResponseField,
  RunAction,
  RunTls,
  SecretSink,
  StepIdentity,
  Traffic,
} from "./action.ts";
export type {
  Alternatives,
  Converted,
  HideSecrets,
  Parameter,
  ParameterProblem,
  ParameterType,
} from "./parameter.ts";
export type {
  ActionExplainer,
  CommandLine,
  CommandWord,
  ExchangeDescription,
  MessageDescription,
  SecretWord,
} from "./explainer.ts";
export type { ActionAttempt, Refusal } from "./attempt.ts";
export type { Connection } from "./connection.ts";
export type { Message, OpenStep, Receiver } from "./open_step.ts";
export type { Form, NoValue, Param, Relations, Shape, Values } from "./rule.ts";
export type {
  ActionDeclaration,
  ActionResponse,
  ActionSpec,
  FieldOf,
  FieldType,
  FieldValue,
  FieldValues,
  Optional,
  ResponseShape,
} from "./make_action.ts";
export type { DataFile, Program, Server, Target, Url } from "./target.ts";
export type { Tls } from "./tls/tls.ts";
export type { ClientCertificate } from "./tls/tls_options.ts";
export type { Deadline } from "../host/deadlines.ts";
export type { TypeName } from "../base/value/value.ts";
export type { TlsOptions as ConnectionTls } from "./tls/tls_options.ts";
