import { join } from "@std/path/join";
import type { Parameter } from "../action/action.ts";
import type { Host } from "../host/host.ts";
import { SUITE_ENTRY } from "../suite/suite_fields.ts";
import type { Field } from "../workflow/decode/field.ts";
import { LOAD, LOAD_DATA } from "../workflow/decode/load_fields.ts";
import { ITERATION } from "../workflow/decode/step_maps.ts";
import { insertMark, MARK } from "./complete.ts";
import type { Completion, Completions } from "./completion.ts";
import type { KnownActions } from "./format.ts";
import { isAbsolute, jobFileOf, type LoadFile, type WorkspaceFile } from "./job_files.ts";
import { namesFile } from "./links.ts";
import type { TextRange } from "./loose_yaml.ts";
import { describeMember, outputsOf } from "./members.ts";

/** A path that is being typed, up to its last "/" and the part that a name replaces. */
interface TypedPath extends TextRange {
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
  // Most keys name no file: then the text need not be read.
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

const FIELDS = [ITERATION, LOAD, LOAD_DATA, SUITE_ENTRY].map(({ fields }) =>
  new Map(Object.entries<Field>(fields))
);

/** Whether a key or a parameter of that name takes a file. */
function mayNameFile(key: string, { actions }: KnownActions): boolean {
  const isNamed = (parameters: readonly Parameter[] = []): boolean =>
    parameters.some(({ name, namesFile, fields, items }) =>
      name === key && namesFile !== undefined || isNamed(fields) || isNamed(items)
    );
  return FIELDS.some((fields) => fields.get(key)?.namesFile !== undefined) ||
    [...actions.values()].some(({ parameters }) => isNamed(parameters));
}

/** The outputs of a job file that may be written at an offset: `res.outputs.`. */
export async function outputCompletionsAt(
  file: WorkspaceFile,
  offset: number,
  known: KnownActions,
  load: LoadFile,
): Promise<Completions | undefined> {
  const { text, steps } = file.outline;
  const [, id, word] = /\bres\??\.outputs\??\.(?:([A-Za-z_]\w*)\??\.)?(\w*)$/
    .exec(text.slice(Math.max(0, offset - 200), offset)) ?? [];
  if (word === undefined) return undefined;
  const step = steps.find(({ node }) => node.start <= offset && offset <= node.end);
  const path = step && jobFileOf(step, file.path)?.path;
  const jobFile = path === undefined ? undefined : await load(path);
  if (!jobFile) return undefined;
  const items = outputsOf(id, jobFile.outline, known)
    .filter(({ name }) => /^[A-Za-z_]\w*$/.test(name))
    .map((member): Completion => ({
      label: member.name,
      kind: "output",
      detail: member.type,
      documentation: describeMember(member),
      insert: member.name,
    }));
  return { items, start: offset - word.length, end: offset };
}
