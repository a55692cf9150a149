/**
 * Sends JSON to a script and returns its JSON response. It runs in a separate process, in its own
 * directory, so that its packages stay separate from the program's.
 */
export async function askTool<T>(
  cwd: string,
  script: readonly string[],
  question: unknown,
): Promise<T> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", ...script],
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = new Response(JSON.stringify(question)).body!.pipeTo(child.stdin);
  const text = await new Response(child.stdout).text();
  const [{ success }] = await Promise.all([child.status, input]);
  if (!success) throw new Error(`${script.at(-1)} failed in ${cwd}`);
  return JSON.parse(text);
}
