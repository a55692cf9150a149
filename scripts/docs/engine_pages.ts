import { main } from "../../src/cli/main.ts";
import { EXPORTERS } from "../../src/spread/engines/registry.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import type { Output } from "../../src/host/host.ts";
import { makePage, type Page } from "./page.ts";

const PROSE = new URL("./engines/", import.meta.url);

const TITLES: Readonly<Record<string, string>> = {
  github: "GitHub Actions",
  gitlab: "GitLab CI",
  argo: "Argo Workflows",
};

/** A page for each engine, with the file that it is given for the tour. */
export async function makeEnginePages(): Promise<Page[]> {
  return await Promise.all(EXPORTERS.map(async ({ name, needsImage }) => {
    const args = [
      ...["export", name, "examples/demo.yml", "--split", "load=4", "--secret", "SHOP_PASSWORD"],
      ...needsImage ? ["--image", "registry.example.com/runner:0.1.0"] : [],
    ];
    const prose = await Deno.readTextFile(new URL(`${name}.md`, PROSE));
    return makePage(`engines/${name}.md`, "src/spread/engines and scripts/docs/engines", [
      `# ${TITLES[name]}`,
      "",
      `\`runner export ${name}\` writes a file for ${TITLES[name]} that runs the jobs of a ` +
      "workflow on separate machines. " +
      "[Beyond one machine](../../ci/beyond-one-machine.md) explains how it works.",
      "",
      prose.trim(),
      "",
      "## An example",
      "",
      "This is what it writes for `examples/demo.yml`:",
      "",
      "<!-- not run: an engine runs it -->",
      "",
      "```yaml",
      (await exported(args)).trimEnd(),
      "```",
    ]);
  }));
}

/** Runs the program in the checkout and returns its output. */
async function exported(args: readonly string[]): Promise<string> {
  let text = "";
  const host = denoHost();
  const stdout: Output = {
    ...host.stdout,
    write: (part) => {
      text += part;
      return true;
    },
    flush: () => Promise.resolve(true),
  };
  const code = await main(args, { ...host, stdout }, () => {});
  if (code !== 0) throw new Error(`runner ${args.join(" ")} failed`);
  return text;
}
