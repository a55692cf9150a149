import { pathText } from "../../base/value/value.ts";
import type { Location } from "../read/description.ts";
import type { DescribedOperation } from "../read/operations.ts";
import { isJson, mapOf } from "../read/raw.ts";
import {
  checkBodyValue,
  checkJson,
  type ContractApi,
  type ContractExchange,
  count,
  describeProblem,
  mediaKey,
  type ViolationDraft,
} from "./exchange.ts";
import { readFields, readParameter, type RequestParts } from "./parameter_values.ts";

/** Finds where a request differs from its operation. `path` contains the values in its path. */
export function checkRequest(
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
