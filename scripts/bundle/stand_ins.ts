import { toFileUrl } from "@std/path/to-file-url";
import { bundle, CHECKOUT, IMPORTS } from "./bundler.ts";
import { packModule } from "./pack_module.ts";
import { BUILT_IN, FETCHED, PACKED } from "./parts.ts";

/**
 * Writes a file for each part that does not go into the one file as it stands; by the names of the
 * modules in whose places they stand.
 */
export async function writeStandIns(work: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const write = async (name: string, text: string) => {
    const path = `${work}/stand_in_${Object.keys(files).length}.ts`;
    await Deno.writeTextFile(path, text);
    files[name] = path;
  };
  for (const name of BUILT_IN) {
    const expression = `globalThis.process.getBuiltinModule(${JSON.stringify(name)})`;
    await write(name, exportsOf(await namesOf(name), expression));
  }
  for (const name of PACKED) {
    const names = await namesOf(name);
    const packed = packModule(await bundlePackage(name, names, work));
    await write(name, helped("unpackModule", "unpack_module.ts", [JSON.stringify(packed)], names));
  }
  for (const [name, purpose] of Object.entries(FETCHED)) {
    const given = [exactSpecifier(name), purpose].map((text) => JSON.stringify(text));
    await write(name, helped("fetchPackage", "fetch_package.ts", given, await namesOf(name)));
  }
  return files;
}

/** What a module exports. */
async function namesOf(name: string): Promise<string[]> {
  return Object.keys(await import(name)).sort();
}

/** A module that gets its exports from a helper. */
function helped(
  helper: string,
  file: string,
  given: readonly string[],
  names: readonly string[],
): string {
  const url = JSON.stringify(toFileUrl(`${CHECKOUT}/scripts/bundle/${file}`).href);
  const call = `await ${helper}(${given.join(", ")})`;
  return `import { ${helper} } from ${url};\n${exportsOf(names, call)}`;
}

/** A module that exports names of what an expression gives. */
function exportsOf(names: readonly string[], expression: string): string {
  const own = names.filter((name) => name !== "default" && name !== "module.exports");
  const fallback = names.includes("default") ? "export default all.default;\n" : "";
  return `const all = ${expression};\nexport const { ${own.join(", ")} } = all;\n${fallback}`;
}

/** The code of a package, all by itself. */
async function bundlePackage(
  name: string,
  names: readonly string[],
  work: string,
): Promise<string> {
  const [entry, output] = [`${work}/package.ts`, `${work}/package.js`];
  await Deno.writeTextFile(entry, `export { ${names.join(", ")} } from ${JSON.stringify(name)};\n`);
  await bundle(entry, work, { output: ["--output", output] });
  return await Deno.readTextFile(output);
}

/** `name@1.2.3`, as deno.json has it. */
function exactSpecifier(name: string): string {
  const specifier = IMPORTS[name]?.replace(/^npm:/, "");
  if (!specifier || !/@\d+\.\d+\.\d+$/.test(specifier)) {
    throw new Error(`deno.json has no exact version of "${name}"`);
  }
  return specifier;
}
