/**
 * What an action is written with: `mod.ts` exports it, and a plugin that is a module is given it.
 *
 * @module
 */
export { action } from "./make_action.ts";
export { host, port, sharing, texts, timeout } from "./params.ts";
export {
  choice,
  duration,
  either,
  flag,
  integer,
  list,
  map,
  mapOf,
  Rule,
  text,
  value,
} from "./schema.ts";
export { tls, tlsSwitch } from "./tls/tls.ts";
export { StepError } from "../base/errors.ts";
export type {
  Action,
  ActionContext,
  ActionResult,
  ActionScopes,
  Alternatives,
  AttemptDeadline,
  HideSecrets,
  Parameter,
  ParameterProblem,
  ParameterType,
  ResourceScope,
  ResponseField,
  RunAction,
  RunTls,
  SecretSink,
  Traffic,
} from "./action.ts";
export type {
  ActionExplainer,
  CommandLine,
  CommandWord,
  ExchangeDescription,
  MessageDescription,
  SecretWord,
} from "./explainer.ts";
export type { Attempt as ActionAttempt, Refusal } from "./attempt.ts";
export type { Connection } from "./connection.ts";
export type { Converted } from "./parameters.ts";
export type { Form, NoValue, Param, Relations, Shape, Values } from "./schema.ts";
export type {
  ActionDeclaration,
  ActionSpec,
  FieldOf,
  FieldType,
  FieldValue,
  FieldValues,
  Optional,
  Response as ActionResponse,
  ResponseShape,
} from "./spec.ts";
export type { DataFile, Program, Server, Target, Url } from "./target.ts";
export type { Tls } from "./tls/tls.ts";
export type { ClientCertificate } from "./tls/parse_pem.ts";
export type { Deadline } from "../host/deadlines.ts";
export type { TypeName } from "../base/value/value.ts";
export type { TlsOptions as ConnectionTls } from "./tls/tls_options.ts";
