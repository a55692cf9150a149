import { didYouMean } from "../../base/text/suggest.ts";
import type { ApiCoverage } from "../../base/value/api_coverage.ts";
import { mapOf, rawText } from "../read/raw.ts";
import { checkRequest } from "./check_request.ts";
import { checkResponse } from "./check_response.ts";
import { makeHits } from "./hits.ts";
import type { DescriptionFiles } from "../read/resolve_references.ts";
import { openDescription } from "./description.ts";
import type { ContractApi, ContractExchange, FoundViolation } from "./exchange.ts";
import { makeRouter, type NoMatch, operationsOf } from "./contract_operations.ts";
import { loadSchemas } from "./schemas.ts";

/** An API and what has been used of it. */
export interface Contract {
  readonly file: string;
  /** Every violation of an exchange, of both sides. */
  check(exchange: ContractExchange): Promise<readonly FoundViolation[]>;
  coverage(): ApiCoverage;
  /** Mistakes in schemas that were found since this was asked for last, in words. */
  takeFaults(): Promise<readonly string[]>;
}

/** Reads a description. `base` takes the place of the paths of its servers. Throws LoadError. */
export async function openContract(
  path: string,
  base: string | undefined,
  files: DescriptionFiles,
): Promise<Contract> {
  const description = await openDescription(path, files);
  const operations = operationsOf(description);
  const router = makeRouter(description, operations, base);
  const hits = makeHits(path, rawText(mapOf(mapOf(description.root.value).info).title), operations);
  const schemas = await loadSchemas(description);
  const api: ContractApi = { description, operations, router, hits, schemas };
  return {
    file: path,
    takeFaults: () =>
      Promise.all(
        schemas.takeFaults().map(async ({ at, part, message }) =>
          `a ${part} of the OpenAPI description is not used: ${message} (${await description.locate(
            at,
          )})`
        ),
      ),
    check: (exchange) => check(api, exchange),
    coverage: () => hits.coverage(),
  };
}

/** More than these of one exchange say nothing more. */
const MOST = 20;

async function check(
  api: ContractApi,
  exchange: ContractExchange,
): Promise<readonly FoundViolation[]> {
  const { description, router, hits } = api;
  const { method, url, basePath } = exchange;
  const match = router.match(method, url.pathname, basePath);
  if ("methods" in match) return [await unknownOperation(api, exchange, match)];
  const { operation, values } = match;
  const name = `${method} ${operation.path}`;
  const drafts = [
    ...checkRequest(api, operation, values, exchange),
    ...checkResponse(api, operation, exchange),
  ];
  hits.addOperation(operation);
  return await Promise.all(
    drafts.slice(0, MOST).map(async ({ words, at, sides, ...draft }) => {
      const place = await description.locate(at);
      return {
        ...draft,
        message: `${draft.side} of ${name}: ${words} (${place})`,
        ...sides ? { sides: { ...sides, place } } : {},
      };
    }),
  );
}

async function unknownOperation(
  { description, operations }: ContractApi,
  { method, url }: ContractExchange,
  { methods, path: inside }: NoMatch,
): Promise<FoundViolation> {
  const path = description.root.at;
  const paths = description.child(description.root, "paths")?.at ?? path;
  const known = operations.map((operation) => operation.path);
  const hint = methods.length > 0
    ? `the path has ${methods.join(", ")}`
    : didYouMean(inside, known) ?? '"base_path" says what comes before the paths; ' +
        '"openapi: false" leaves a step out';
  return {
    side: "request",
    message: `no operation is described for ${method} ${url.pathname} (${await description.locate(
      paths,
    )})`,
    hint,
    part: "path",
  };
}
