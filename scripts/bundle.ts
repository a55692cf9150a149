/**
 * Builds the program: `deno task bundle [directory [commit]]` writes `runner.js`, one file to run
 * from a URL, `runner-pages.js`, what its `help <topic>` prints, and `split/`, the chunks that
 * binaries are made of, into `dist` or another directory. The version names the commit that is
 * checked out, or the one that is given.
 *
 * @module
 */
import { CHECKOUT } from "./bundle/bundler.ts";
import { PAGES_FILE } from "./bundle/load_documents.ts";
import { checkedOutCommit } from "./bundle/checked_out_commit.ts";
import { makeChunks, makeOneFile } from "./bundle/make_bundles.ts";

/** Bytes; a file from a URL is fetched and read as a whole before anything runs. */
const MAX_BYTES = 1_760_000;

const [directory = `${CHECKOUT}/dist`, commit = await checkedOutCommit()] = Deno.args;
const { file, pages } = await makeOneFile(commit);
const chunks = await makeChunks(commit);
await Deno.remove(`${directory}/split`, { recursive: true }).catch(() => {});
await Deno.mkdir(`${directory}/split`, { recursive: true });
await Deno.writeTextFile(`${directory}/runner.js`, file);
await Deno.writeTextFile(`${directory}/${PAGES_FILE}`, pages);
for (const [name, text] of chunks) await Deno.writeTextFile(`${directory}/split/${name}`, text);

const encoder = new TextEncoder();
const sizeOf = (texts: Iterable<string>) =>
  Array.from(texts, (text) => encoder.encode(text).length).reduce((sum, size) => sum + size, 0);
const size = sizeOf([file]);
say(`${directory}/runner.js  ${kilobytes(size)} in one file`);
say(`${directory}/${PAGES_FILE}  ${kilobytes(sizeOf([pages]))}, loaded by runner help <topic>`);
say(`${directory}/split/  ${kilobytes(sizeOf(chunks.values()))} in ${chunks.size} files`);
if (size >= MAX_BYTES) {
  say(
    `runner.js is larger than ${
      kilobytes(MAX_BYTES)
    }: scripts/bundle/libraries.ts lists what it fetches`,
  );
  Deno.exit(1);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
