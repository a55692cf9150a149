import { fromFileUrl } from "@std/path/from-file-url";

/** A server from tests/tools, in a process of its own. */
export interface ToolServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts a script in a directory of tests/tools; it prints its URL and ends when its input ends. */
export async function startTool(script: string, args: readonly string[] = []): Promise<ToolServer> {
  const [directory = ""] = script.split("/");
  const cwd = fromFileUrl(new URL(`../../tools/${directory}/`, import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", script.slice(directory.length + 1), ...args],
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`${script} ended without a URL`);
    text += value;
  }
  return {
    url: text.trim(),
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
    },
  };
}
