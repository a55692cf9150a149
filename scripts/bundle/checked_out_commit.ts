import { CHECKOUT } from "./bundler.ts";

/** The commit that is checked out; `unknown` outside of git. Says if the files differ from it. */
export async function checkedOutCommit(): Promise<string> {
  const git = async (...args: string[]) => {
    try {
      const { stdout } = await new Deno.Command("git", { args, cwd: CHECKOUT }).output();
      return new TextDecoder().decode(stdout).trim();
    } catch {
      return "";
    }
  };
  if (await git("status", "--porcelain") !== "") {
    // deno-lint-ignore no-console
    console.error("the work tree has changes without a commit");
  }
  return await git("rev-parse", "HEAD") || "unknown";
}
