import type { ApiCoverage } from "../base/value/api_coverage.ts";
import type { ResourceScope } from "./action.ts";

/** The part of an API that a run has used. */
interface CountedContract {
  coverage(): ApiCoverage;
}

/** The API descriptions that a run has read, by their paths and options. */
export function contractsOf(scope: ResourceScope): Map<string, Promise<CountedContract>> {
  return scope.resource("API contracts", () => new Map());
}

/** The part of each API that the requests of a run have used. */
export async function coverageOf(scope: ResourceScope): Promise<readonly ApiCoverage[]> {
  const contracts = await Promise.allSettled(contractsOf(scope).values());
  return contracts.flatMap((one) => one.status === "fulfilled" ? one.value.coverage() : []);
}
