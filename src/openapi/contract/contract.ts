import { didYouMean } from "../../base/text/suggest.ts";
import type { ApiCoverage, OperationCoverage } from "../../base/value/api_coverage.ts";
import {
  Description,
  isJson,
  type Location,
  mapOf,
  type Part,
  rawText,
  type ReadFile,
} from "../read/description.ts";
import {
  type Content,
  type DescribedOperation,
  type DescribedParameter,
  readOperations,
} from "../read/operations.ts";
import { loadSchemas, type Side, WRITE_ONLY } from "./schemas.ts";
import { pathText, type Value } from "../../base/value/value.ts";
import { formatJson } from "../../base/value/format_value.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import {
  type DescribedApi,
  readFields,
  readHeader,
  readParameter,
  type RequestParts,
} from "./parameter_values.ts";
import { makeRouter, type NoMatch } from "./router.ts";

/** An API, and how much of it requests have used. */
export interface Contract {
  /** Every violation of an exchange, of both sides. */
  check(exchange: ContractExchange): readonly FoundViolation[];
  coverage(): ApiCoverage;
  /** Messages about mistakes in schemas that were found since the last call. */
  takeFaults(): readonly string[];
}

/** Reads a description. `base` replaces the paths of its servers. Throws LoadError. */
export async function openContract(
  path: string,
  base: string | undefined,
  read: ReadFile,
): Promise<Contract> {
  const description = await Description.open(path, read);
  const operations = readOperations(description);
  const router = makeRouter(operations, base);
  const schemas = await loadSchemas(description);
  const hits = new Map<DescribedOperation, OperationHits>();
  const { title } = mapOf(mapOf(description.root.value).info);
  return {
    takeFaults: () =>
      schemas.takeFaults().map(({ at, part, message }) =>
        `a ${part} of the OpenAPI description is not used: ${message} (${description.locate(at)})`
      ),
    check(exchange) {
      const { method, url, basePath } = exchange;
      const match = router(method, url.pathname, basePath);
      if ("methods" in match) {
        return [unknownOperation(description, operations, exchange, match)];
      }
      const { operation, values } = match;
      const counts = hits.getOrInsertComputed(operation, () => newHits());
      counts.requests++;
      return findViolations({ description, schemas, hits: counts }, operation, values, exchange);
    },
    coverage: () => ({
      file: path,
      title: rawText(title) ?? path,
      operations: operations.map((operation) => coverageOf(operation, hits.get(operation))),
    }),
  };
}

/** More violations of one exchange are not reported. */
const MAX_VIOLATIONS = 20;

function findViolations(
  api: ContractApi,
  operation: DescribedOperation,
  values: ReadonlyMap<string, string>,
  exchange: ContractExchange,
): readonly FoundViolation[] {
  const name = `${exchange.method} ${operation.path}`;
  const drafts = [
    ...checkRequest(api, operation, values, exchange),
    ...checkResponse(api, operation, exchange),
  ];
  return drafts.slice(0, MAX_VIOLATIONS).map(({ text, at, sides, ...draft }) => {
    const location = api.description.locate(at);
    return {
      ...draft,
      message: `${draft.side} of ${name}: ${text} (${location})`,
      ...sides ? { sides: { ...sides, place: location } } : {},
    };
  });
}

function unknownOperation(
  description: Description,
  operations: readonly DescribedOperation[],
  { method, url }: ContractExchange,
  { methods, path }: NoMatch,
): FoundViolation {
  const paths = description.child(description.root, "paths") ?? description.root;
  const hint = methods.length > 0
    ? `the path has ${methods.join(", ")}`
    : didYouMean(path, operations.map((operation) => operation.path)) ??
      '"base_path" says what comes before the paths; "openapi: false" leaves a step out';
  return {
    side: "request",
    message: `no operation is described for ${method} ${url.pathname} (${
      description.locate(paths.at)
    })`,
    hint,
    part: "path",
  };
}

function newHits(): OperationHits {
  return { requests: 0, statuses: new Map(), parameters: new Map() };
}

/** Other parameters of 2.0 are the body. */
const LOCATIONS: readonly string[] = ["path", "query", "header", "cookie"];

function coverageOf(
  { method, path, id, statuses, parameters }: DescribedOperation,
  hits: OperationHits = newHits(),
): OperationCoverage {
  const others = [...hits.statuses].filter(([status]) => !statuses.includes(status));
  return {
    method,
    path,
    ...id === undefined ? {} : { id },
    hits: hits.requests,
    statuses: [
      ...statuses.map((status) => ({ status, hits: hits.statuses.get(status) ?? 0 })),
      ...others.map(([status, hits]) => ({ status, hits, undescribed: true as const })),
    ],
    parameters: parameters.filter(({ location }) => LOCATIONS.includes(location)).map((one) => ({
      in: one.location,
      name: one.name,
      hits: hits.parameters.get(one) ?? 0,
    })),
  };
}

/** Finds the differences of a request from its operation. `path` contains the values in its path. */
function checkRequest(
  api: ContractApi,
  operation: DescribedOperation,
  path: ReadonlyMap<string, string>,
  exchange: ContractExchange,
): ViolationDraft[] {
  const { schemas, hits } = api;
  const parts: RequestParts = {
    path,
    query: exchange.url.searchParams,
    headers: exchange.requestHeaders,
    cookies: cookiesOf(exchange.requestHeaders.get("cookie") ?? ""),
    form: formOf(exchange),
  };
  const drafts: ViolationDraft[] = [];
  for (const parameter of operation.parameters) {
    const { location, name, isRequired, part: { value: raw, at } } = parameter;
    if (!isLocation(location)) continue;
    if (location === "header" && IGNORED_HEADERS.has(name.toLowerCase())) continue;
    const isField = location === "formData";
    if (isField && !parts.form) continue;
    const part: NonNullable<ViolationDraft["part"]> = isField ? "body" : location;
    const { schema, value } = readParameter(api, parameter, parts);
    const what = isField ? `form field "${name}"` : `${location} parameter "${name}"`;
    if (value === undefined) {
      const text = `the required ${what} is missing`;
      if (isRequired) drafts.push({ side: "request", text, at, part });
      continue;
    }
    count(hits.parameters, parameter);
    if (value === "" && mapOf(raw).allowEmptyValue === true) continue;
    const problems = schema ? schemas.check(schema, value, "request") : [];
    drafts.push(...problems.map((problem) => ({
      at: problem.at,
      side: "request" as const,
      ...describeProblem(`${what}${pathText(problem.path)}`, problem),
      part,
      path: isField ? [name, ...problem.path] : [],
    })));
  }
  return [...drafts, ...checkRequestBody(api, operation, exchange)];
}

/** Headers that OpenAPI ignores as parameters. */
const IGNORED_HEADERS = new Set(["accept", "content-type", "authorization"]);

function isLocation(
  location: string,
): location is "path" | "query" | "header" | "cookie" | "formData" {
  return ["path", "query", "header", "cookie", "formData"].includes(location);
}

/** The fields of a form; none without a body, undefined if the body is not a form. */
function formOf(
  { hasRequestBody, requestBody, requestHeaders }: ContractExchange,
): URLSearchParams | undefined {
  const isForm = isFormType(requestHeaders.get("content-type") ?? "") && requestBody !== undefined;
  return isForm || !hasRequestBody ? new URLSearchParams(requestBody) : undefined;
}

function isFormType(type: string): boolean {
  return /^application\/x-www-form-urlencoded/i.test(type);
}

function cookiesOf(header: string): Map<string, string> {
  return new Map(
    header.split(/;\s*/).flatMap((pair) => {
      const at = pair.indexOf("=");
      return at < 1 ? [] : [[pair.slice(0, at), pair.slice(at + 1)] as const];
    }),
  );
}

function checkRequestBody(
  api: ContractApi,
  { body }: DescribedOperation,
  { requestBody: text, hasRequestBody, requestHeaders }: ContractExchange,
): ViolationDraft[] {
  if (!body) return [];
  const problem = (text: string, at: Location): ViolationDraft[] => [
    { side: "request", text, at, part: "body" },
  ];
  const { at } = body.part;
  if (!hasRequestBody) return body.isRequired ? problem("the required body is missing", at) : [];
  const type = requestHeaders.get("content-type");
  const key = mediaKey(body, type);
  if (key === undefined) {
    const sent = type ?? "is missing, it";
    return problem(`the content type ${sent} is not one of ${body.types.join(", ")}`, at);
  }
  const schema = body.schema(key);
  if (!schema || text === undefined) return [];
  if (isJson(type ?? key)) return checkJson(api, schema, text, "request", body.part);
  if (!isFormType(type ?? key)) return [];
  const value = readFields(api, schema, [...new URLSearchParams(text)]);
  return checkBodyValue(api, schema, value, "request");
}

/** Finds the differences of a response from its operation. */
function checkResponse(
  api: ContractApi,
  operation: DescribedOperation,
  exchange: ContractExchange,
): ViolationDraft[] {
  const { description, hits } = api;
  const { code } = exchange;
  const { statuses } = operation;
  // Some descriptions say nothing about responses.
  if (statuses.length === 0) return [];
  const key = statusKey(statuses, code);
  count(hits.statuses, key ?? String(code));
  if (key === undefined) {
    const known = statuses.join(", ");
    return [{
      side: "response",
      text: `the status ${code} is not described`,
      sides: { part: "status", expected: known, received: String(code) },
      at: (description.child(operation.part, "responses") ?? operation.part).at,
      hint: `described are ${known}`,
    }];
  }
  if (exchange.isStatusOnly) return [];
  const response = operation.response(key)!;
  return [
    ...checkHeaders(api, response.part, exchange),
    ...checkResponseBody(api, response, exchange),
  ];
}

function statusKey(statuses: readonly string[], code: number): string | undefined {
  return [`${code}`, `${String(code)[0]}XX`, "default"].flatMap((wanted) =>
    statuses.find((one) => one.toUpperCase() === wanted || one === wanted) ?? []
  )[0];
}

function checkHeaders(
  api: ContractApi,
  response: Part,
  { responseHeaders }: ContractExchange,
): ViolationDraft[] {
  const headers = api.description.child(response, "headers");
  return Object.keys(mapOf(headers?.value)).flatMap((name): ViolationDraft[] => {
    const part = api.description.child(headers!, name)!;
    if (name.toLowerCase() === "content-type") return [];
    const text = responseHeaders.get(name.toLowerCase());
    if (text === undefined) {
      const missing = `the required header ${name} is missing`;
      return mapOf(part.value).required === true
        ? [{ side: "response", text: missing, at: part.at }]
        : [];
    }
    const { schema, value } = readHeader(api, part, text);
    if (!schema || value === undefined) return [];
    return api.schemas.check(schema, value, "response").map((problem) => ({
      side: "response",
      ...describeProblem(`the header ${name}`, problem),
      at: problem.at,
    }));
  });
}

function checkResponseBody(
  api: ContractApi,
  content: Content,
  { method, code, responseHeaders, responseBody, responseSize }: ContractExchange,
): ViolationDraft[] {
  if (method === "HEAD" || code === 304) return [];
  const problem = (text: string): ViolationDraft[] => [
    { side: "response", text, at: content.part.at },
  ];
  if (content.types.length === 0) {
    const isDescribed = api.description.version !== "2.0" && code === 204;
    return responseSize > 0 && isDescribed ? problem("a body is not described") : [];
  }
  const type = responseHeaders.get("content-type");
  if (responseSize === 0) return problem("the body is missing");
  const key = mediaKey(content, type);
  if (key === undefined) {
    return problem(
      type === undefined
        ? "the content type is missing"
        : `the content type ${type} is not one of ${content.types.join(", ")}`,
    );
  }
  const schema = content.schema(key);
  if (!schema || responseBody === undefined || !isJson(type ?? key)) return [];
  return checkJson(api, schema, responseBody, "response", content.part);
}

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
  readonly path?: readonly (string | number)[];
  /** The described and the received value, if both are values. */
  readonly sides?: ViolationSides & { readonly place: string };
}

interface ViolationSides {
  /** The part of the message: `body.price`. */
  readonly part: string;
  readonly expected: string;
  readonly received: string;
}

/** What an exchange is compared with. */
interface ContractApi extends DescribedApi {
  readonly hits: OperationHits;
}

/** How often requests have used the parts of an operation. */
interface OperationHits {
  requests: number;
  readonly statuses: Map<string, number>;
  readonly parameters: Map<DescribedParameter, number>;
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A violation without the text of its location. */
interface ViolationDraft extends Omit<FoundViolation, "message" | "sides"> {
  readonly text: string;
  readonly sides?: ViolationSides;
  readonly at: Location;
}

/** The described media type that matches a `Content-Type`. */
function mediaKey({ types }: Content, type: string | undefined): string | undefined {
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
function checkJson(
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
function checkBodyValue(
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
function describeProblem(
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
