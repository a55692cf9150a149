import type { Environment, Host, Output } from "../host/host.ts";
import { UsageError } from "../base/errors.ts";
import { toAscii } from "../base/text/printable.ts";
import { checkChoice } from "./command_line.ts";

/** Every form of the report, in the order of the help: the same text in another way. */
export const OUTPUT_FORMS = [
  { name: "spinner", summary: "redraws progress in place" },
  { name: "stream", summary: "prints each result as it completes" },
] as const;

/** The values of `--output`. */
export const OUTPUT_MODES: readonly string[] = ["auto", ...OUTPUT_FORMS.map(({ name }) => name)];

/** Whether to redraw progress: the flag, then the environment, then what the output is. */
export function redraws(flag: string | undefined, env: Environment, output: Output): boolean {
  const mode = flag ?? (env.get("RUNNER_OUTPUT") || "auto");
  checkChoice("RUNNER_OUTPUT", mode, OUTPUT_MODES);
  return mode === "spinner" || mode === "auto" && output.isTerminal;
}

/** The level of messages on standard error: `debug` prints all details, `error` only errors. */
export type LogLevel = "debug" | "info" | "warn" | "error";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** The requested level: `--verbose` is `debug`, whatever RUNNER_LOG_LEVEL says. Throws UsageError. */
export function logLevel(env: Environment, switches: ReadonlySet<string>): LogLevel {
  if (switches.has("verbose")) return "debug";
  const value = env.get("RUNNER_LOG_LEVEL") || "info";
  checkChoice("RUNNER_LOG_LEVEL", value, LEVELS);
  return LEVELS.find((level) => level === value)!;
}

/** Whether to print with colours: as requested, else if a terminal shows them. */
export function usesColour(noColor: boolean, env: Environment, output: Output): boolean {
  const unwanted = env.get("RUNNER_NO_COLOR") ?? "";
  if (!["", "0", "1", "false", "true"].includes(unwanted)) {
    throw new UsageError(
      `invalid value "${unwanted}" for RUNNER_NO_COLOR`,
      "one of true, false, 1, 0",
    );
  }
  if (env.get("FORCE_COLOR") === "1") return true;
  if (noColor || unwanted === "1" || unwanted === "true" || env.get("NO_COLOR")) return false;
  return output.isTerminal && env.get("TERM") !== "dumb";
}

/** Whether signs are to be ASCII: the locale is not UTF-8, or the terminal is a dumb one. */
export function usesAscii(env: Environment): boolean {
  if (env.get("TERM") === "dumb") return true;
  const locale = ["LC_ALL", "LC_CTYPE", "LANG"].map((name) => env.get(name)).find((value) => value);
  return locale !== undefined && !/utf-?8/i.test(locale);
}

/** The host whose outputs write the signs of reports and drawings in ASCII, if the locale needs it. */
export function inLocale(host: Host): Host {
  if (!usesAscii(host.env)) return host;
  const ascii = (output: Output): Output => ({
    ...output,
    write: (text) => output.write(toAscii(text)),
  });
  return { ...host, stdout: ascii(host.stdout), stderr: ascii(host.stderr) };
}
