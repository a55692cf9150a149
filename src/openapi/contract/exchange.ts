import { formatJson } from "../../base/value/format_value.ts";
import { pathText, type Value } from "../../base/value/value.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import type { Description, Location, Part } from "../read/description.ts";
import type { Content, DescribedParameter } from "../read/operations.ts";
import { type Schemas, type Side, WRITE_ONLY } from "./schemas.ts";

/** A request and its response, as they were sent. */
export interface ContractExchange {
  readonly method: string;
  readonly url: URL;
  /** The path of the server, if the step gives it separately from the operation. */
  readonly basePath?: string;
  /** Names in lower case. */
  readonly requestHeaders: ReadonlyMap<string, string>;
  /** Undefined if there is none, or if it is not text. */
  readonly requestBody: string | undefined;
  readonly hasRequestBody: boolean;
  readonly code: number;
  /** Whether only the status of the response is known. */
  readonly isStatusOnly: boolean;
  readonly responseHeaders: ReadonlyMap<string, string>;
  /** Undefined if it is not text. */
  readonly responseBody: string | undefined;
  readonly responseSize: number;
}

/** A difference between an exchange and the description. */
export interface FoundViolation {
  readonly side: Side;
  /** With the location in the description at its end. */
  readonly message: string;
  /** The value in the message, which may be long. */
  readonly value?: string;
  readonly hint?: string;
  /** The part of the request, for its position in the workflow. */
  readonly part?: "path" | "query" | "header" | "cookie" | "body";
  /** Its path in the body. */
  readonly path?: readonly (string | number)[];
  /** The described and the received value, if both are values. */
  readonly sides?: ViolationSides & { readonly place: string };
}

/** The two sides of a violation. */
interface ViolationSides {
  /** The part of the message: `body.price`. */
  readonly part: string;
  readonly expected: string;
  readonly received: string;
}

/** What an exchange is compared with. */
export interface ContractApi {
  readonly description: Description;
  readonly schemas: Schemas;
  readonly hits: OperationHits;
}

/** How often requests have used the parts of an operation. */
export interface OperationHits {
  requests: number;
  readonly statuses: Map<string, number>;
  readonly parameters: Map<DescribedParameter, number>;
}

/** Adds one to a count. */
export function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A violation without the text of its location. */
export interface ViolationDraft extends Omit<FoundViolation, "message" | "sides"> {
  readonly text: string;
  readonly sides?: ViolationSides;
  readonly at: Location;
}

/** The described media type that matches a `Content-Type`. */
export function mediaKey({ types }: Content, type: string | undefined): string | undefined {
  const plain = (text: string) => text.split(";", 1)[0]!.trim().toLowerCase();
  const sent = plain(type ?? "");
  const family = sent.split("/", 1)[0];
  const find = (wanted: string) => types.find((one) => plain(one) === wanted);
  // Versions of a type may differ by a parameter.
  const whole = (text: string) => text.replaceAll(/\s/g, "").toLowerCase();
  const same = types.find((one) => whole(one) === whole(type ?? ""));
  return same ?? find(sent) ?? find(`${family}/*`) ?? find("*/*");
}

/** Compares a body of JSON with its schema; `owner` is the part that has the schema. */
export function checkJson(
  api: ContractApi,
  schema: Part,
  text: string,
  side: Side,
  owner: Part,
): ViolationDraft[] {
  let value: Value;
  try {
    value = parseJson(text) as Value;
  } catch (error) {
    const isDeep = (error as Error).message.includes("levels deep");
    const problem = isDeep ? "the body is nested too deeply" : "the body is not JSON";
    return [{ side, text: problem, at: owner.at, part: "body" }];
  }
  return checkBodyValue(api, schema, value, side);
}

/** Compares the value of a body with its schema. */
export function checkBodyValue(
  { schemas }: ContractApi,
  schema: Part,
  value: Value,
  side: Side,
): ViolationDraft[] {
  return schemas.check(schema, value, side).map((problem) => ({
    side,
    ...describeProblem(`body${pathText(problem.path)}`, problem),
    at: problem.at,
    part: "body",
    path: problem.path,
  }));
}

interface Problem {
  readonly expected: string | undefined;
  readonly actual?: Value | undefined;
}

/** A problem as a message, and as two sides. */
export function describeProblem(
  part: string,
  problem: Problem,
): Pick<ViolationDraft, "text" | "value" | "sides"> {
  const { expected = "", actual } = problem;
  const received = actual === undefined ? "missing" : formatJson(actual);
  const value = received.replaceAll(/\s+/g, " ");
  return {
    text: `${part} ${messageOf(problem, value)}`,
    ...actual === undefined ? {} : { value },
    sides: {
      part,
      expected: expected === "no such property" ? "not described" : expected,
      received: expected === "required" ? "missing" : received,
    },
  };
}

/** The problem with a value: `is "12", expected type number`. */
function messageOf({ expected, actual }: Problem, value: string): string {
  if (expected === "required") return "is missing";
  if (expected === "no such property") return "is not described";
  if (expected === WRITE_ONLY) return "is only for requests (writeOnly)";
  return `is ${actual === undefined ? "missing" : value}, expected ${expected}`;
}
