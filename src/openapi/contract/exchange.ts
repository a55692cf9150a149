import { formatJson } from "../../base/value/format_value.ts";
import { UNMETERED } from "../../base/value/meter.ts";
import { pathText } from "../../base/value/mismatch.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import type { Value } from "../../base/value/value.ts";
import type { Hits } from "./hits.ts";
import type { Description, FoundPart, PartPlace } from "./description.ts";
import type { ContractOperation, Router } from "./contract_operations.ts";
import { type Schemas, type Side, WRITE_ONLY } from "./schemas.ts";

/** A request and its response, as they were sent. */
export interface ContractExchange {
  readonly method: string;
  readonly url: URL;
  /** The path of the server, where the step says it apart from that of the operation. */
  readonly basePath?: string;
  /** Names in lower case. */
  readonly requestHeaders: ReadonlyMap<string, string>;
  /** Undefined where there is none, or where it is not text. */
  readonly requestBody: string | undefined;
  readonly hasRequestBody: boolean;
  readonly code: number;
  /** Whether nothing but the status is known of the response. */
  readonly isStatusOnly: boolean;
  readonly responseHeaders: ReadonlyMap<string, string>;
  /** Undefined where it is not text. */
  readonly responseBody: string | undefined;
  readonly responseSize: number;
}

/** Something that is not as the description says. */
export interface FoundViolation {
  readonly side: Side;
  /** With the place in the description at its end. */
  readonly message: string;
  /** The value in the message, which may be long. */
  readonly value?: string;
  readonly hint?: string;
  /** The part of the request, for its place in the workflow. */
  readonly part?: "path" | "query" | "header" | "cookie" | "body";
  /** Where it is in the body. */
  readonly path?: readonly (string | number)[];
  /** What the description says and what came, where both are values. */
  readonly sides?: ViolationSides & { readonly place: string };
}

/** The two sides of a violation. */
export interface ViolationSides {
  /** The part of the message: `body.price`. */
  readonly part: string;
  readonly expected: string;
  readonly received: string;
}

/** The API that messages are compared with. */
export interface ContractApi {
  readonly description: Description;
  readonly operations: readonly ContractOperation[];
  readonly router: Router;
  readonly hits: Hits;
  readonly schemas: Schemas;
}

/** A violation whose place is not written yet. */
export interface ViolationDraft extends Omit<FoundViolation, "message" | "sides"> {
  readonly words: string;
  readonly sides?: ViolationSides;
  readonly at: PartPlace;
}

/** The media types of 2.0, which a root or an operation lists. */
export function typesIn(raw: unknown): string[] {
  const types = Array.isArray(raw) ? raw.filter((one) => typeof one === "string") : [];
  return types.length > 0 ? types : ["application/json"];
}

/** The media type of a description that a content type is of. */
export function mediaKey(types: readonly string[], type: string | undefined): string | undefined {
  const plain = (text: string) => text.split(";", 1)[0]!.trim().toLowerCase();
  const sent = plain(type ?? "");
  const family = sent.split("/", 1)[0];
  const find = (wanted: string) => types.find((one) => plain(one) === wanted);
  // Versions of a type may differ by a parameter.
  const whole = (text: string) => text.replaceAll(/\s/g, "").toLowerCase();
  const same = types.find((one) => whole(one) === whole(type ?? ""));
  return same ?? find(sent) ?? find(`${family}/*`) ?? find("*/*");
}

export function checkJson(
  api: ContractApi,
  schema: FoundPart,
  text: string,
  side: Side,
  owner: FoundPart,
): ViolationDraft[] {
  let value: Value;
  try {
    value = parseJson(text) as Value;
  } catch (error) {
    const isDeep = (error as Error).message.includes("levels deep");
    const words = isDeep ? "the body is nested too deeply" : "the body is not JSON";
    return [{ side, words, at: owner.at, part: "body" }];
  }
  return problemsOf(api, schema, value, side);
}

export function problemsOf(
  { schemas }: ContractApi,
  schema: FoundPart,
  value: Value,
  side: Side,
): ViolationDraft[] {
  return schemas.check(schema, value, side).map((problem) => ({
    side,
    ...described(`body${pathText(problem.path)}`, problem),
    at: problem.at,
    part: "body",
    path: problem.path,
  }));
}

interface Problem {
  readonly expected: string | undefined;
  readonly actual?: Value | undefined;
}

/** A problem in words, and as two sides. */
export function described(
  part: string,
  problem: Problem,
): Pick<ViolationDraft, "words" | "value" | "sides"> {
  const { expected = "", actual } = problem;
  const received = actual === undefined ? "missing" : formatJson(actual, UNMETERED);
  const sides = expected === "required"
    ? { part, expected: "required", received: "missing" }
    : expected === "no such property"
    ? { part, expected: "not described", received }
    : { part, expected, received };
  const value = received.replaceAll(/\s+/g, " ");
  const words = wordsOf(part, problem, value);
  return { words, ...actual === undefined ? {} : { value }, sides };
}

/** Describes the problem with a value: `body.price is "12", expected type number`. */
function wordsOf(what: string, { expected, actual }: Problem, value: string): string {
  if (expected === "required") return `${what} is missing`;
  if (expected === "no such property") return `${what} is not described`;
  if (expected === WRITE_ONLY) return `${what} is only for requests (writeOnly)`;
  if (actual === undefined) return `${what} is missing, expected ${expected}`;
  return `${what} is ${value}, expected ${expected}`;
}
