/** The command line of a task of deno.json, through npx if that started this process. */
export function theTask(name: string): string {
  const deno = Deno.env.get("npm_command") === "exec"
    ? `npx --yes deno@${Deno.version.deno}`
    : "deno";
  return `${deno} task ${name}`;
}
