import { explainDenial } from "../../../host/explain_denial.ts";
import { StepError } from "../../../base/errors.ts";
import { tryParseJson } from "../../../base/value/parse_json.ts";
import type { ActionContext, Dict } from "../../../action/action.ts";
import { runResources } from "../../../action/run_resources.ts";
import type { RawResponse } from "../transport/model.ts";
import { fileSuffix, isJsonType, mediaType } from "./content_type.ts";
import { decodeBody } from "./decode_body.ts";
import { decodeText } from "./decode_text.ts";
import type { ResponseHead } from "./response.ts";

/** A body that was read. */
export interface ReadBody {
  /** The fields of `res` about it. */
  readonly fields: Dict;
  /** Where a binary one is. */
  readonly filepath?: string;
  /** Its bytes after decoding content encodings, whose digests are not among the fields. */
  readonly bytes?: Uint8Array;
}

/** Reads a body: its `size`, and its text or data in `body`; a binary one is written to a file. */
export function readBody(
  { body, saved }: RawResponse,
  { headers }: ResponseHead,
  maxBody: number,
  context: ActionContext,
): ReadBody | Promise<ReadBody> {
  if (saved) return { fields: { body: "", ...saved } };
  const contentType = headers["Content-Type"] ?? "";
  const encoding = headers["Content-Encoding"];
  const read = (bytes: Uint8Array) => readBytes(bytes, contentType, context);
  return encoding === undefined ? read(body) : decodeBody(body, encoding, maxBody).then(read);
}

function readBytes(
  bytes: Uint8Array,
  contentType: string,
  context: ActionContext,
): ReadBody | Promise<ReadBody> {
  const text = decodeText(bytes, contentType);
  const size = bytes.length;
  if (text !== undefined) return { fields: { ...readText(text, contentType), size }, bytes };
  return saveBody(bytes, contentType, context)
    .then((filepath) => ({ fields: { body: "", size }, filepath, bytes }));
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
