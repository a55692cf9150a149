import { demand } from "./deno_permissions.ts";

interface CommandOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const [SHELL, ...OPTIONS] = Deno.build.os === "windows"
  ? ["cmd.exe", "/d", "/s", "/c"] as const
  : ["/bin/sh", "-c"] as const;

/** Runs a command in a shell, on the terminal of the program, and reads what it prints. */
export async function readCommand(command: string, cwd: string): Promise<CommandOutput> {
  demand({ name: "run", command: SHELL });
  const { code, stdout, stderr } = await new Deno.Command(SHELL, {
    args: [...OPTIONS, command],
    cwd,
    stdin: "inherit",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}
