import { join } from "@std/path/join";
import { LoadError } from "../base/errors.ts";
import type { Host } from "../host/host.ts";
import { decodeSuite, type SuiteDocument } from "./decode_suite.ts";
import { readSuite } from "./open_suite.ts";
import { findSuiteFiles } from "./suite_of_file.ts";

/** The directory of the workflow, and as many above it. */
const DIRECTORIES = 4;

/**
 * The nearest suite file, beside a workflow or in a directory above, that lists it and that has
 * what it needs of it.
 */
export async function findSuiteAbove(
  path: string,
  isWanted: (suite: SuiteDocument) => boolean,
  host: Host,
): Promise<string | undefined> {
  const { files } = host;
  const target = await files.realPath(path);
  let directory = join(path, "..");
  for (let left = DIRECTORIES; left > 0; left--) {
    for (const { name } of await files.entries(directory) ?? []) {
      const suite = join(directory, name);
      if (!/\.ya?ml$/i.test(name)) continue;
      const document = await readSuite(suite, host);
      const decoded = document && (await decodeSuite(document, host)).suite;
      if (decoded && isWanted(decoded) && await lists(decoded, suite, target, host)) return suite;
    }
    directory = join(directory, "..");
  }
  return undefined;
}

async function lists(
  suite: SuiteDocument,
  path: string,
  target: string,
  host: Host,
): Promise<boolean> {
  try {
    for (const file of (await findSuiteFiles(suite, path, host)).workflows) {
      if (await host.files.realPath(file) === target) return true;
    }
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
  }
  return false;
}
