import { RunnerError } from "../../src/base/errors.ts";

/** The file of a release that contains the pages, beside `runner.js`. */
export const PAGES_FILE = "runner-pages.js";

/**
 * Loads the pages of `runner help <topic>` from beside the one file, which takes this in the place
 * of `src/cli/help/documents.ts`. Deno keeps what comes from a URL in its cache, so that the next time
 * needs no network. Throws a RunnerError that names the file.
 */
export async function loadDocuments(): Promise<Readonly<Record<string, string>>> {
  // Not import.meta.url, which is where a redirect ended: hosts of releases redirect every file.
  const { href } = new URL(PAGES_FILE, Deno.mainModule);
  try {
    const { PAGES } = await import(href);
    return PAGES;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    throw new RunnerError(
      `the pages of the documents are in ${PAGES_FILE}, which cannot be loaded: ${reason}`,
      "download it from the same release into the directory of runner.js, or use the binary",
    );
  }
}
