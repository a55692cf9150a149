import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runCli } from "./support/run_cli.ts";
import { withFiles } from "./support/temp_dir.ts";

const README = await Deno.readTextFile(fromFileUrl(new URL("../README.md", import.meta.url)));

/** The blocks of a language, in their order. */
function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))]
    .map(([, text]) => text!);
}

const steady = (text: string) => text.replace(/\d+\.\d\ds/g, "0.00s").trim();

Deno.test("the first workflow of the README prints what stands there", async () => {
  const [hello = ""] = blocks("yaml");
  const [printed = ""] = blocks("text");
  await withFiles({ "hello.yml": hello }, async (cwd) => {
    const { code, stdout } = await runCli(["hello.yml"], { cwd });
    assertEquals([code, steady(stdout)], [0, steady(printed)]);
  });
});

Deno.test("the workflow full of mistakes in the README is told of as it stands there", async () => {
  const bad = blocks("yaml")[1] ?? "";
  const printed = blocks("text")[2] ?? "";
  await withFiles({ "bad.yml": bad }, async (cwd) => {
    const { code, stderr } = await runCli(["bad.yml"], { cwd });
    assertEquals([code, stderr.trim()], [1, printed.trim()]);
  });
});
