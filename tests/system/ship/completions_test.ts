import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runCli, theProgram } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";

const ZSH_DRIVER = fromFileUrl(new URL("../../support/zsh_completions.zsh", import.meta.url));

const FILES = {
  "a.yml": "",
  "b.yaml": "",
  "api.json": "",
  "notes.txt": "",
  "sub/c.yml": "",
  "sub/shop.yml": "name: Shop\nvars: {limit: 5}\ntags: [smoke]\njobs: [{name: lint}, " +
    "{name: An order, id: order}]\n",
};

/** Lines and what completes their last words; directories are written without a slash. */
const TABLE: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ["runner da", ["dag"]],
  ["runner a", ["a.yml", "actions", "api.json"]],
  ["runner s", ["schema", "sub"]],
  ["runner --tim", ["--timing"]],
  ["runner --output ", ["auto", "spinner", "stream"]],
  ["runner --output=s", ["--output=spinner", "--output=stream"]],
  ["runner --output stream da", ["dag"]],
  ["runner dag --mer", ["--mermaid"]],
  ["runner --verbose dag --mer", ["--mermaid"]],
  ["runner a.yml --mer", []],
  ["runner dag ", ["a.yml", "api.json", "b.yaml", "sub"]],
  ["runner dag a.yml,b", ["a.yml,b.yaml"]],
  ["runner completions ", ["bash", "fish", "nushell", "powershell", "zsh"]],
  ["runner --report j", ["json=", "junit="]],
  ["runner sub/shop.yml --only ", ["lint", "order"]],
  ["runner sub/shop.yml --skip=o", ["--skip=order"]],
  ["runner prepare sub/shop.yml --tags s", ["smoke"]],
  ["runner sub/shop.yml --var li", ["limit="]],
  ["runner sub/shop.yml --shuffle --only l", ["lint"]],
  ["runner nothing.yml --only ", []],
  ["runner help sign", ["sign-in"]],
  ["runner --report-dir s", ["sub"]],
];

/** The program for scripts that ask it; Deno has its cache in the real HOME. */
function runnerScript(): string {
  const [program, args] = theProgram();
  const words = [program, ...args].map((word) => `'${word}'`).join(" ");
  return `#!/bin/sh\nHOME='${Deno.env.get("HOME")}' exec ${words} "$@"\n`;
}

async function offeredBy(command: string, args: string[], cwd: string): Promise<string[]> {
  const env = { HOME: cwd, PATH: `${cwd}/.bin:${Deno.env.get("PATH")}` };
  const { stdout } = await new Deno.Command(command, { args, cwd, env }).output();
  const lines = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
  return [...new Set(lines.map((line) => line.replace(/\t.*/, "").replace(/\/$/, "")))].sort();
}

const SHELLS: readonly (readonly [
  shell: string,
  file: string,
  offer: (line: string, cwd: string) => Promise<string[]>,
])[] = [
  [
    "fish",
    "script.fish",
    (line, cwd) =>
      offeredBy("fish", ["-N", "-c", "source script.fish; complete -C $argv[1]", "--", line], cwd),
  ],
  ["zsh", "_runner", (line, cwd) => offeredBy("zsh", ["-f", ZSH_DRIVER, line], cwd)],
];

for (const [shell, file, offer] of SHELLS) {
  Deno.test(`${shell} completes commands, options, choices and files`, async (test) => {
    const { stdout } = await runCli(["completions", shell]);
    const files = { ...FILES, [file]: stdout, ".bin/runner": runnerScript() };
    await withFiles(files, async (cwd) => {
      await Deno.chmod(`${cwd}/.bin/runner`, 0o755);
      for (const [line, offered] of TABLE) {
        await test.step(line, async () => assertEquals(await offer(line, cwd), offered));
      }
    });
  });
}
