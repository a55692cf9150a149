import type { Action, ActionExplainer } from "../../action/action.ts";
import { shellProblems } from "./shell_problems.ts";

/** Shows only what differs from command to command. */
const EXPLAINER: ActionExplainer = {
  describe: (req, res) => ({
    ...req.background === false ? { request: { minor: [["background"]] } } : {},
    ...res
      ? {
        response: {
          minor: [
            ...res.pid === undefined ? [] : [["pid"]],
            ...res.truncated === false ? [["truncated"], ["stdout_bytes"], ["stderr_bytes"]] : [],
          ],
        },
      }
      : {},
  }),
};

/** Runs a command. A command that fails is a result; one that cannot be run is an error. */
export const shell: Action = {
  name: "shell",
  summary: "Runs a command in a shell",
  parameters: [
    { name: "cmd", type: "string", summary: "the command to run", required: true },
    {
      name: "shell",
      type: "string",
      summary: "the shell that runs it, by path or name: sh, bash, /bin/zsh, pwsh",
      default: "/bin/sh, cmd.exe on Windows",
    },
    {
      name: "workdir",
      type: "string",
      summary: "the directory to run it in",
      default: "the current directory",
    },
    {
      name: "env",
      type: "map",
      summary: "variables to add to its environment; null takes one away",
    },
    { name: "stdin", type: "string", summary: "text that it can read", default: "nothing" },
    {
      name: "timeout",
      type: "duration",
      summary: "how long it may take before it is ended",
      default: "the timeout of the step, also for 0",
    },
    {
      name: "background",
      type: "boolean",
      summary: "whether it runs on, until the run ends, while the next steps run",
      default: "false",
    },
    {
      name: "detach",
      type: "boolean",
      summary: "whether it lives on after the run, in a session of its own; it is not waited for",
      default: "false",
    },
    {
      name: "max_output",
      type: "integer",
      summary: "how many bytes of stdout and of stderr to keep: of more, the last",
      default: "1048576",
    },
  ],
  responseFields: [
    { name: "code" },
    { name: "stdout", type: "string" },
    { name: "stderr", type: "string" },
    { name: "pid", type: "int" },
    { name: "signal" },
    { name: "stdout_bytes", type: "int" },
    { name: "stderr_bytes", type: "int" },
    { name: "truncated", type: "bool" },
    { name: "log", type: "string" },
  ],
  check: shellProblems,
  omitsNilIn: () => ["env"],
  exampleTest: "res.code == 0",
  explainer: () => Promise.resolve(EXPLAINER),
  load: async () => (await import("./run_shell.ts")).runShell,
};
