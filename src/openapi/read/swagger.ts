import { isMap, listOf, mapOf, type RawApiMap, rawText } from "./raw.ts";

/** The server URL of a 2.0 description, which consists of several keys. */
export function swaggerServer(root: RawApiMap): RawApiMap {
  const schemes = listOf(root.schemes).filter((scheme) => /^https?$/.test(String(scheme)));
  const host = rawText(root.host);
  const scheme = schemes.includes("https") ? "https" : schemes[0] ?? "http";
  const path = rawText(root.basePath) ?? "/";
  return { url: host === undefined ? path : `${scheme}://${host}${path}` };
}

/** Converts an operation of version 2.0 to 3.0. */
export function upgradeOperation(
  operation: RawApiMap,
  shared: unknown,
  root: RawApiMap,
): RawApiMap {
  const parameters = [...listOf(operation.parameters), ...listOf(shared)].map(mapOf);
  const consumes = typesOf(operation.consumes ?? root.consumes);
  const produces = typesOf(operation.produces ?? root.produces);
  const body = requestBody(parameters, consumes);
  return {
    ...operation,
    ...(body ? { requestBody: body } : {}),
    responses: Object.fromEntries(
      Object.entries(mapOf(operation.responses)).map(([code, response]) => [
        code,
        upgradeResponse(mapOf(response), produces),
      ]),
    ),
  };
}

function requestBody(
  parameters: readonly RawApiMap[],
  consumes: readonly string[],
): RawApiMap | undefined {
  const whole = parameters.find((parameter) => parameter.in === "body");
  if (whole) {
    const types = consumes.filter((type) => !/form/.test(type));
    return contentOf(types.length > 0 ? types : [JSON_TYPE], { schema: whole.schema });
  }
  const fields = parameters.filter(({ in: place }) => place === "formData");
  if (fields.length === 0) return undefined;
  const hasFile = fields.some(({ type }) => type === "file");
  const types = consumes.filter((type) => /form/.test(type));
  const type = hasFile
    ? "multipart/form-data"
    : types.find((type) => /urlencoded/.test(type)) ?? types[0] ??
      "application/x-www-form-urlencoded";
  const schema = {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, withoutRequired(field)])),
    required: fields.flatMap(({ name, required }) => required === true ? [name] : []),
  };
  return contentOf([type], { schema });
}

/** In a schema, `required` is a list of names, not a boolean. */
function withoutRequired({ required: _, ...field }: RawApiMap): RawApiMap {
  return field.type === "file" ? { ...field, type: "string", format: "binary" } : field;
}

function upgradeResponse(response: RawApiMap, produces: readonly string[]): RawApiMap {
  const { schema, examples } = response;
  if (schema === undefined && !isMap(examples)) return response;
  const types = produces.length > 0 ? produces : [JSON_TYPE];
  return { ...response, ...contentOf(types, { schema }) };
}

function contentOf(types: readonly string[], media: RawApiMap): RawApiMap {
  return { content: Object.fromEntries(types.map((type) => [type, media])) };
}

function typesOf(raw: unknown): string[] {
  return listOf(raw).filter((type): type is string => typeof type === "string");
}

const JSON_TYPE = "application/json";
