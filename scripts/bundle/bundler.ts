import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import config from "../../deno.json" with { type: "json" };

/** The folder of the checkout, without a slash at its end. */
export const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url)).replace(/[/\\]$/, "");

/** The import map of the checkout. */
export const IMPORTS: Readonly<Record<string, string>> = config.imports;

/** How a bundle differs from the plain one of its entry. */
export interface BundleOptions {
  /** `deno bundle` options: where the output goes, and in what form. */
  readonly output: readonly string[];
  /** Files that stand in the place of modules: by bare name, or by path in the checkout. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** Bundles a file, minified; `work` is a folder for what only this needs. Throws where it fails. */
export async function bundle(entry: string, work: string, options: BundleOptions): Promise<void> {
  const urlOf = (name: string) =>
    name.endsWith(".ts") ? toFileUrl(`${CHECKOUT}/${name}`).href : name;
  const instead = Object.entries(options.instead ?? {})
    .map(([name, path]) => [urlOf(name), toFileUrl(path).href]);
  const map = `${work}/import_map.json`;
  const imports = { ...IMPORTS, ...Object.fromEntries(instead) };
  await Deno.writeTextFile(map, JSON.stringify({ imports }));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--minify", "--frozen", "--import-map", map],
      ...options.output,
      entry,
    ],
    cwd: CHECKOUT,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`cannot bundle ${entry}\n${new TextDecoder().decode(stderr)}`);
}
