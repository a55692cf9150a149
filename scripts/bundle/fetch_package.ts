import { RunnerError } from "../../src/source/errors.ts";

/**
 * A package from the registry of npm, by a specifier like `name@1.2.3`. Throws where there is no
 * registry, with what it was needed for.
 */
export async function fetchPackage(
  specifier: string,
  purpose: string,
): Promise<Record<string, unknown>> {
  // Deno fetches what it can read in the text of a program before it starts.
  const url = `npm:${specifier}`;
  try {
    return await import(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    throw new RunnerError(
      `${purpose} needs the package "${specifier}", which cannot be loaded: ${reason}`,
      "try again with a registry in reach (NPM_CONFIG_REGISTRY), or take the binary, which needs none",
    );
  }
}
