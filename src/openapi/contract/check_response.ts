import { mapOf } from "../read/raw.ts";
import { isJson } from "../read/media.ts";
import type { FoundPart } from "./description.ts";
import {
  checkJson,
  type ContractApi,
  type ContractExchange,
  described,
  mediaKey,
  typesIn,
  type ViolationDraft,
} from "./exchange.ts";
import type { ContractOperation } from "./contract_operations.ts";
import { readHeader } from "./parameter_values.ts";

/** Finds where a response differs from its operation. */
export function checkResponse(
  api: ContractApi,
  operation: ContractOperation,
  exchange: ContractExchange,
): ViolationDraft[] {
  const { description, hits } = api;
  const { code } = exchange;
  // Some descriptions say nothing about responses.
  if (operation.statuses.length === 0) return [];
  const key = statusKey(operation.statuses, code);
  const responses = description.child(operation.found, "responses");
  if (key === undefined) {
    hits.addStatus(operation, String(code), false);
    const known = operation.statuses.join(", ");
    return [{
      side: "response",
      words: `the status ${code} is not described`,
      sides: { part: "status", expected: known, received: String(code) },
      at: responses?.at ?? operation.found.at,
      hint: `described are ${known}`,
    }];
  }
  hits.addStatus(operation, key, true);
  if (exchange.isStatusOnly) return [];
  const response = description.child(responses!, key)!;
  return [
    ...checkHeaders(api, response, exchange),
    ...checkResponseBody(api, operation, response, exchange),
  ];
}

function statusKey(statuses: readonly string[], code: number): string | undefined {
  return [`${code}`, `${String(code)[0]}XX`, "default"].flatMap((wanted) =>
    statuses.find((one) => one.toUpperCase() === wanted || one === wanted) ?? []
  )[0];
}

function checkHeaders(
  { description, schemas }: ContractApi,
  response: FoundPart,
  { responseHeaders }: ContractExchange,
): ViolationDraft[] {
  return Object.keys(mapOf(mapOf(response.value).headers)).flatMap((name): ViolationDraft[] => {
    const found = description.child(response, "headers", name);
    if (!found || name.toLowerCase() === "content-type") return [];
    const text = responseHeaders.get(name.toLowerCase());
    if (text === undefined) {
      const words = `the required header ${name} is missing`;
      return mapOf(found.value).required === true
        ? [{ side: "response", words, at: found.at }]
        : [];
    }
    const { schema, value } = readHeader(description, schemas, found, text);
    if (!schema || value === undefined) return [];
    return schemas.check(schema, value, "response").map((problem) => ({
      side: "response",
      ...described(`the header ${name}`, problem),
      at: problem.at,
    }));
  });
}

function checkResponseBody(
  api: ContractApi,
  operation: ContractOperation,
  response: FoundPart,
  exchange: ContractExchange,
): ViolationDraft[] {
  const { description } = api;
  const { method, code, responseHeaders, responseBody: text, responseSize } = exchange;
  if (method === "HEAD" || code === 304) return [];
  const content = contentOf(api, operation, response);
  const draft = (words: string): ViolationDraft[] => [{ side: "response", words, at: response.at }];
  if (content.types.length === 0) {
    const isDescribed = description.version !== "2.0" && code === 204;
    return responseSize > 0 && isDescribed ? draft("a body is not described") : [];
  }
  const type = responseHeaders.get("content-type");
  if (responseSize === 0) return draft("the body is missing");
  const key = mediaKey(content.types, type);
  if (key === undefined) {
    return draft(
      type === undefined
        ? "the content type is missing"
        : `the content type ${type} is not one of ${content.types.join(", ")}`,
    );
  }
  const schema = content.schemaOf(key);
  if (!schema || text === undefined || !isJson(type ?? key)) return [];
  return checkJson(api, schema, text, "response", response);
}

function contentOf(
  { description }: ContractApi,
  { found }: ContractOperation,
  response: FoundPart,
) {
  if (description.version !== "2.0") {
    return {
      types: Object.keys(mapOf(mapOf(response.value).content)),
      schemaOf: (type: string) => description.child(response, "content", type, "schema"),
    };
  }
  const schema = description.child(response, "schema");
  const produces = description.child(found, "produces") ??
    description.child(description.root, "produces");
  return { types: schema ? typesIn(produces?.value) : [], schemaOf: () => schema };
}
