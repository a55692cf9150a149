import {
  type Description,
  fieldOf,
  isMap,
  listOf,
  mapOf,
  type Part,
  type RawApiMap,
  rawText,
} from "./description.ts";

/** The keys of a path that are operations. */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** A parameter of an operation; of 2.0, also the fields of a form and the body. */
export interface DescribedParameter {
  /** Its `in`. */
  readonly location: string;
  readonly name: string;
  readonly isRequired: boolean;
  readonly part: Part;
}

/** The content of a request or a response. */
export interface Content {
  readonly part: Part;
  readonly isRequired: boolean;
  readonly types: readonly string[];
  /** The part with the schema and the examples of a media type. */
  media(type: string): Part | undefined;
  schema(type: string): Part | undefined;
}

/** An operation of a description of any version. */
export class DescribedOperation {
  #parameters: readonly DescribedParameter[] | undefined;

  constructor(
    readonly description: Description,
    /** In upper case. */
    readonly method: string,
    /** With its parameters in braces: `/pets/{petId}`. */
    readonly path: string,
    readonly part: Part,
    readonly item: Part,
  ) {}

  get id(): string | undefined {
    return rawText(mapOf(this.part.value).operationId);
  }

  /** Its parameters, which override those of its path. */
  get parameters(): readonly DescribedParameter[] {
    return this.#parameters ??= this.#readParameters();
  }

  /** Keys of its responses: `200`, `4XX`, `default`. */
  get statuses(): readonly string[] {
    const responses = this.description.child(this.part, "responses");
    return Object.keys(mapOf(responses?.value)).filter((key) => !key.startsWith("x-"));
  }

  /** The body of its requests; fields of a form of 2.0 are parameters. */
  get body(): Content | undefined {
    const { description } = this;
    if (description.version === "2.0") {
      const body = this.parameters.find(({ location }) => location === "body");
      if (!body) return undefined;
      return this.#content(body.part, body.isRequired, this.types("consumes"));
    }
    const part = description.child(this.part, "requestBody");
    return part && this.#content(part, mapOf(part.value).required === true);
  }

  /** The content of the response under a key of `responses`. */
  response(status: string): Content | undefined {
    const { description } = this;
    const part = description.child(this.part, "responses", status);
    if (!part || description.version !== "2.0") return part && this.#content(part, false);
    const hasBody = description.child(part, "schema") !== undefined;
    return this.#content(part, false, hasBody ? this.types("produces") : []);
  }

  /** The media types of 2.0, which a description or an operation lists. */
  types(key: "consumes" | "produces"): readonly string[] {
    const { description, part } = this;
    const list = description.child(part, key) ?? description.child(description.root, key);
    const types = listOf(list?.value).filter((type) => typeof type === "string");
    return types.length > 0 ? types : ["application/json"];
  }

  /** A part with `content`, or one of 2.0, which has a schema for these types. */
  #content(part: Part, isRequired: boolean, typesOfSwagger?: readonly string[]): Content {
    const { description } = this;
    const media = (type: string) =>
      typesOfSwagger ? part : description.child(part, "content", type);
    return {
      part,
      isRequired,
      types: typesOfSwagger ?? Object.keys(mapOf(description.child(part, "content")?.value)),
      media,
      schema(type) {
        const found = media(type);
        return found && description.child(found, "schema");
      },
    };
  }

  #readParameters(): readonly DescribedParameter[] {
    const parameters = new Map<string, DescribedParameter>();
    for (const owner of [this.part, this.item]) {
      for (const part of this.description.children(owner, "parameters")) {
        const { in: location, name, required } = mapOf(part.value);
        if (typeof location !== "string" || rawText(name) === undefined) continue;
        const [plain, isRequired] = [String(name), required === true];
        const key = `${location} ${location === "header" ? plain.toLowerCase() : plain}`;
        if (parameters.has(key)) continue;
        parameters.set(key, { location, name: plain, isRequired, part });
      }
    }
    return [...parameters.values()];
  }
}

/** All operations, in the order of the file. */
export function readOperations(description: Description): DescribedOperation[] {
  const paths = description.child(description.root, "paths");
  return Object.keys(mapOf(paths?.value)).filter((path) => path.startsWith("/")).flatMap((path) => {
    const item = description.child(paths!, path)!;
    return METHODS.flatMap((method) => {
      const part = description.child(item, method);
      return part && isMap(part.value)
        ? [new DescribedOperation(description, method.toUpperCase(), path, part, item)]
        : [];
    });
  });
}

/** The servers of an operation: its own, those of its path, or those of the description. */
export function serversOf({ description, part, item }: DescribedOperation): string[] {
  const { version, root } = description;
  for (const owner of version === "2.0" ? [] : [part, item]) {
    const servers = readServers(mapOf(owner.value), false);
    if (servers.length > 0) return servers;
  }
  return readServers(mapOf(root.value), version === "2.0");
}

/** The URLs of `servers`, or of the keys that 2.0 has for them, with their variables replaced. */
export function readServers(root: RawApiMap, isSwagger: boolean): string[] {
  if (!isSwagger) return listOf(root.servers).flatMap((server) => urlsOf(mapOf(server)));
  const schemes = listOf(root.schemes).filter((scheme) => /^https?$/.test(String(scheme)));
  const scheme = schemes.includes("https") ? "https" : schemes[0] ?? "http";
  const host = rawText(root.host);
  const path = rawText(root.basePath) ?? "/";
  return [host === undefined ? path : `${scheme}://${host}${path}`];
}

/** A server has one URL for each choice of its variables, the defaults first. */
function urlsOf({ url, variables }: RawApiMap): string[] {
  const written = rawText(url)?.trim();
  if (written === undefined) return [];
  const names = [...new Set([...written.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!))];
  return names.reduce((urls, name) => {
    const variable = mapOf(fieldOf(mapOf(variables), name));
    const first = variable.default === undefined ? [] : [variable.default];
    const values = new Set([...first, ...listOf(variable.enum)].map(String));
    if (values.size === 0) return urls;
    const all = urls.flatMap((url) =>
      [...values].map((value) => url.replaceAll(`{${name}}`, value))
    );
    return all.slice(0, MAX_SERVERS);
  }, [written]);
}

/** More URLs of one server are left out. */
const MAX_SERVERS = 100;
