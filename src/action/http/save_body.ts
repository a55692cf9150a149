import { StepError } from "../../source/errors.ts";
import type { ActionContext } from "../action.ts";
import { fileSuffix, mediaType } from "./content_type.ts";

/** Writes a body to a file that lives as long as the run, and gives the path of the file. */
export async function saveBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  context: ActionContext,
): Promise<string> {
  try {
    const path = await Deno.makeTempFile({
      prefix: "runner_",
      suffix: fileSuffix(mediaType(contentType ?? "")),
    });
    context.onRunEnd(() => remove(path));
    await Deno.writeFile(path, bytes);
    return path;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      throw new StepError(
        "cannot save the body of the response: the program may not write temporary files",
        "run it with --allow-write",
      );
    }
    if (!(error instanceof Error)) throw error;
    throw new StepError(`cannot save the body of the response: ${error.message}`);
  }
}

async function remove(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
