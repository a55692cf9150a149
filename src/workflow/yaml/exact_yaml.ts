import { loadJsYaml } from "./js_yaml.ts";
import type { Positions } from "../model.ts";
import { parseExactly, type YamlFault } from "./parse_exactly.ts";
import { makePositions } from "./positions.ts";
import { type JoinedText, joinFiles } from "../read_files.ts";
import { unjoinableError } from "./unjoinable_error.ts";
import { faultError } from "./yaml_fault.ts";
import { parseNodes } from "./yaml_nodes.ts";

/** The value as js-yaml reads it. Throws LoadError with the place of what is wrong. */
export async function readExactly(joined: JoinedText): Promise<unknown> {
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
  throw unjoinableError(broken.files, yaml) ?? faultError(fault, broken);
}

/** Where the values of a text stand. */
export async function findPositions(joined: JoinedText, value: unknown): Promise<Positions> {
  const yaml = await loadJsYaml();
  try {
    return makePositions(joined, parseNodes(joined.text, yaml), value);
  } catch (error) {
    if (!(error instanceof yaml.YAMLException)) throw error;
    // The fast parser read what js-yaml refuses: then there are no places but the files.
    const fault = { reason: error.reason, offset: error.mark?.position ?? 0 };
    return { ...makePositions(joined, undefined, value), fault: faultError(fault, joined) };
  }
}
