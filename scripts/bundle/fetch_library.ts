import { RunnerError } from "../../src/base/errors.ts";

/**
 * Imports a library from npm, by a specifier like `name@1.2.3`. The one file calls it in place of
 * `import("name")`. Throws a RunnerError that names the library and what needs it.
 */
export async function fetchLibrary(specifier: string, purpose: string): Promise<unknown> {
  // A variable, because Deno fetches literal specifiers before the program starts.
  const url = `npm:${specifier}`;
  try {
    return await import(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    throw new RunnerError(
      `${purpose} needs the npm package "${specifier}", which cannot be loaded: ${reason}`,
      isBroken(error)
        ? "use the binary, which contains it"
        : "make an npm registry reachable (NPM_CONFIG_REGISTRY), or use the binary, which contains it",
    );
  }
}

/** Whether the package was found, but not what it imports. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND";
}
