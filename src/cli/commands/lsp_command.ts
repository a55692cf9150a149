import { serveEditor } from "../../lsp/server.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";

/** Answers an editor until it says that it needs no more. */
export async function lspCommand(_: Invocation, { host }: Program): Promise<ExitCode> {
  await serveEditor(host);
  return 0;
}
