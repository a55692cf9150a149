import { type CliOptions, type CliResult, startCli } from "./run_cli.ts";
import { withFiles } from "../temp_dir.ts";
import { withServer } from "../servers/with_server.ts";

/**
 * Runs a workflow in which `{url}` is the address of a server. The server answers when the program
 * has printed `wanted` to stderr, so that a step can wait for that.
 */
export async function runUntilPrinted(
  wanted: string,
  workflow: string,
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<CliResult> {
  const printed = Promise.withResolvers<void>();
  await using server = withServer(async () => {
    await printed.promise;
    return new Response("printed");
  });
  const yaml = workflow.replaceAll("{url}", server.url);
  return await withFiles({ "w.yml": yaml }, async (cwd) => {
    const child = startCli([...args, "w.yml"], { cwd, ...options });
    const stdout = new Response(child.stdout).text();
    let stderr = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      stderr += text;
      if (stderr.includes(wanted)) printed.resolve();
    }
    printed.resolve();
    return { code: (await child.status).code, stdout: await stdout, stderr };
  });
}
