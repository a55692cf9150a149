/**
 * How an installed program is started. It needs no configuration, and takes none from the directory
 * that a user is in; Deno would offer upgrades of itself.
 */
const OPTIONS = "run --allow-all --no-config --no-lock";

/** A script for `sh` that starts a program by the Deno at a path. */
export function shLauncher(deno: string, entry: string): string {
  const quote = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;
  return `#!/bin/sh
DENO_NO_UPDATE_CHECK=1 exec ${quote(deno)} ${OPTIONS} ${quote(entry)} "$@"
`;
}

/** The same for `cmd.exe` and PowerShell. */
export function cmdLauncher(deno: string, entry: string): string {
  const quote = (path: string) => `"${path.replaceAll("%", "%%")}"`;
  return [
    "@setlocal",
    "@set DENO_NO_UPDATE_CHECK=1",
    `@${quote(deno)} ${OPTIONS} ${quote(entry)} %*`,
    "",
  ].join("\r\n");
}
