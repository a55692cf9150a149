import type { Part } from "../read/description.ts";
import type { Content, DescribedOperation } from "../read/operations.ts";
import { isJson, mapOf } from "../read/raw.ts";
import {
  checkJson,
  type ContractApi,
  type ContractExchange,
  count,
  describeProblem,
  mediaKey,
  type ViolationDraft,
} from "./exchange.ts";
import { readHeader } from "./parameter_values.ts";

/** Finds where a response differs from its operation. */
export function checkResponse(
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
