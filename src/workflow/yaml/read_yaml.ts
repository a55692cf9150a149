import { parse } from "@std/yaml/parse";
import { LoadError } from "../../source/errors.ts";
import type { Source } from "../../source/source.ts";
import { joinFiles } from "../read_files.ts";
import type { Document, Positions } from "../model.ts";

/**
 * What the fast parser reads wrongly without a word: a tab in an indentation, merge keys, numbers
 * that a number cannot hold, `0o17`, `-.5`, a comma with nothing before it, and an anchor of
 * nothing, false, 0 or "", whose aliases are lost. When it is mended, this can go.
 */
const MISREAD = new RegExp(
  [
    /^ *\t|<<\s*:|\d[\d_]{15}|\b0x[\da-fA-F_]{14}|\b0o[0-7]/,
    /[-+]\.\d|\d[eE]\+?\d{3}|[[{,]\s*,/,
    /(?<=[\s[{,])&[^\s[\]{},]+(?:\s*(?:[\r\n\]},#|>!]|$)|[ \t]+(?:""|''|[-+]?\.?0|\.[nN]|[fF]))/,
  ].map(({ source }) => source).join("|"),
  "m",
);

/** What an empty file needs, by what it should be. */
const NEEDS: Readonly<Record<string, string>> = {
  "workflow file": 'a workflow needs at least "name" and "jobs"',
  "job file": 'a job file needs at least "name" and "steps"',
  "OpenAPI file": 'it begins with "openapi: 3.1.0", or another version from 2.0 on',
  "var file": "write {} for no vars at all",
};

/**
 * Reads files as one YAML document; `what` says what they should be. Throws LoadError where they
 * are none.
 */
export async function readYaml(
  files: readonly Source[],
  what = "workflow file",
): Promise<Document> {
  const joined = joinFiles(files);
  const name = files.map((file) => file.name).join(",");
  const value = readFast(joined.text) ?? await (await exactYaml()).readExactly(joined);
  if (value === null) {
    throw new LoadError(`${what} '${name}' is empty`, [], NEEDS[what]);
  }
  let positions: Promise<Positions> | undefined;
  const findPositions = async () => (await exactYaml()).findPositions(joined, value);
  return { name, files, value, positions: () => positions ??= findPositions() };
}

/** Brings the parser that knows all and takes longer, which most runs never need. */
function exactYaml(): Promise<typeof import("./exact_yaml.ts")> {
  return import("./exact_yaml.ts");
}

/** The value as @std/yaml reads it; undefined for all that js-yaml has to look at. */
function readFast(text: string): unknown {
  if (MISREAD.test(text)) return undefined;
  try {
    return parse(text, { schema: "core" });
  } catch {
    // js-yaml knows better where and why, and it reads the little that only this parser refuses.
    return undefined;
  }
}
