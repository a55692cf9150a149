import { wrapWords } from "../../base/text/display_width.ts";
import type { Action, ResponseField } from "../../action/action.ts";
import {
  exampleStep,
  listParameters,
  type NamedParameter,
  sentence,
  typeOfField,
} from "../../workflow/names.ts";
import { ACTIONS } from "../../actions/registry.ts";
import { checkChoice } from "../command_line.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import type { Host } from "../../host/host.ts";
import { type Layout, layoutOf, section } from "../help/layout.ts";

/** Prints what steps can do, or the page of one action. */
export async function actionsCommand(
  { operands: [name], switches }: Invocation,
  { host }: Program,
): Promise<ExitCode> {
  const layout = await layoutOf(host, switches.has("no-color"));
  if (name !== undefined) {
    const names = ACTIONS.map(({ name }) => name);
    checkChoice("<action>", name, names);
    host.stdout.write(renderAction(await ACTIONS[names.indexOf(name)]!.load(), layout));
    return 0;
  }
  const loaded = await Promise.all(ACTIONS.map(async ({ group, load }) => {
    const { name, summary } = await load();
    return { group, name, summary };
  }));
  const column = Math.max(...loaded.map(({ name }) => name.length)) + 4;
  const lines = [...Map.groupBy(loaded, ({ group }) => group)].flatMap(([group, actions]) => [
    "",
    layout.bold(`${group}:`),
    // One line each, however narrow the terminal is, for grep.
    ...actions.map(({ name, summary }) => `  ${name}`.padEnd(column) + summary),
  ]);
  const hint = "runner actions <action> prints an example, the parameters and the fields of res";
  host.stdout.write([...lines.slice(1), ...await listPlugins(host), "", hint].join("\n") + "\n");
  return 0;
}

/** The plugins of this machine; none is loaded. */
async function listPlugins(host: Host): Promise<string[]> {
  const { pluginDirectory, pluginNames } = await import("../../actions/plugin/plugin.ts");
  const directory = pluginDirectory(host);
  // A list of actions needs no permission to read that directory.
  const found = directory && await pluginNames(directory, host).catch(() => undefined);
  const names = [...new Set(found)].sort();
  return names.length === 0 ? [] : ["", `Plugins in ${directory!.path}: ${names.join(", ")}`];
}

/** The page of an action, from the same tables as docs/reference. */
function renderAction(action: Action, layout: Layout): string {
  const { name, summary, parameters, alternatives = [], responseFields, messageFields } = action;
  return [
    `${name} - ${summary}`,
    "",
    layout.bold("Example:"),
    ...exampleStep(action).split("\n").map((line) => `  ${line}`),
    ...parameters
      ? section("Parameters", listParameters(parameters).map(parameterRow), layout)
      : ["", "It takes any parameters."],
    ...alternatives.flatMap(({ names, required }) => [
      "",
      ...wrapWords(
        `Set ${required ? "exactly" : "at most"} one of ${names.join(", ")}.`,
        layout.width,
      ),
    ]),
    ...responseFields ? section("Fields of res", responseFields.map(fieldRow), layout) : [],
    ...messageFields
      ? section("Fields of a message, for receive", messageFields.map(fieldRow), layout)
      : [],
  ].join("\n") + "\n";
}

function fieldRow(field: ResponseField): [string, string] {
  return [field.name, `${sentence(field.summary)} (${typeOfField(field)})`.replaceAll("`", "")];
}

function parameterRow({ name, parameter }: NamedParameter): [string, string] {
  const { type, required, default: standard, values, summary } = parameter;
  const extra = [
    [type].flat().join(" or "),
    ...required ? ["required"] : [],
    ...values ? [`one of ${values.join(", ")}`] : [],
    ...standard === undefined ? [] : [`default: ${standard}`],
  ];
  return [name, `${sentence(summary)} (${extra.join("; ")})`.replaceAll("`", "")];
}
