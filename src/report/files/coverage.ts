import {
  coverageShares,
  mergeCoverage,
  percentOf,
  type Share,
  verdictOfRuns,
} from "../model/coverage.ts";
import type { RunRecord } from "./run_record.ts";

/** The version of the form of the document. */
const SCHEMA = "runner-coverage/1";

/** The part of the APIs that the runs have used, as JSON. */
export function* renderCoverage(records: readonly RunRecord[]): Iterable<string> {
  const ends = records.map(({ end }) => end);
  const apis = mergeCoverage(ends);
  const minimum = ends.find((end) => end?.minCoverage !== undefined)?.minCoverage;
  const document = {
    schema: SCHEMA,
    ...minimum === undefined ? {} : { minimum, enough: verdictOfRuns(ends)?.isEnough },
    ...withPercents(coverageShares(apis)),
    apis: apis.map((api) => ({
      file: api.file,
      title: api.title,
      ...withPercents(coverageShares([api])),
      operations: api.operations,
    })),
  };
  yield `${JSON.stringify(document, undefined, 2)}\n`;
}

function withPercents({ operations, statuses, parameters }: ReturnType<typeof coverageShares>) {
  const withPercent = (share: Share) => ({ ...share, percent: percentOf(share) });
  return {
    coverage: {
      operations: withPercent(operations),
      statuses: withPercent(statuses),
      parameters: withPercent(parameters),
    },
  };
}
