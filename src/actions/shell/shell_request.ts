import type { Host } from "../../host/host.ts";
import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { isSecretName } from "../../secrets/secrets.ts";
import type { Dict } from "../../action/action.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { textOf } from "../../action/text_of.ts";
import { findInterpreter, type Interpreter } from "./interpreter.ts";
import { shellProblems } from "./shell_problems.ts";

/** A command as it is asked for, with everything that was left out filled in. */
export interface ShellRequest {
  readonly cmd: string;
  readonly interpreter: Interpreter;
  readonly workdir: string | undefined;
  /** Variables to set, and those to take away, which are null. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly stdin: string | undefined;
  /** Milliseconds; the step has a timeout besides. */
  readonly timeout: number | undefined;
  readonly background: boolean;
  /** It lives on after the run. */
  readonly detach: boolean;
  readonly maxOutput: number;
}

const MAX_OUTPUT = 1024 * 1024;

/** Reads the rendered parameters of a command. */
export function readShellRequest(params: Dict, host: Host): ShellRequest {
  const read = readParameters("shell", params);
  const request: ShellRequest = {
    cmd: required("shell", "cmd", read.string("cmd")),
    interpreter: findInterpreter(read.string("shell"), {
      windows: Deno.build.os === "windows",
      comSpec: Deno.build.os === "windows" ? host.env.get("ComSpec") : undefined,
    }),
    workdir: read.string("workdir"),
    env: mapValues(read.map("env") ?? {}),
    stdin: read.string("stdin"),
    timeout: read.duration("timeout") || undefined,
    background: read.boolean("background") ?? false,
    detach: read.boolean("detach") ?? false,
    maxOutput: read.integer("max_output") ?? MAX_OUTPUT,
  };
  const [problem] = shellProblems(params);
  if (problem) throw new StepError(`cannot run shell: ${problem.message}`);
  return request;
}

/** The secrets among the variables of a command. */
export function environmentSecrets({ env }: ShellRequest): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== null && isSecretName(name) ? [value] : []
  );
}

/** The request as expressions and reports see it: what was asked for, under the names of `with`. */
export function describeRequest(request: ShellRequest): Dict {
  const { cmd, interpreter, workdir, env, stdin, timeout, background, detach } = request;
  return {
    cmd,
    shell: interpreter.program,
    ...workdir === undefined ? {} : { workdir },
    ...Object.keys(env).length === 0 ? {} : { env },
    ...stdin === undefined ? {} : { stdin },
    ...timeout === undefined ? {} : { timeout: formatDuration(timeout) },
    background,
    ...detach ? { detach } : {},
  };
}

function mapValues(env: Dict): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value === null ? null : textOf(value)]),
  );
}
