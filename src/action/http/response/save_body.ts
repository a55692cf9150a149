import { explainDenial } from "../../../host/explain_denial.ts";
import { StepError } from "../../../source/errors.ts";
import type { ActionContext } from "../../action.ts";
import { runResources } from "../../run_resources.ts";
import { fileSuffix, mediaType } from "./content_type.ts";

/** Writes a body to a file that lives as long as the run, and gives the path of the file. */
export async function saveBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  context: ActionContext,
): Promise<string> {
  try {
    const path = await runResources(context).newFile(fileSuffix(mediaType(contentType ?? "")));
    await Deno.writeFile(path, bytes, { mode: 0o600 });
    return path;
  } catch (error) {
    const denial = explainDenial(error);
    if (denial) {
      throw new StepError(`cannot save the body of the response: ${denial.words}`, denial.hint);
    }
    if (!(error instanceof Error)) throw error;
    throw new StepError(`cannot save the body of the response: ${error.message}`);
  }
}
