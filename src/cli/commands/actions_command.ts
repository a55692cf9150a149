import { ACTIONS } from "../../actions/registry.ts";
import { checkChoice } from "../command_line.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import type { Host } from "../../host/host.ts";
import { loadDocuments } from "../help/documents.ts";
import { layoutOf } from "../help/layout.ts";
import { findPages, listPages } from "../help/pages.ts";
import { renderPage } from "../help/render_page.ts";

/** Prints what steps can do, or the page of one action. */
export async function actionsCommand(
  { operands: [name], switches }: Invocation,
  { host }: Program,
): Promise<ExitCode> {
  const layout = await layoutOf(host, switches.has("no-color"));
  if (name !== undefined) {
    const names = ACTIONS.map(({ name }) => name);
    checkChoice("<action>", name, names);
    const pages = listPages(await loadDocuments(host.files));
    const [page] = findPages(pages, `reference/actions/${name.replaceAll("_", "-")}`).named;
    host.stdout.write(renderPage(page!.text, layout));
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
