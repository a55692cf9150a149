import { type HistoryRun, type HistoryTest, TEST_STATES, type TestState } from "./history.ts";
import { tryParseJson } from "../../../base/value/parse_json.ts";
import { isDict } from "../../../base/value/value.ts";

/** The version of the form of the files. */
const SCHEMA = "runner-history/1";

/** The tests of a larger run that passed are left out, so that its file stays small. */
const MOST_TESTS = 5000;

/** A run, and which of the runs in its directory it is to be compared with. */
export interface HistoryFile {
  readonly subject: string;
  readonly run: HistoryRun;
}

/** The name of the file of a run, which sorts by time and is unlike that of any other run. */
export function historyFileName(time: number): string {
  const stamp = new Date(time).toISOString().replace(/[-:.]/g, "");
  return `run-${stamp}-${crypto.randomUUID().slice(0, 8)}.json`;
}

/** A run as the text of its file. */
export function renderHistoryFile({ subject, run }: HistoryFile): string {
  const { tests, ...about } = run;
  const kept = tests.length <= MOST_TESTS
    ? tests
    : tests.filter(({ state }) => state !== "passed").slice(0, MOST_TESTS);
  const head = JSON.stringify({ schema: SCHEMA, subject, ...about }, undefined, 2).slice(0, -2);
  const lines = kept.map(({ name, state, duration }) =>
    `\n    ${JSON.stringify([name, state, duration])}`
  );
  return `${head},\n  "tests": [${lines.join(",")}\n  ]\n}\n`;
}

/** Reads the file of a run; undefined if it is something else. */
export function readHistoryFile(text: string): HistoryFile | undefined {
  const file = tryParseJson(text);
  if (!isDict(file) || file.schema !== SCHEMA) return undefined;
  const { subject, started, duration, state, isPartial, tests } = file;
  if (typeof subject !== "string" || !isTime(started) || !isTime(duration)) return undefined;
  if (state !== "passed" && state !== "failed") return undefined;
  const read = Array.isArray(tests) ? tests.map(readTest) : [undefined];
  if (!read.every((test) => test !== undefined)) return undefined;
  return { subject, run: { started, duration, state, isPartial: isPartial === true, tests: read } };
}

/** A time that a date can have: milliseconds. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 8.64e15;
}

function readTest(value: unknown): HistoryTest | undefined {
  if (!Array.isArray(value)) return undefined;
  const [name, state, duration] = value;
  const isKnown = TEST_STATES.includes(state as TestState);
  if (typeof name !== "string" || !isKnown || !isTime(duration)) return undefined;
  return { name, state: state as TestState, duration };
}
