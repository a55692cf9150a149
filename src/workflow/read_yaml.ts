import { parse } from "@std/yaml";
import { LoadError } from "../source/errors.ts";
import type { Source } from "../source/source.ts";
import { type JoinedText, joinFiles } from "./join_files.ts";
import { loadJsYaml } from "./js_yaml.ts";
import type { Document, Places } from "./model.ts";
import { parseExactly, type YamlFault } from "./parse_exactly.ts";
import { makePlaces } from "./places.ts";
import { faultError } from "./yaml_fault.ts";
import { parseNodes } from "./yaml_nodes.ts";

/**
 * What the fast parser reads wrongly without a word: a tab in an indentation, merge keys,
 * integers that a number cannot hold, and `0o17`. When it is mended, this can go.
 */
const MISREAD = /^ *\t|<<\s*:|\d[\d_]{15}|\b0x[\da-fA-F_]{14}|\b0o[0-7]/m;

/** Reads files as one YAML document. Throws LoadError where they are none. */
export async function readYaml(files: readonly Source[]): Promise<Document> {
  const joined = joinFiles(files);
  const name = files.map((file) => file.name).join(",");
  const value = readFast(joined.text) ?? await readExactly(joined);
  if (value === null) {
    const message = `workflow file '${name}' is empty`;
    throw new LoadError(message, [], 'a workflow needs at least "name" and "jobs"');
  }
  let places: Promise<Places> | undefined;
  return { name, files, value, places: () => places ??= findPlaces(joined, value) };
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

async function readExactly(joined: JoinedText): Promise<unknown> {
  const yaml = await loadJsYaml();
  const result = parseExactly(joined, yaml);
  if ("value" in result) return result.value;
  // The first file that is wrong is the one at fault, even if the error shows in a later one.
  let [fault, broken]: [YamlFault, JoinedText] = [result.fault, joined];
  for (let count = 1; count < joined.files.length; count++) {
    const part = joinFiles(joined.files.slice(0, count));
    const earlier = parseExactly(part, yaml);
    if ("value" in earlier) continue;
    [fault, broken] = [earlier.fault, part];
    break;
  }
  throw faultError(fault, broken);
}

async function findPlaces(joined: JoinedText, value: unknown): Promise<Places> {
  const yaml = await loadJsYaml();
  try {
    return makePlaces(joined, parseNodes(joined.text, yaml), value);
  } catch (error) {
    // The fast parser may have read what js-yaml refuses: then there are no places but the files.
    if (error instanceof yaml.YAMLException) return makePlaces(joined, undefined, value);
    throw error;
  }
}
