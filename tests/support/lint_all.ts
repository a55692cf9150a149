import { fromFileUrl } from "@std/path/from-file-url";

const FOLDER = fromFileUrl(new URL("../tools/linters/", import.meta.url));

/**
 * What linters of others find wrong with texts, by the paths of these: workflows of GitHub,
 * `action.yml` and `Dockerfile`. They run in a process of their own, whose packages are none of the
 * program's, and as one file, since GitHub's imports JSON in a way that only bundlers understand.
 * A path names one text for good, because it remembers what it has read.
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
      cwd: FOLDER,
    }).output();
    if (!built.success) throw new Error(new TextDecoder().decode(built.stderr));
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-config", script],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const input = new Response(JSON.stringify(texts)).body!.pipeTo(child.stdin);
    const text = await new Response(child.stdout).text();
    await Promise.all([input, child.status]);
    return JSON.parse(text);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}
