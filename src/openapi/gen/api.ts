import type { Value } from "../../base/value/value.ts";
import type { RawApiMap } from "../read/description.ts";

/** The parts of an API description that a workflow needs. */
export interface Api {
  readonly title: string;
  /** The server URL, without a trailing slash. */
  readonly server: string;
  readonly operations: readonly Operation[];
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

/** An operation: a method of a path. */
export interface Operation {
  /** In lower case: `get`. */
  readonly method: string;
  /** With its parameters in braces: `/pets/{petId}`. */
  readonly path: string;
  readonly id?: string | undefined;
  readonly summary?: string | undefined;
  /** Its group: its first tag, or the first word of its path. */
  readonly tag: string;
  /** The server URL, if it differs from the API's. */
  readonly server?: string | undefined;
  readonly parameters: readonly ApiParameter[];
  /** Keys of its responses: `200`, `4XX`, `default`. */
  readonly statuses: readonly string[];
  readonly body?: Body | undefined;
  readonly success: Success;
  /** The content of a successful response; undefined if it is not JSON. */
  readonly response?: ApiResponse | undefined;
  /** The media type for `Accept`. */
  readonly accept?: string | undefined;
  /** Alternative security requirements, the preferred first; none if the operation is public. */
  readonly security: readonly Requirement[];
}

export interface ApiParameter {
  readonly location: "path" | "query" | "header" | "cookie";
  readonly name: string;
  /** The value to send; null for an optional parameter without a known value, which is not sent. */
  readonly value: ParameterValue;
  readonly isRequired: boolean;
}

/** A list is a name that is repeated in the query. */
export type ParameterValue = Exclude<Value, object> | readonly (string | number | bigint)[];

/** The body of a request and its content type. */
export interface Body {
  readonly contentType: string;
  /** A string, or a map or list that is encoded by content type. */
  readonly value: Value;
  readonly isRequired: boolean;
  /** Required fields of a map. */
  readonly required: readonly string[];
}

/** The status codes of a successful response. */
export type Success =
  | { readonly kind: "codes"; readonly codes: readonly number[] }
  | { readonly kind: "range"; readonly from: number }
  | { readonly kind: "any" };

/** The JSON content of a successful response. */
export interface ApiResponse {
  readonly type: "object" | "array" | "other";
  readonly required: readonly RequiredField[];
  readonly schema: RawApiMap;
}

/** A required field, and whether it may be null. */
export interface RequiredField {
  readonly name: string;
  readonly isNullable: boolean;
}

/** Names of security schemes that are required together. */
export type Requirement = readonly string[];

export type SecurityScheme =
  | { readonly kind: "bearer" | "basic" }
  | {
    readonly kind: "key";
    readonly location: "header" | "query" | "cookie";
    readonly name: string;
  }
  | { readonly kind: "unknown"; readonly type: string };
