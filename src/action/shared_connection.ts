import type { ActionScopes, Dict, Parameter } from "./action.ts";
import { readParameters } from "./read_parameters.ts";

/**
 * Parameters of an action that keeps a connection open for the next steps: `what` steps with the
 * same name share, and what one connection is made for by default.
 */
export function sharingParameters(what: string, each: string): readonly Parameter[] {
  return [
    {
      name: "connection",
      type: "string",
      summary: `A name by which all jobs of the run share the ${what}`,
      default: `one for each ${each}`,
    },
    {
      name: "fresh",
      type: "boolean",
      summary: "Whether to open a connection for this step alone",
      default: "false",
    },
  ];
}

/** What `open` returned for that key: for all steps of the job, or as these parameters say. */
export function shareConnection<T>(
  action: string,
  params: Dict,
  { step, job, run }: ActionScopes,
  key: string,
  open: () => T,
  close: (resource: Awaited<T>) => void | Promise<void>,
): T {
  const read = readParameters(action, params);
  const name = read.string("connection");
  const scope = read.boolean("fresh") ? step : name === undefined ? job : run;
  return scope.resource(`${action}:${name ?? ""}:${key}`, open, close);
}
