import { denoHost } from "../../src/host/deno_host.ts";
import type { Host } from "../../src/host/host.ts";
import { LoadError } from "../../src/base/errors.ts";
import { renderDiagnostic } from "../../src/base/diagnostic.ts";
import { type Loaded, loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { withFiles } from "./temp_dir.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;
type Env = Readonly<Record<string, string>>;

/** The machine, with these environment variables and no other. */
export function hostWith(env: Env = {}): Host {
  return { ...denoHost(), env: { get: (name) => env[name], all: () => env, remove: () => {} } };
}

/** Loads real files, in the order in which they are given. */
export function loadFiles(files: Files, env?: Env): Promise<Loaded> {
  return withFiles(files, (directory) => {
    const paths = Object.keys(files).map((name) => `${directory}/${name}`);
    return loadWorkflow(paths.join(","), hostWith(env));
  });
}

/** Loads one file, called `flow.yml`. */
export function loadText(text: string, env?: Env): Promise<Loaded> {
  return loadFiles({ "flow.yml": text }, env);
}

/** Returns the messages about files: the first line of the error, and every diagnostic. */
export async function explainFiles(files: Files, env?: Env): Promise<string> {
  return await withFiles(files, async (directory) => {
    const paths = Object.keys(files).map((name) => `${directory}/${name}`);
    let lines: string[];
    try {
      const { warnings } = await loadWorkflow(paths.join(","), hostWith(env));
      lines = warnings.map(renderDiagnostic);
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      const hint = error.hint === undefined ? "" : ` (${error.hint})`;
      lines = [error.message + hint, ...error.diagnostics.map(renderDiagnostic)];
    }
    return lines.join("\n").replaceAll(`${directory}/`, "");
  });
}

/** Returns the messages about one file, called `flow.yml`. */
export function explainText(text: string, env?: Env): Promise<string> {
  return explainFiles({ "flow.yml": text }, env);
}

/** The place and the message of each diagnostic, without the lines of the file. */
export async function describeText(text: string, env?: Env): Promise<readonly string[]> {
  const reported = await explainText(text, env);
  return reported.split("\n").flatMap((line) => /^flow\.yml:(.*)$/.exec(line)?.[1] ?? []);
}
