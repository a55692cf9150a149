import { fromFileUrl } from "@std/path/from-file-url";
import { openShop } from "../demo_server.ts";

/** The directory of the checkout. */
export const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url));

/** Where the shop is in the workflows of pictures and in what they show. */
const SHOWN_SHOP = "http://127.0.0.1:8080";

/** A run that a picture shows. */
export interface ShownRun {
  /** The name of the workflow in the picture, and what it contains. */
  readonly file: string;
  readonly text: string;
  /** The arguments before the file. */
  readonly args?: readonly string[];
  readonly code: 0 | 1;
}

/** What a run of the program prints, in colour: the same text whenever it runs. */
export async function runForPicture({ file, text, args = [], code }: ShownRun): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "runner_picture_" });
  const shop = openShop();
  try {
    await Deno.writeTextFile(`${directory}/${file}`, text.replaceAll(SHOWN_SHOP, shop.url));
    const result = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", `${CHECKOUT}cli.ts`, ...args, file],
      cwd: directory,
      env: {
        SHOP_PASSWORD: shop.password,
        FORCE_COLOR: "1",
        // The same as on the machine of somebody who reads it.
        ...{ CI: "", GITHUB_ACTIONS: "", GITLAB_CI: "" },
        LC_ALL: "C.UTF-8",
        RUNNER_OUTPUT: "spinner",
      },
    }).output();
    const [printed, errors] = [result.stdout, result.stderr].map((bytes) =>
      new TextDecoder().decode(bytes)
    );
    if (result.code !== code) throw new Error(`${file} exits with ${result.code}: ${printed}`);
    const command = ["runner", ...args, file].join(" ");
    return `$ ${command}\n\n${steady((printed! + errors).replaceAll(shop.url, SHOWN_SHOP).trim())}`;
  } finally {
    await shop.close();
    await Deno.remove(directory, { recursive: true });
  }
}

/** The first workflow of the README. */
export async function readFirstWorkflow(): Promise<string> {
  const readme = await Deno.readTextFile(`${CHECKOUT}README.md`);
  const [, workflow] = /^```yaml\n(.*?)^```/ms.exec(readme) ?? [];
  if (workflow === undefined) throw new Error("README.md has no workflow");
  return workflow;
}

/** Replaces the times, which differ in each run; a slow step shows its own, and a fast one none. */
function steady(output: string): string {
  return output
    // deno-lint-ignore no-control-regex
    .replace(/\x1b\[2m \([\d.]+m?s\)\x1b\[22m/g, "")
    // deno-lint-ignore no-control-regex
    .replace(/(?<=\x1b\[22m \x1b\[2m)[\d.]+m?s/g, "120ms")
    // deno-lint-ignore no-control-regex
    .replace(/(?<=Time {7}\x1b\[22m)[\d.]+m?s/g, "240ms")
    .replace(/looked for in \S+\/\.runner\/plugins/g, "looked for in ~/.runner/plugins");
}
