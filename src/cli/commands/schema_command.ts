import { ACTIONS } from "../../actions/registry.ts";
import { makeSchema } from "../../schema/make_schema.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";

/** Prints the JSON Schema of the file format. */
export async function schemaCommand(
  { switches }: Invocation,
  { host }: Program,
): Promise<ExitCode> {
  const actions = await Promise.all(ACTIONS.map(({ load }) => load()));
  const schema = makeSchema(
    actions,
    switches.has("suite") ? "suite" : switches.has("job") ? "job" : "workflow",
  );
  host.stdout.write(JSON.stringify(schema, null, 2) + "\n");
  return 0;
}
