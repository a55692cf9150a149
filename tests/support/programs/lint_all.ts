import { fromFileUrl } from "@std/path/from-file-url";
import { askTool } from "./ask_tool.ts";

const DIRECTORY = fromFileUrl(new URL("../../tools/linters/", import.meta.url));

/**
 * The problems that third-party linters find in texts, by path: workflows of GitHub,
 * `action.yml` and `Dockerfile`. They run as one file, since GitHub's imports JSON in a way that only
 * bundlers understand.
 * A path must always name the same text, because results are cached.
 */
export async function lintAll(
  texts: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const work = await Deno.makeTempDir({ prefix: "runner_test_" });
  try {
    const script = `${work}/lint.js`;
    const options = ["--quiet", "--frozen", "--config", "deno.json", "--platform", "deno"];
    const built = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", ...options, "--output", script, "lint.ts"],
      cwd: DIRECTORY,
    }).output();
    if (!built.success) throw new Error(new TextDecoder().decode(built.stderr));
    return await askTool(work, ["--no-config", script], texts);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}
