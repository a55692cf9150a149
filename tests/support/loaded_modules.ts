import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url).href;

/** What a run of the program loads, according to Deno's log: our modules by their paths in src, and packages. */
export async function loadedModules(
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly modules: readonly string[]; readonly packages: readonly string[] }> {
  const { stdout, stderr, signal } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--log-level=debug", `${ROOT}cli.ts`, ...args],
    cwd,
    env: { GITHUB_ACTIONS: "" },
  }).output();
  assertEquals(signal, null);
  const log = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  const modules = [...log.matchAll(/fetch_no_follow - specifier: (file:\S+)/g)]
    .map(([, path]) => path!.replace(`${ROOT}src/`, ""));
  assert(modules.length > 50, log);
  const packages = [...log.matchAll(/\/npm\/registry\.npmjs\.org\/((?:@[\w-]+\/)?[\w.-]+)\/\d/g)]
    .map(([, name]) => name!);
  return { modules: [...new Set(modules)].sort(), packages: [...new Set(packages)].sort() };
}
