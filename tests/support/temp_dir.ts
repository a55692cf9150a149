/** Creates a directory with files, passes its path to `use`, and removes it at the end. */
export async function withFiles<T>(
  files: Readonly<Record<string, string | Uint8Array>>,
  use: (directory: string) => T | Promise<T>,
): Promise<T> {
  const directory = await Deno.makeTempDir({ prefix: "runner_test_" });
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = `${directory}/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      if (typeof content === "string") await Deno.writeTextFile(path, content);
      else await Deno.writeFile(path, content);
    }
    return await use(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
