import type { ActionContext } from "../../../action/action.ts";
import { stageStepFile, writeProblem } from "../../../action/step_file.ts";
import type { StagedFile } from "../../../host/staged_file.ts";
import { type BodySink, BodyTooLarge, type Bytes, type SavedBody } from "../transport/model.ts";
import { decodeStream } from "./decode_content.ts";
import { bodyDigests } from "./read_body.ts";

const DOING = "cannot save the body of the response";

/** The file that the body of a response goes into. It takes its name when it is complete. */
class SaveFile implements BodySink {
  readonly #path: string;
  readonly #staged: StagedFile;
  readonly #limit: number;
  #isDiscarded = false;

  constructor(path: string, staged: StagedFile, limit: number) {
    this.#path = path;
    this.#limit = limit;
    this.#staged = staged;
  }

  /** Whether the body of a response with that code is saved. */
  takes(code: number): boolean {
    // An error page must not replace an existing file.
    return code >= 200 && code <= 299;
  }

  /** Writes a body whose content encodings are undone. */
  async save(chunks: AsyncIterable<Bytes>, contentEncoding: string): Promise<SavedBody> {
    const { add, facts } = bodyDigests();
    let remaining = this.#limit;
    for await (const chunk of decodeStream(chunks, contentEncoding)) {
      if (this.#isDiscarded) break;
      if ((remaining -= chunk.length) < 0) throw new BodyTooLarge(this.#limit, true);
      add(chunk);
      this.#attempt(() => this.#staged.write(chunk));
    }
    if (!this.#isDiscarded) this.#attempt(() => this.#staged.commit());
    return { ...facts(), filepath: this.#path };
  }

  /** Leaves everything as it was before, unless the body was saved. */
  discard(): void {
    this.#isDiscarded = true;
    this.#staged.discard();
  }

  #attempt(change: () => void): void {
    try {
      change();
    } catch (error) {
      throw writeProblem(DOING, this.#path, "save", error);
    }
  }
}

/** Opens the file of `save`, whose path begins at the current directory. */
export async function openSaveFile(
  { path, limit }: { readonly path: string; readonly limit: number },
  context: ActionContext,
): Promise<SaveFile> {
  const { absolute, staged } = await stageStepFile(DOING, path, "save", context);
  return new SaveFile(absolute, staged, limit);
}
