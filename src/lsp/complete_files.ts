import { join } from "@std/path/join";
import type { Parameter } from "../action/parameter.ts";
import type { Host } from "../host/host.ts";
import { SUITE } from "../suite/decode_suite.ts";
import { WORKFLOW } from "../workflow/decode/decode_workflow.ts";
import { keysBelow } from "../workflow/names.ts";
import { type Completion, type Completions, insertMark, MARK } from "./complete.ts";
import type { KnownActions } from "./format.ts";
import type { Checked } from "./diagnose.ts";
import { stepAt } from "./definition.ts";
import { isAbsolute, namesFile } from "./links.ts";
import { spotAt, type TextRange } from "./loose_yaml.ts";
import type { Outline } from "./outline.ts";

/** A path that is being typed, up to its last "/" and the part that a name replaces. */
interface TypedPath extends TextRange {
  readonly directory: string;
  readonly names: NonNullable<Parameter["namesFile"]>;
}

/** The files and directories that fit at an offset; undefined if no file is named there. */
export async function fileCompletionsAt(
  text: string,
  offset: number,
  path: string,
  known: KnownActions,
  host: Host,
): Promise<Completions | undefined> {
  const typed = typedPathAt(text, offset, known);
  if (!typed) return undefined;
  const { directory, names, start, end } = typed;
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

function typedPathAt(text: string, offset: number, known: KnownActions): TypedPath | undefined {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const key = /([\w-]+)["']?\s*:\s+["']?[^"'{},]*$/.exec(line)?.[1];
  // Most keys name no file, and the text need not be read for them.
  if (key === undefined || !mayNameFile(key, known)) return undefined;
  const marked = insertMark(text, offset, offset);
  if (!marked || marked.spot.isKey) return undefined;
  const { outline, spot: { path, scalar } } = marked;
  const names = namesFile(outline, path, known);
  const [before = "", after = ""] = scalar.text.split(MARK);
  if (!names || scalar.text.includes("{{") || scalar.text.includes("\n")) return undefined;
  const directory = before.slice(0, before.lastIndexOf("/") + 1);
  const start = offset - (before.length - directory.length);
  return { directory, names, start, end: offset + after.length };
}

/** Whether a key or a parameter of that name takes a file. */
function mayNameFile(key: string, { actions }: KnownActions): boolean {
  const isNamed = ({ name, namesFile }: Parameter) => name === key && namesFile !== undefined;
  return [WORKFLOW, SUITE].some(({ form }) => keysBelow(form).some(isNamed)) ||
    [...actions.values()].some(({ parameters }) =>
      keysBelow({ type: "map", summary: "", fields: parameters }).some(isNamed)
    );
}

/** The outputs of a job file that may be written at an offset: `res.outputs.`. */
export async function outputCompletionsAt(
  { text, root }: Outline,
  offset: number,
  check: () => Promise<Checked>,
): Promise<Completions | undefined> {
  const [, id, word] = /\bres\??\.outputs\??\.(?:([A-Za-z_]\w*)\??\.)?(\w*)$/
    .exec(text.slice(Math.max(0, offset - 200), offset)) ?? [];
  if (word === undefined) return undefined;
  const { model } = await check();
  const step = model && stepAt(model, spotAt(root, offset)?.path ?? []);
  const jobFile = step && model.embeddedBy(step.draft);
  if (!jobFile) return undefined;
  const { stepsById, publishers, document } = jobFile;
  const published = (id: string) => [...stepsById.get(id)?.[0]?.published ?? []];
  const names = id === undefined
    ? [...[...stepsById.keys()].filter((id) => published(id).length > 0), ...publishers.keys()]
    : published(id);
  const items = names.filter((name) => /^[A-Za-z_]\w*$/.test(name)).map((name): Completion => ({
    label: name,
    kind: "output",
    documentation: `Published by \`${document.name}\`.`,
    insert: name,
  }));
  return { items, start: offset - word.length, end: offset };
}
