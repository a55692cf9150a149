import type { Action } from "../../action/action.ts";
import { sharingParameters } from "../../action/shared_connection.ts";
import { sshProblems } from "./ssh_problems.ts";

/** Runs a command on another machine. A command that fails is a result; no connection is an error. */
export const ssh: Action = {
  name: "ssh",
  summary: "Runs commands on another machine and copies files there and back",
  parameters: [
    { name: "host", type: "string", summary: "The host to connect to", required: true },
    { name: "port", type: "integer", summary: "Its port", default: "22" },
    { name: "user", type: "string", summary: "The user to sign in as", required: true },
    { name: "password", type: "string", summary: "The password of the user" },
    {
      name: "key_file",
      type: "string",
      summary: "The private key of the user: a path, `~/` being the home directory, or its text",
    },
    { name: "key_passphrase", type: "string", summary: "The passphrase of the key" },
    {
      name: "agent",
      type: "boolean",
      summary: "Whether to sign in with the keys of the agent that `SSH_AUTH_SOCK` names",
      default: "false",
    },
    {
      name: "cmd",
      type: "string",
      summary: "The command, for the shell of the user; required unless files are copied",
    },
    { name: "workdir", type: "string", summary: "The directory to run it in", default: "the home" },
    {
      name: "env",
      type: "map",
      summary: "Variables to add to its environment; null takes one away",
    },
    { name: "stdin", type: "string", summary: "Text that it can read", default: "nothing" },
    {
      name: "pty",
      type: "boolean",
      summary: "Whether it runs in a terminal, where stderr is a part of stdout",
      default: "false",
    },
    {
      name: "max_output",
      type: "integer",
      summary: "How many bytes of stdout and of stderr to keep: of more, the last",
      default: "1048576",
    },
    {
      name: "upload",
      type: "map",
      summary: "Files to copy there before the command runs: `{local path: remote path}`",
    },
    {
      name: "download",
      type: "map",
      summary: "Files to copy here after the command succeeded: `{remote path: local path}`",
    },
    {
      name: "jump",
      type: "string",
      summary:
        "A host to connect through, `user@host:port`; several are separated by commas. User and port default to those above and 22",
    },
    {
      name: "known_hosts",
      type: "string",
      summary: "The keys that hosts must have: the path of a known_hosts file, or its text",
      default: "`~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`",
    },
    {
      name: "strict_host_check",
      type: "boolean",
      summary: "Whether to check the key of the host",
      default: "true",
    },
    ...sharingParameters("connection", "job, host and user"),
    {
      name: "timeout",
      type: "duration",
      summary: "How long connecting, copying and the command may take",
      default: "the timeout of the step",
    },
  ],
  responseFields: [
    { name: "code", type: "int" },
    { name: "stdout", type: "string" },
    { name: "stderr", type: "string" },
    { name: "signal" },
    { name: "stdout_bytes", type: "int" },
    { name: "stderr_bytes", type: "int" },
    { name: "truncated", type: "bool" },
    { name: "files", type: "array" },
  ],
  check: sshProblems,
  omitsNilIn: () => ["env"],
  exampleTest: "res.code == 0",
  explainer: async () => (await import("./explain_ssh.ts")).sshExplainer,
  load: async () => (await import("./run_ssh.ts")).runSsh,
};
