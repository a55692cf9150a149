import type { Files } from "../../host/host.ts";
import { RunnerError } from "../../base/errors.ts";
import { renderHelpPage } from "./render_markdown.ts";

/** The page of the documents under a path below docs/, as text. Throws RunnerError. */
export async function helpTopic(topic: string, page: string, files: Files): Promise<string> {
  const { loadDocuments } = await import("../documents.ts");
  const documents = await loadDocuments();
  const text = documents ? documents[page] : await readPage(page, files);
  if (text === undefined) {
    throw new RunnerError(
      `the page of "${topic}" is not in this build`,
      `the binary of a release has it, and a checkout, as docs/${page}`,
    );
  }
  return renderHelpPage(text);
}

async function readPage(page: string, files: Files): Promise<string | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  try {
    const path = new URL(`../../../docs/${page}`, import.meta.url);
    return new TextDecoder().decode(await files.read(path));
  } catch {
    return undefined;
  }
}
