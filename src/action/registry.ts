import type { Action } from "./action.ts";
import { echo } from "./echo.ts";
import { hello } from "./hello.ts";
import { http } from "./http/http.ts";
import { shell } from "./shell/shell.ts";

/** Everything that a step can do. */
export const ACTIONS: readonly Action[] = [hello, http, shell, echo];

/** Names of actions that workflows for similar programs use and that do not exist here yet. */
export const REFERENCE_ACTIONS: readonly string[] = [
  "db",
  "grpc",
  "smtp",
  "imap",
  "ssh",
  "browser",
  "embedded",
  "mail-latency",
];

/** The action of that name, as a step's `uses` gives it. */
export function findAction(name: string): Action | undefined {
  return ACTIONS.find((action) => action.name === name);
}
