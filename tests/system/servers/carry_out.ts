/** Runs a program of the system. Throws with what it printed if it fails. */
export async function carryOut(program: string, ...args: string[]): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd: "/" }).output();
  if (success) return;
  const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  throw new Error(`${program} failed: ${said}`);
}
