import { type Dict, isDict, type Value } from "../../base/value/value.ts";
import type { Operation } from "./api.ts";
import type { JobDefaults } from "./make_step.ts";
import { snakeCase } from "./templates.ts";

/** A request in a workflow. */
export interface ExistingStep {
  /** The indexes of its job and of itself. */
  readonly job: number;
  readonly index: number;
  readonly id: string | undefined;
  /** In lower case. */
  readonly method: string;
  /** As it is written. */
  readonly url: string;
  readonly data: Dict;
}

/** A workflow to which operations are added, and which operations it has. */
export class Existing {
  readonly jobs: readonly Dict[];
  readonly vars: Dict;
  /** The ids of all steps. */
  readonly ids: readonly string[];
  /** Requests to the API that no operation describes. */
  readonly unknown: readonly ExistingStep[];
  readonly #server: string;
  readonly #steps = new Map<Operation, ExistingStep>();

  constructor(readonly root: Dict, operations: readonly Operation[], server: string) {
    this.#server = server;
    this.jobs = listOf(root.jobs).map((job) => isDict(job) ? job : {});
    this.vars = dictOf(root.vars);
    const steps = this.jobs.flatMap((job, at) =>
      listOf(job.steps).map((data, index) => ({ data: dictOf(data), job: at, index }))
    );
    this.ids = steps.flatMap(({ data: { id } }) => typeof id === "string" ? [id] : []);
    const requests = steps.flatMap((step) => readRequest(step) ?? []);
    const unknown = requests.filter((step) => {
      const path = pathOf(step.url, server);
      if (path === undefined) return false;
      const found = findOperation(operations, step.method, path);
      if (found && !this.#steps.has(found)) this.#steps.set(found, step);
      return !found;
    });
    // An operation that has another path now keeps its id.
    this.unknown = unknown.filter((step) => {
      const found = operations.find((operation) =>
        step.id !== undefined && snakeCase(operation.id ?? "") === step.id &&
        !this.#steps.has(operation)
      );
      if (found) this.#steps.set(found, step);
      return !found;
    });
  }

  /** The first step that carries out an operation. */
  stepOf(operation: Operation): ExistingStep | undefined {
    return this.#steps.get(operation);
  }

  /** Whether it has one of the operations, or is held against a description. */
  isOf(operations: readonly Operation[]): boolean {
    return this.descriptions().size > 0 || operations.some((one) => this.#steps.has(one));
  }

  /** Whether a step sends its request where the operation is. */
  isAt(operation: Operation, { method, url }: ExistingStep): boolean {
    const path = pathOf(url, this.#server);
    return path !== undefined && findOperation([operation], method, path) !== undefined;
  }

  /** What needs name a job by; an index where it has no id. */
  keyOf(job: number): string {
    const id = this.jobs[job]?.id;
    return typeof id === "string" ? id : `#${job}`;
  }

  needsOf(job: number): readonly string[] {
    return listOf(this.jobs[job]?.needs).map(String);
  }

  /** The defaults of the requests of a job, and whether these have a URL. */
  defaultsOf(job: number): JobDefaults & { readonly hasUrl: boolean } {
    const [outer, inner] = [this.root, this.jobs[job]!]
      .map(({ defaults }) => dictOf(dictOf(defaults).http));
    const headers = { ...dictOf(outer!.headers), ...dictOf(inner!.headers) };
    const accept = Object.entries(headers).find(([name]) => name.toLowerCase() === "accept");
    return {
      accept: accept && String(accept[1]),
      headers: textsIn(headers, accept?.[0]),
      query: textsIn({ ...dictOf(outer!.query), ...dictOf(inner!.query) }),
      hasUrl: [outer, inner].some((http) => typeof http!.url === "string"),
    };
  }

  /** Descriptions that requests are held against, as they are written. */
  descriptions(): ReadonlySet<unknown> {
    const all = [this.root, ...this.jobs]
      .map(({ defaults }) => dictOf(dictOf(defaults).http).openapi);
    return new Set(all.filter((one) => typeof one === "string"));
  }
}

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options"];

function readRequest(step: Pick<ExistingStep, "data" | "job" | "index">): ExistingStep | undefined {
  const { data } = step;
  if (data.uses !== "http") return undefined;
  const params = dictOf(data.with);
  const short = METHODS.find((method) => typeof params[method] === "string");
  const method = short ?? String(params.method ?? "get").toLowerCase();
  const url = short === undefined ? params.url : params[short];
  if (typeof url !== "string") return undefined;
  return { ...step, id: typeof data.id === "string" ? data.id : undefined, method, url };
}

/** The path of a request to the API, with `{}` for what is rendered; undefined for another server. */
function pathOf(url: string, server: string): string | undefined {
  const path = url.startsWith(`${server}/`) ? url.slice(server.length) : url;
  const [plain = ""] = path.replace(/^\{\{[^}]*\}\}(?=\/)/, "").replace(/\{\{.*?\}\}/g, "{}")
    .split("?");
  return plain.startsWith("/") ? plain : undefined;
}

/** The operation at a path; one whose path has fewer parameters comes first. */
function findOperation(
  operations: readonly Operation[],
  method: string,
  path: string,
): Operation | undefined {
  const parameters = (one: Operation) => one.path.split("{").length;
  return operations.filter((one) => one.method === method && patternOf(one.path).test(path))
    .toSorted((a, b) => parameters(a) - parameters(b))[0];
}

function patternOf(path: string): RegExp {
  const parts = path.replace(/(?<=.)\/+$/, "").split(/\{[^{}]*\}/);
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join("[^/]+")}/?$`);
}

function textsIn(map: Dict, except?: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(map).flatMap(([name, value]) =>
      typeof value === "string" && name !== except ? [[name, value] as const] : []
    ),
  );
}

/** A value if it is a map, or an empty map. */
export function dictOf(value: Value | undefined): Dict {
  return isDict(value ?? null) ? value as Dict : {};
}

/** A value if it is a list, or an empty list. */
function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? value : [];
}
