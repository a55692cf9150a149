import { isDict } from "../../base/value/value.ts";
import type { Dict, ParameterProblem, Value } from "../../action/action.ts";
import { checkPort } from "../../action/net/tls_switch.ts";
import { isGiven } from "../../action/parameters.ts";

const CREDENTIALS = ["password", "key_file", "agent"];

/** Rules for a step that the table of parameters cannot express. */
export function sshProblems(params: Dict): ParameterProblem[] {
  const has = (name: string) => isGiven(params, name);
  const problems = [...checkPort(params), ...checkEnvironment(params.env)];
  if (!CREDENTIALS.some((name) => has(name) && params[name] !== "")) {
    problems.push({
      path: [],
      message: 'ssh needs "password", "key_file" or "agent" to sign in',
      hint: "key_file: ~/.ssh/id_ed25519, or agent: true",
    });
  }
  if (!["cmd", "upload", "download"].some(has)) {
    problems.push({ path: [], message: 'ssh needs "cmd", "upload" or "download"' });
  }
  for (const name of ["workdir", "env", "stdin", "pty"]) {
    if (!has(name) || has("cmd") || !has("upload") && !has("download")) continue;
    problems.push({ path: [name], at: "key", message: `"${name}" needs "cmd"` });
  }
  for (const name of ["upload", "download"]) {
    const files = params[name];
    if (!isDict(files)) continue;
    for (const [from, to] of Object.entries(files)) {
      if (typeof to === "string") continue;
      problems.push({
        path: [name, from],
        message: `"${name}" maps paths to paths; that of ${JSON.stringify(from)} is not a string`,
      });
    }
  }
  return problems;
}

function checkEnvironment(env: Value | undefined): ParameterProblem[] {
  if (!isDict(env)) return [];
  return Object.keys(env).filter((name) => !/^[A-Za-z_]\w*$/.test(name)).map((name) => ({
    path: ["env", name],
    at: "key",
    message: `invalid name of a variable ${JSON.stringify(name)}`,
    hint: "shells allow letters, digits and underscores",
  }));
}
