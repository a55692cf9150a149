import { resolve } from "@std/path/resolve";
import { explainDenial } from "../../../host/explain_denial.ts";
import { stageBytes, type StagedBytes } from "../../../host/staged_file.ts";
import { StepError } from "../../../source/errors.ts";
import type { ActionContext } from "../../action.ts";
import { bodyDigests, type BodyFacts } from "./body_facts.ts";
import { decodeStream } from "./decode_stream.ts";

/** A body in a file, and what is known of it. */
export interface SavedBody extends BodyFacts {
  readonly filepath: string;
}

/** Where the body of a response goes while it is received. */
export interface BodySink {
  /** Whether it takes the body of a response with that code and these headers. */
  takes(code: number, rawHeaders: readonly string[]): boolean;
  save(
    chunks: AsyncIterable<Uint8Array>,
    contentEncoding: string,
  ): Promise<SavedBody | undefined>;
  /** Whether it needs no more of the body. */
  readonly isDone?: boolean;
  discard(): void;
}

/** The file that the body of a response goes into. It takes its name when it is complete. */
export class SaveFile implements BodySink {
  readonly #path: string;
  readonly #staged: StagedBytes;
  #isDiscarded = false;

  constructor(path: string, staged: StagedBytes) {
    this.#path = path;
    this.#staged = staged;
  }

  /** Whether the body of a response with that code is saved. */
  takes(code: number): boolean {
    // The page of an error is not what was asked for, and must not replace a file that is there.
    return code >= 200 && code <= 299;
  }

  /** Writes a body whose content encodings are undone. */
  async save(chunks: AsyncIterable<Uint8Array>, contentEncoding: string): Promise<SavedBody> {
    const { add, facts } = await bodyDigests();
    for await (const chunk of decodeStream(chunks, contentEncoding)) {
      if (this.#isDiscarded) break;
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

  #attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      throw saveProblem(this.#path, error);
    }
  }
}

/** Opens the file of `save`, whose path begins at the current directory. */
export async function openSaveFile(path: string, context: ActionContext): Promise<SaveFile> {
  const { host, permissions } = context;
  const absolute = resolve(host.files.workingDirectory(), path);
  try {
    if (permissions?.write) {
      const { pathRefusal } = await import("../../permissions/path_rule.ts");
      const refusal = await pathRefusal(permissions, "write", absolute, host);
      if (refusal) throw refused(absolute, refusal.message, refusal.hint);
    }
    return new SaveFile(absolute, await stageBytes(absolute));
  } catch (error) {
    throw saveProblem(absolute, error);
  }
}

function refused(path: string, words: string, hint: string | undefined): StepError {
  const message = `cannot save the body of the response to "${path}": ${words}`;
  return new StepError(message, hint, { parameter: "save" });
}

function saveProblem(path: string, error: unknown): unknown {
  if (error instanceof StepError || !(error instanceof Error)) return error;
  const denial = explainDenial(error);
  return refused(path, denial?.words ?? reasonOf(error), denial?.hint);
}

function reasonOf(error: Error): string {
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied (EACCES)";
  if (error instanceof Deno.errors.IsADirectory) return "it is a directory (EISDIR)";
  if (error instanceof Deno.errors.NotADirectory) {
    return "a part of the path is not a directory (ENOTDIR)";
  }
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? `${error.message} (${code})` : error.message;
}
