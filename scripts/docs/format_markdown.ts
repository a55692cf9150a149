/** A text formatted by `deno fmt`, which also aligns tables. */
export async function formatMarkdown(text: string, cwd: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", "--ext", "md", "-"],
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout } = await child.output();
  if (!success) throw new Error("deno fmt cannot format a reference page");
  return new TextDecoder().decode(stdout);
}
