import { assertEquals } from "@std/assert";
import type { CliResult } from "./run_cli.ts";

/** What the output of a program has in it that broke instead of saying what is wrong. */
const TRACES = ["internal error", "at async", "file:///", "[object Object]", "Uncaught"];

/** Checks that the program told nothing of its own inside. */
export function assertNoTrace({ stdout, stderr }: CliResult): void {
  const output = stdout + stderr;
  assertEquals(TRACES.filter((trace) => output.includes(trace)), [], output.slice(0, 2000));
}
