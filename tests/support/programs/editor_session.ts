import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { type applyEdits, Editor, type Position } from "./editor.ts";
import { withFiles } from "../temp_dir.ts";

/** A completion. */
export interface Item {
  readonly label: string;
  readonly detail?: string;
  readonly textEdit: { readonly newText: string };
  readonly documentation?: { readonly value: string };
}

/** A place in a file. */
export interface Location {
  readonly uri: string;
  readonly range: { readonly start: Position; readonly end: Position };
}

/** The changes of a file. */
export type Edits = Parameters<typeof applyEdits>[1];

/** Runs a server for files, which lie in a directory. */
export async function withEditor(
  files: Readonly<Record<string, string>>,
  act: (editor: Editor, at: (name: string) => string) => Promise<void>,
): Promise<void> {
  await withFiles(files, async (cwd) => {
    const real = await Deno.realPath(cwd);
    const editor = new Editor({ env: { RUNNER_PLUGIN_DIR: join(real, "plugins") } });
    try {
      await editor.initialize(real);
      await act(editor, (name) => join(real, name));
    } finally {
      assertEquals(await editor.end(), 0);
    }
  });
}

/** The completions at the end of a text that is near a place. */
export async function completions(
  editor: Editor,
  path: string,
  text: string,
  near: string,
): Promise<readonly Item[]> {
  await editor.write(path, text);
  return await editor.askAt<Item[]>("completion", path, near, near.length);
}

/** The same, by what they show. */
export async function labels(
  ...place: Parameters<typeof completions>
): Promise<readonly string[]> {
  return (await completions(...place)).map(({ label }) => label);
}

/** Fails where one of them is missing. */
export function assertHas(all: readonly string[], some: readonly string[]): void {
  for (const each of some) assert(all.includes(each), `${each} is not among ${all.join(", ")}`);
}

/** The texts at places of a file. */
export function textsAt(text: string, places: readonly Location[]): string[] {
  return places.map(({ range: { start, end } }) =>
    `${start.line + 1}: ${text.split("\n")[start.line]!.slice(start.character, end.character)}`
  );
}
