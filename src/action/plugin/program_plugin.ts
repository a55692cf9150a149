import type { Action } from "../action.ts";
import type { PluginFile, PluginProblem } from "./plugin.ts";

/** An action that a program carries out, which must be one that can be executed. */
export async function programPlugin(file: PluginFile): Promise<Action | PluginProblem> {
  const { name, shown, path } = file;
  const { mode } = await Deno.stat(path);
  if (mode !== null && (mode & 0o111) === 0) {
    return {
      message: `the plugin "${shown}" is not executable`,
      hint: `make it executable: chmod +x ${shown}`,
    };
  }
  return {
    name,
    summary: `The plugin ${shown}`,
    load: async () => (await import("./run_program.ts")).runProgram(file),
  };
}
