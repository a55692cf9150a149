import { explainDenial } from "../../../host/explain_denial.ts";
import { StepError } from "../../../base/errors.ts";
import { tryParseJson } from "../../../base/value/parse_json.ts";
import type { ActionContext, Dict } from "../../../action/action.ts";
import { runResources } from "../../../action/run_resources.ts";
import { joinChunks } from "../transport/body_chunks.ts";
import type { RawResponse } from "../transport/send.ts";
import { factsOf } from "./body_facts.ts";
import { fileSuffix, isJsonType, mediaType } from "./content_type.ts";
import { decodeBody } from "./decode_body.ts";
import { decodeText } from "./decode_text.ts";
import type { ResponseHead } from "./response.ts";

/**
 * The fields of `res` about a body: `size` and digests of its bytes after decoding content encodings,
 * its text or data in `body`, and the file of a binary one in `filepath`.
 */
export async function readBody(
  { chunks, saved }: RawResponse,
  { headers }: ResponseHead,
  maxBody: number,
  context: ActionContext,
): Promise<Dict> {
  if (saved) return { body: "", ...saved };
  const contentType = headers["Content-Type"] ?? "";
  const encoding = headers["Content-Encoding"];
  const raw = joinChunks(chunks);
  const bytes = encoding === undefined ? raw : await decodeBody(raw, encoding, maxBody);
  const facts = factsOf(bytes);
  const text = decodeText(bytes, contentType);
  if (text !== undefined) return { ...readText(text, contentType), ...facts };
  return { body: "", ...facts, filepath: await saveBody(bytes, contentType, context) };
}

/** `body`, and `rawbody` where the body is data. */
function readText(text: string, contentType: string): Dict {
  if (!isJsonType(mediaType(contentType)) && !looksLikeData(text)) return { body: text };
  const body = tryParseJson(text);
  return body === undefined ? { body: text } : { body, rawbody: text };
}

/** Whether a text is bracketed like an object or a list. */
function looksLikeData(text: string): boolean {
  const inner = text.trim();
  return inner.startsWith("{") && inner.endsWith("}") ||
    inner.startsWith("[") && inner.endsWith("]");
}

/** Writes a body to a file that is removed when the run ends, and gives the path of the file. */
async function saveBody(
  bytes: Uint8Array,
  contentType: string,
  context: ActionContext,
): Promise<string> {
  try {
    const path = await runResources(context).newFile(fileSuffix(mediaType(contentType)));
    await Deno.writeFile(path, bytes, { mode: 0o600 });
    return path;
  } catch (error) {
    const denial = explainDenial(error);
    if (denial) {
      throw new StepError(`cannot save the body of the response: ${denial.message}`, denial.hint);
    }
    if (!(error instanceof Error)) throw error;
    const hint = error instanceof StepError ? error.hint : undefined;
    throw new StepError(`cannot save the body of the response: ${error.message}`, hint);
  }
}
