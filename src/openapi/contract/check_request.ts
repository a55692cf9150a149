import { mapOf } from "../read/raw.ts";
import { pathText } from "../../base/value/mismatch.ts";
import { isJson } from "../read/media.ts";
import type { FoundPart, PartPlace } from "./description.ts";
import {
  checkJson,
  type ContractApi,
  type ContractExchange,
  described,
  mediaKey,
  problemsOf,
  typesIn,
  type ViolationDraft,
} from "./exchange.ts";
import type { ContractOperation } from "./contract_operations.ts";
import { readFields, readParameter, type RequestParts } from "./parameter_values.ts";

/** Finds where a request differs from its operation. `path` contains the values in its path. */
export function checkRequest(
  api: ContractApi,
  operation: ContractOperation,
  path: ReadonlyMap<string, string>,
  exchange: ContractExchange,
): ViolationDraft[] {
  const { description, schemas, hits } = api;
  const parts: RequestParts = {
    path,
    query: exchange.url.searchParams,
    headers: exchange.requestHeaders,
    cookies: cookiesOf(exchange.requestHeaders.get("cookie") ?? ""),
    form: formOf(exchange),
  };
  const drafts: ViolationDraft[] = [];
  for (const parameter of operation.parameters) {
    const { place, name, isRequired, found } = parameter;
    if (!isPlace(place) || place === "header" && SAID_ELSEWHERE.has(name.toLowerCase())) continue;
    const isField = place === "formData";
    if (isField && !parts.form) continue;
    const part: NonNullable<ViolationDraft["part"]> = isField ? "body" : place;
    const { schema, value } = readParameter(description, schemas, parameter, parts);
    const what = isField ? `form field "${name}"` : `${place} parameter "${name}"`;
    if (value === undefined) {
      if (isRequired) {
        const words = `the required ${what} is missing`;
        drafts.push({ side: "request", words, at: found.at, part });
      }
      continue;
    }
    hits.addParameter(operation, parameter);
    if (value === "" && mapOf(found.value).allowEmptyValue === true) continue;
    const problems = schema ? schemas.check(schema, value, "request") : [];
    drafts.push(...problems.map((problem) => ({
      at: problem.at,
      side: "request" as const,
      ...described(`${what}${pathText(problem.path)}`, problem),
      part,
      path: isField ? [name, ...problem.path] : [],
    })));
  }
  return [...drafts, ...checkRequestBody(api, operation, exchange)];
}

/** Headers that OpenAPI ignores as parameters. */
const SAID_ELSEWHERE = new Set(["accept", "content-type", "authorization"]);

function isPlace(place: string): place is "path" | "query" | "header" | "cookie" | "formData" {
  return ["path", "query", "header", "cookie", "formData"].includes(place);
}

/** The fields of a form, none where there is no body; undefined where the body is something else. */
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
  operation: ContractOperation,
  exchange: ContractExchange,
): ViolationDraft[] {
  const { description } = api;
  const { requestBody: text, hasRequestBody, requestHeaders } = exchange;
  const body = requestBodyOf(api, operation);
  if (!body) return [];
  const missing = (words: string, at: PartPlace): ViolationDraft[] => [{
    side: "request",
    words,
    at,
    part: "body",
  }];
  if (!hasRequestBody) {
    return body.isRequired ? missing("the required body is missing", body.found.at) : [];
  }
  const type = requestHeaders.get("content-type");
  const key = mediaKey(body.types, type);
  if (key === undefined) {
    const words = `the content type ${type ?? "is missing, it"} is not one of ${
      body.types.join(", ")
    }`;
    return missing(words, body.found.at);
  }
  const schema = body.schemaOf(key);
  if (!schema || text === undefined) return [];
  if (isJson(type ?? key)) return checkJson(api, schema, text, "request", body.found);
  if (!isFormType(type ?? key)) return [];
  const value = readFields(description, api.schemas, schema, [...new URLSearchParams(text)]);
  return problemsOf(api, schema, value, "request");
}

interface BodyOf {
  readonly found: FoundPart;
  readonly isRequired: boolean;
  readonly types: readonly string[];
  schemaOf(type: string): FoundPart | undefined;
}

function requestBodyOf(
  { description }: ContractApi,
  { found, parameters }: ContractOperation,
): BodyOf | undefined {
  if (description.version === "2.0") {
    const body = parameters.find(({ place }) => place === "body");
    if (!body) return undefined;
    const consumes = description.child(found, "consumes") ??
      description.child(description.root, "consumes");
    return {
      found: body.found,
      isRequired: body.isRequired,
      types: typesIn(consumes?.value),
      schemaOf: () => description.child(body.found, "schema"),
    };
  }
  const body = description.child(found, "requestBody");
  if (!body) return undefined;
  return {
    found: body,
    isRequired: mapOf(body.value).required === true,
    types: Object.keys(mapOf(mapOf(body.value).content)),
    schemaOf: (type) => description.child(body, "content", type, "schema"),
  };
}
