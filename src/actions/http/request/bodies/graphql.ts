import type { Dict } from "../../../../action/action.ts";
import { isDict } from "../../../../base/value/value.ts";
import { encodeJson, type RequestBody } from "../request_body.ts";

/** The media types of responses to GraphQL requests. */
export const GRAPHQL_ACCEPT = "application/graphql-response+json, application/json";

/** The body of a GraphQL request over HTTP. */
export function graphqlText(
  query: string,
  { variables, operation }: { readonly variables?: Dict; readonly operation?: string },
): RequestBody<string> {
  return encodeJson("graphql", {
    query,
    ...variables && { variables },
    ...operation !== undefined && { operationName: operation },
  });
}

/** `data` and `errors` of the answer of a GraphQL server, where it is one. */
export function graphqlFields(body: unknown): Dict {
  if (!isDict(body)) return {};
  const { data, errors } = body;
  return { ...data === undefined ? {} : { data }, ...errors === undefined ? {} : { errors } };
}

/** Whether the server says that something is wrong, even if it gives some data. */
export function hasGraphqlErrors({ errors }: Dict): boolean {
  return Array.isArray(errors) ? errors.length > 0 : errors !== undefined && errors !== null;
}
