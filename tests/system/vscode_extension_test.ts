import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { CHECKOUT } from "../support/documents.ts";

Deno.test("the extension of VS Code is tested, also in the editor, and built as a file to install", async () => {
  const directory = await Deno.makeTempDir({ prefix: "runner_test_vscode_" });
  const extension = join(directory, "editors", "vscode");
  try {
    await copyDirectory(join(CHECKOUT, "editors"), join(directory, "editors"));
    await copyDirectory(join(CHECKOUT, "examples"), join(directory, "examples"));
    await npm(extension, "ci", "--ignore-scripts", "--no-audit", "--no-fund");
    await npm(extension, "test");
    await npm(extension, "run", "test:vscode");
    const file = await Deno.readFile(join(extension, "dist", "runner-workflows.vsix"));
    assertEquals(new TextDecoder().decode(file.subarray(0, 2)), "PK");
    assert(file.length > 50_000, `${file.length} bytes`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

async function copyDirectory(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (["node_modules", "dist", ".vscode-test"].includes(name)) continue;
    if (isDirectory) await copyDirectory(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

async function npm(cwd: string, ...args: string[]): Promise<void> {
  const env = { RUNNER: JSON.stringify([Deno.execPath(), "run", "-A", join(CHECKOUT, "cli.ts")]) };
  const { code, stdout, stderr } = await new Deno.Command("npm", { args, cwd, env }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assertEquals(code, 0, `npm ${args.join(" ")}\n${decode(stdout)}${decode(stderr)}`);
}
