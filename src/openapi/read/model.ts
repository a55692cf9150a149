import type { Value } from "../../value/value.ts";
import type { RawMap } from "./raw.ts";

/** What a description says of an API, as far as a workflow needs it. */
export interface Api {
  readonly title: string;
  /** Where it is served, without a slash at the end. */
  readonly server: string;
  readonly operations: readonly Operation[];
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

/** Something that can be asked for: a method on a path. */
export interface Operation {
  /** In small letters: `get`. */
  readonly method: string;
  /** With its parameters in braces: `/pets/{petId}`. */
  readonly path: string;
  readonly id?: string;
  readonly summary?: string;
  /** What it belongs to: its first tag, or the first word of its path. */
  readonly tag: string;
  /** Where it is served, if not where the API is. */
  readonly server?: string;
  readonly parameters: readonly Parameter[];
  readonly body?: Body;
  readonly success: Success;
  /** What a successful response holds; undefined where that is no JSON. */
  readonly reply?: Reply;
  /** The media type to ask for. */
  readonly accept?: string;
  /** Ways to be let in, the preferred first; none where everybody is. */
  readonly security: readonly Requirement[];
}

/** Something that a request carries besides its body. */
export interface Parameter {
  readonly place: "path" | "query" | "header" | "cookie";
  readonly name: string;
  /** What to send; null for an optional one of which no value is known, and which is not sent. */
  readonly value: ParameterValue;
}

/** A list stands for a name that is repeated in the query. */
export type ParameterValue = string | number | boolean | null | readonly (string | number)[];

/** The body of a request and what it is. */
export interface Body {
  readonly contentType: string;
  /** Text, or a mapping or list that is encoded by the content type. */
  readonly value: Value;
}

/** When a response is a success, by its code. */
export type Success =
  | { readonly kind: "codes"; readonly codes: readonly number[] }
  | { readonly kind: "range"; readonly from: number }
  | { readonly kind: "any" };

/** What is known of the JSON in a successful response. */
export interface Reply {
  readonly type: "object" | "array" | "other";
  /** Fields that the object has to have. */
  readonly required: readonly RequiredField[];
  readonly schema: RawMap;
}

/** A field that has to be there, and whether it may be null. */
export interface RequiredField {
  readonly name: string;
  readonly isNullable: boolean;
}

/** Names of security schemes that are needed together. */
export type Requirement = readonly string[];

/** A way to be let in. */
export type SecurityScheme =
  | { readonly kind: "bearer" | "basic" }
  | { readonly kind: "key"; readonly place: "header" | "query" | "cookie"; readonly name: string }
  | { readonly kind: "unknown"; readonly type: string };
