import { join } from "@std/path/join";
import type { Host } from "../host/host.ts";
import type { Parameter } from "../action/action.ts";
import { type Completions, MARK } from "./complete.ts";
import { actionAt, type KnownActions } from "./context.ts";
import { keysAt } from "./format_tables.ts";
import { isAbsolute } from "./embedded_files.ts";
import { spotAt } from "./loose_yaml.ts";
import { makeOutline, type TextRange } from "./outline.ts";

/** A path that is being typed, up to its last "/" and the part that a name replaces. */
interface FilePlace extends TextRange {
  readonly directory: string;
  readonly names: NonNullable<Parameter["namesFile"]>;
}

/** The files and directories that may be named at an offset; undefined where no file is named. */
export async function fileCompletionsAt(
  text: string,
  offset: number,
  path: string,
  known: KnownActions,
  host: Host,
): Promise<Completions | undefined> {
  const place = filePlaceAt(text, offset, known);
  if (!place) return undefined;
  const { directory, names, start, end } = place;
  const from = isAbsolute(directory) ? directory : join(path, "..", directory);
  const entries = (await host.files.entries(from) ?? []).filter(({ name, kind }) =>
    !name.startsWith(".") && name !== "node_modules" && join(from, name) !== path &&
    (kind === "directory" || (names === "any" || /\.ya?ml$/i.test(name)))
  );
  const items = entries.map(({ name, kind }) => {
    const label = kind === "directory" ? `${name}/` : name;
    return { label, kind: kind === "directory" ? "directory" : "file", insert: label } as const;
  });
  return { items, start, end };
}

function filePlaceAt(text: string, offset: number, known: KnownActions): FilePlace | undefined {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const key = /([\w-]+)["']?\s*:\s+["']?[^"'{},]*$/.exec(line)?.[1];
  // Most keys name no file: then the text need not be read.
  const isFile = [...known.actions.values()].some(({ parameters }) => namesFile(parameters, key));
  if (!isFile) return undefined;
  const outline = makeOutline(text.slice(0, offset) + MARK + text.slice(offset));
  const spot = spotAt(outline.root, offset);
  if (!spot || spot.isKey) return undefined;
  const { path, scalar } = spot;
  const keys = keysAt(path.slice(0, -1), outline.kind, actionAt(outline, path, known));
  if (keys?.kind !== "parameters") return undefined;
  const names = keys.parameters.find(({ name }) => name === path.at(-1))?.namesFile;
  const [before = "", after = ""] = scalar.text.split(MARK);
  if (!names || scalar.text.includes("{{") || scalar.text.includes("\n")) return undefined;
  const directory = before.slice(0, before.lastIndexOf("/") + 1);
  const start = offset - (before.length - directory.length);
  return { directory, names, start, end: offset + after.length };
}

function namesFile(parameters: readonly Parameter[] | undefined, key: string | undefined): boolean {
  return key !== undefined &&
    (parameters ?? []).some((one) =>
      one.name === key && one.namesFile !== undefined || namesFile(one.fields, key) ||
      namesFile(one.items, key)
    );
}
