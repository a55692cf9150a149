import { assertMatch } from "@std/assert";

/** Checks by the summary of a report that no job failed. */
export function assertPassed(stdout: string, message?: string): void {
  assertMatch(stdout, /^Jobs {7}\d+ (?:passed(?: · \d+ skipped)?|skipped) \(/m, message);
}
