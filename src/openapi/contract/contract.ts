import { didYouMean } from "../../base/text/suggest.ts";
import type { ApiCoverage, OperationCoverage } from "../../base/value/api_coverage.ts";
import { Description, type ReadFile } from "../read/description.ts";
import { type DescribedOperation, readOperations } from "../read/operations.ts";
import { mapOf, rawText } from "../read/raw.ts";
import { checkRequest } from "./check_request.ts";
import { checkResponse } from "./check_response.ts";
import type { ContractApi, ContractExchange, FoundViolation, OperationHits } from "./exchange.ts";
import { makeRouter, type NoMatch } from "./router.ts";
import { loadSchemas } from "./schemas.ts";

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
