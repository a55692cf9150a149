import { assertEquals } from "@std/assert";
import type { CliResult } from "./run/run_cli.ts";

/** Output of a program that crashed instead of reporting an error. */
const TRACES = ["internal error", "at async", "file:///", "[object Object]", "Uncaught"];

/** Checks that the output shows no internals of the program. */
export function assertNoTrace({ stdout, stderr }: CliResult): void {
  const output = stdout + stderr;
  assertEquals(TRACES.filter((trace) => output.includes(trace)), [], output.slice(0, 2000));
}
