import type { ApiCoverage, OperationCoverage } from "../../base/value/api_coverage.ts";
import type { ContractOperation, OperationParameter } from "./contract_operations.ts";

/** Counts what is used of an API. */
export interface Hits {
  addOperation(operation: ContractOperation): void;
  addStatus(operation: ContractOperation, status: string, isDescribed: boolean): void;
  addParameter(operation: ContractOperation, parameter: OperationParameter): void;
  coverage(): ApiCoverage;
}

/** Counts for the operations of a description. */
export function makeHits(
  file: string,
  title: string | undefined,
  operations: readonly ContractOperation[],
): Hits {
  const used = new Map<ContractOperation, Used>();
  const of = (operation: ContractOperation) =>
    used.getOrInsertComputed(operation, () => ({
      hits: 0,
      statuses: new Map(),
      undescribed: new Map(),
      parameters: new Map(),
    }));
  const add = <K>(counts: Map<K, number>, key: K) => counts.set(key, (counts.get(key) ?? 0) + 1);
  return {
    addOperation: (operation) => of(operation).hits++,
    addStatus(operation, status, isDescribed) {
      const { statuses, undescribed } = of(operation);
      add(isDescribed ? statuses : undescribed, status);
    },
    addParameter: (operation, parameter) => add(of(operation).parameters, parameter),
    coverage: () => ({
      file,
      title: title ?? file,
      operations: operations.map((operation) => coverageOf(operation, used.get(operation))),
    }),
  };
}

interface Used {
  hits: number;
  readonly statuses: Map<string, number>;
  readonly undescribed: Map<string, number>;
  readonly parameters: Map<OperationParameter, number>;
}

/** Parameters of other places are the body. */
const PLACES: readonly string[] = ["path", "query", "header", "cookie"];

function coverageOf(operation: ContractOperation, used: Used | undefined): OperationCoverage {
  const { method, path, id, statuses, parameters } = operation;
  return {
    method,
    path,
    ...id === undefined ? {} : { id },
    hits: used?.hits ?? 0,
    statuses: [
      ...statuses.map((status) => ({ status, hits: used?.statuses.get(status) ?? 0 })),
      ...[...used?.undescribed ?? []].map(([status, hits]) => ({
        status,
        hits,
        undescribed: true as const,
      })),
    ],
    parameters: parameters.filter(({ place }) => PLACES.includes(place)).map((parameter) => ({
      in: parameter.place,
      name: parameter.name,
      hits: used?.parameters.get(parameter) ?? 0,
    })),
  };
}
