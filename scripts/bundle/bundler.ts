import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import config from "../../deno.json" with { type: "json" };

/** The directory of the checkout, without a slash at its end. */
export const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url)).replace(/[/\\]$/, "");

/** The import map of the checkout. */
export const IMPORTS: Readonly<Record<string, string>> = config.imports;

const BUILT_FROM = `${CHECKOUT}/src/cli/built_from.ts`;
const DOCUMENTS = `${CHECKOUT}/src/cli/help/documents.ts`;

/** The inputs of a build. */
export interface Build {
  readonly commit: string;
  /** The module that it has in the place of `src/cli/help/documents.ts`. */
  readonly documents: string;
  /** A directory for temporary files. */
  readonly work: string;
}

/**
 * Bundles files, each minified unless it should be readable, stamped with a commit. `options` say
 * where the output goes and in what form. Throws with what `deno bundle` printed.
 */
export async function bundle(
  entries: readonly string[],
  options: readonly string[],
  { commit, documents, work }: Build,
  form: "minified" | "readable" = "minified",
): Promise<void> {
  const stamp = `${work}/built_from.ts`;
  await Deno.writeTextFile(stamp, `export const BUILT_FROM = ${JSON.stringify(commit)};\n`);
  const map = `${work}/import_map.json`;
  const imports = {
    ...IMPORTS,
    [toFileUrl(BUILT_FROM).href]: toFileUrl(stamp).href,
    [toFileUrl(DOCUMENTS).href]: toFileUrl(documents).href,
  };
  await Deno.writeTextFile(map, JSON.stringify({ imports }));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--frozen", "--import-map", map],
      ...form === "minified" ? ["--minify"] : [],
      // Parts in machine code that packages can do without.
      "--external=*.node",
      ...options,
      ...entries,
    ],
    cwd: CHECKOUT,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    throw new Error(`cannot bundle ${entries.join(", ")}\n${new TextDecoder().decode(stderr)}`);
  }
}
