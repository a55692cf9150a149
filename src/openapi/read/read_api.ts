import { LoadError } from "../../base/errors.ts";
import { decodeApi } from "./decode_api.ts";
import type { Api } from "./api.ts";
import { isMap, mapOf, type RawApiMap } from "./raw.ts";
import {
  checkReferences,
  type DescriptionFiles,
  type Descriptions,
  resolveReferences,
} from "./resolve_references.ts";

/** Reads an OpenAPI description. Throws LoadError if the file is not one. */
export async function readApi(path: string, descriptions: Descriptions): Promise<Api> {
  const source = await descriptions.read(path);
  const parsed = await descriptions.yaml.parse(source);
  const root = checkRoot(path, parsed.value);
  await resolveReferences(path, parsed, descriptions);
  const api = await decodeApi(root);
  if (api.operations.length === 0) {
    throw new LoadError(`'${path}' describes no operations`, [], whyNone(root));
  }
  return api;
}

/** Checks that a description and all that it refers to can be read. Throws LoadError. */
export async function checkApi(path: string, files: DescriptionFiles): Promise<void> {
  const parsed = await files.yaml.parse(await files.read(path));
  checkRoot(path, parsed.value);
  await checkReferences(path, parsed, files);
}

const WHAT_IT_IS = 'an OpenAPI description starts with its version, such as "openapi: 3.1.0"';

/** Checks the version. Throws LoadError if the file is not an OpenAPI description. */
function checkRoot(path: string, value: unknown): RawApiMap {
  const root = mapOf(value);
  const version = root.openapi ?? root.swagger;
  if (typeof version !== "string" && typeof version !== "number") {
    const message = `'${path}' is not an OpenAPI description`;
    throw new LoadError(message, [], whatElse(root, path));
  }
  const isKnown = root.openapi === undefined
    ? /^2(?:\.|$)/.test(String(version))
    : /^3(?:\.|$)/.test(String(version));
  if (isKnown) return root;
  const message = `OpenAPI version "${version}" of '${path}' is not supported`;
  throw new LoadError(message, [], "supported versions are 2.0, 3.0 and 3.1");
}

function whatElse(root: RawApiMap, path: string): string {
  if (root.jobs !== undefined) return `it is a workflow: run it with runner ${path}`;
  if (root.asyncapi !== undefined) return "it is an AsyncAPI description";
  if (root.swaggerVersion !== undefined) {
    return "Swagger 1 is not supported; the versions 2.0 to 3.1 are";
  }
  return WHAT_IT_IS;
}

function whyNone(root: RawApiMap): string | undefined {
  if (isMap(root.paths) && Object.keys(root.paths).length > 0) {
    return 'a path starts with "/" and has operations such as "get"';
  }
  return root.webhooks === undefined
    ? 'operations are listed in "paths"'
    : "it describes only webhooks, which the API itself calls";
}
