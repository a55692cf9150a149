import { formatDuration } from "../../base/value/duration.ts";
import { isSecretName } from "../../secrets/secrets.ts";
import { action } from "../../action/make_action.ts";
import {
  duration,
  flag,
  integer,
  map,
  mapOf,
  type Param,
  port,
  text,
  timeout,
  value,
} from "../../action/rule.ts";
import { isGiven, textOf } from "../../action/parameter.ts";
import { readUrl } from "../http/request/http_syntax.ts";
import { findInterpreter } from "./interpreter.ts";

const MAX_OUTPUT = 1024 * 1024;

/** More cannot be kept as one text. */
const LARGEST_OUTPUT = 256 * 1024 * 1024;

/** What depends on somebody who waits for the command. */
const ATTACHED = ["background", "ready", "stdin", "timeout", "max_output"];

/** A text that the system takes, which ends at a NUL. */
const line = (summary: string) =>
  text(summary).as((text, param) => {
    if (text.trim() === "") throw param.wrong(`${param.name} must not be empty`);
    if (text.includes("\0")) throw param.wrong(`${param.name} must not hold a NUL character`);
    return text;
  });

/** The value of a variable, or null to take the variable away. */
const variable = value("any", "a variable")
  .as((value, param): string | null => {
    const name = param.path.at(-1) as string;
    const text = textOf(value);
    if (text.includes("\0")) throw cannotHold(name, "its value has a NUL", param);
    if (isSecretName(name)) param.secrets?.add(text);
    return text;
  }).default(null);

function checkVariableName(name: string, param: Param): void {
  if (name !== "" && !/[=\0]/.test(name)) return;
  cannotHold(name, "no variable can have that name", param, "key");
}

function cannotHold(name: string, why: string, param: Param, at?: "key") {
  const message = `"env" cannot hold ${JSON.stringify(name)}: ${why}`;
  return param.wrong(message, undefined, { at });
}

const ready = map(
  {
    http: text("a URL that answers with a code from 200 to 299").as((text, param) => {
      const url = readUrl(text);
      if (!(url instanceof URL)) throw param.wrong(url.message, url.hint);
      if (url.password !== "") param.secrets?.add(decodeURIComponent(url.password));
      return url;
    }),
    tcp: port("a port of this machine that accepts connections"),
    log: text("a text that it prints").as((text, param) => {
      if (text === "") throw param.wrong(`${param.name} must not be empty`);
      return text;
    }),
  },
  "what shows that a command in the background is ready; the step waits for it",
  {
    oneField: true,
  },
);

/** Runs a command. A command that fails is a result; one that cannot be run is an error. */
export const shell = action({
  name: "shell",
  summary: "Runs a command in a shell",
  expectsResult: ({ ready = null }) => ready !== null,
  params: {
    cmd: line("the command to run").required(),
    shell: line("the shell that runs it, by path or name: sh, bash, /bin/zsh, pwsh")
      .with({ default: "/bin/sh, cmd.exe on Windows" }),
    workdir: line("the directory to run it in").with({ default: "the current directory" }),
    env: mapOf(
      variable,
      "variables to add to its environment; null removes one",
      checkVariableName,
    ),
    stdin: text("text that it can read").with({ default: "nothing" }),
    ...timeout(
      "how long it may take before it is ended",
      0,
      "the timeout of the step, also for 0",
    ),
    background: flag("whether it keeps running until the run ends, while the next steps run")
      .default(false),
    ready,
    ready_timeout: duration("how long it may take until it is ready").default(30_000, "30s"),
    detach: flag(
      "whether it keeps running after the run, in its own session; the step does not wait for it",
    ).default(false),
    max_output: integer(
      "how many bytes of stdout and of stderr to keep: of more, the last",
      { min: 0, max: LARGEST_OUTPUT },
    ).default(MAX_OUTPUT),
  },
  check: ({ background, detach }, param, raw) => {
    if (isGiven(raw, "ready") && background === false && !detach) {
      param.of("ready").wrong('"ready" needs "background: true"', undefined, { at: "key" });
    }
    if (isGiven(raw, "ready_timeout") && !isGiven(raw, "ready")) {
      param.of("ready_timeout").wrong('"ready_timeout" needs "ready"', undefined, { at: "key" });
    }
    if (!detach) return;
    for (const name of ATTACHED) {
      if ((raw[name] ?? false) === false) continue;
      const message = `"detach" and "${name}" cannot be combined`;
      param.of(name).wrong(`${message}: nothing waits for a detached command`, undefined, {
        at: "key",
      });
    }
  },
  omitsNilIn: () => ["env"],
  res: {
    code: {
      type: "any",
      summary: "the exit code, an integer; nil if it runs on in the background",
    },
    stdout: {
      type: "string",
      summary: "the output of the command, including the last line break",
      optional: true,
    },
    stderr: { type: "string", summary: "its output on stderr", optional: true },
    pid: { type: "int", summary: "the id of the process" },
    signal: {
      type: "any",
      summary: "the signal that ended the command, such as `SIGKILL`, or nil",
    },
    stdout_bytes: { type: "int", summary: "the length of its output in bytes", optional: true },
    stderr_bytes: {
      type: "int",
      summary: "the length of its output on stderr in bytes",
      optional: true,
    },
    truncated: {
      type: "bool",
      summary: "whether the beginning of an output was dropped because of `max_output`",
      optional: true,
    },
    log: {
      type: "string",
      summary: "of a command in the background, the file with its output",
      optional: true,
    },
  },
  messages: {
    line: { type: "string", summary: "a line that the command in the background printed" },
    stream: { type: "string", summary: "where it printed it: `stdout` or `stderr`" },
  },
  usage: `with:
  cmd: echo "hello $NAME"
  env: { NAME: ann }`,
  example: "res.code == 0",
  target: ({ shell }) => ({ program: findInterpreter(shell).program }),
  request: (command, raw) => {
    const { cmd, shell, workdir, env, stdin, timeout, background, detach } = command;
    return {
      cmd,
      shell: findInterpreter(shell).program,
      ...workdir !== undefined && { workdir },
      ...env && Object.keys(env).length > 0 && { env },
      ...stdin !== undefined && { stdin },
      ...timeout !== 0 && { timeout: formatDuration(timeout) },
      background,
      ...raw.ready !== undefined && { ready: raw.ready },
      ...detach && { detach },
    };
  },
  /** Shows only what differs from command to command. */
  describe: (req, res) => ({
    ...req.background === false && { request: { minor: [["background"]] } },
    ...res && {
      response: {
        minor: [
          ...res.pid === undefined ? [] : [["pid"]],
          ...res.truncated === false ? [["truncated"], ["stdout_bytes"], ["stderr_bytes"]] : [],
        ],
      },
    },
  }),
  run: async (_, command, attempt) =>
    await (await import("./run_command.ts")).runCommand(command, attempt),
});
