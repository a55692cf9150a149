import { assert, assertEquals, assertMatch } from "@std/assert";
import { BUILT } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const SHELLS = ["bash", "zsh", "fish", "powershell", "nushell"];

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runMain(["completions", shell]);
  assertEquals([code, stderr], [0, ""]);
  return stdout;
}

/** Words that bash would offer; `line` is split as bash splits it, and the last word is completed. */
const DRIVER = `
set -u
source ./script
runner() {
  case "$*" in
    "__values jobs "*"a.yml"*) printf 'order\\tAn order\\norders\\t\\nTwo words\\t\\n' ;;
    "__values vars "*"a.yml"*) printf 'limit=\\t\\n' ;;
    *) echo "$*" >&2; return 1 ;;
  esac
}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_runner
[ "\${#COMPREPLY[@]}" = 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"
`;

const FILES = {
  "a.yml": "",
  "b.yaml": "",
  "api.json": "",
  "notes.txt": "",
  "two words.yml": "",
  "sub/c.yml": "",
  "subway/d.txt": "",
};

Deno.test("bash completes commands, options, choices and files", async (test) => {
  const files = { ...FILES, script: await script("bash"), driver: DRIVER };
  const documents = ["a.yml", "api.json", "b.yaml", "sub", "subway", "two words.yml"];
  const commands = ["completions", "dag", "schema"];
  const table: [args: string[], offered: string[] | ((offered: string[]) => boolean)][] = [
    [[""], (all) => [...commands, ...documents].every((word) => all.includes(word))],
    [["da"], ["dag"]],
    [["sch"], ["schema"]],
    [["completions", ""], SHELLS],
    [["completions", "z"], ["zsh"]],
    [["completions", "zsh", ""], []],
    [["actions", "d"], ["db", "dns"]],
    [["schema", ""], []],
    [["schema", "--j"], ["--job"]],
    [["--out"], ["--output", "--outputs"]],
    [["-"], (all) => ["-v", "--verbose", "--help", "-h"].every((word) => all.includes(word))],
    [["dag", "--mer"], ["--mermaid"]],
    [["a.yml", "--mer"], []],
    [["--verbose", "dag", "--mer"], ["--mermaid"]],
    [["--output", "s"], ["spinner", "stream"]],
    [["--output", "stream", "da"], ["dag"]],
    [["--output", "="], ["auto", "spinner", "stream"]],
    [["--output", "=", "sp"], ["spinner"]],
    [["--output=sp"], ["--output=spinner"]],
    [["--output="], ["--output=auto", "--output=spinner", "--output=stream"]],
    [["--output", "=", "stream", "da"], ["dag"]],
    [["--report", "junit", "=", "x", "da"], ["dag"]],
    [["--report-dir", "s"], ["sub", "subway"]],
    [["dag", ""], documents],
    [["dag", "s"], ["sub", "subway"]],
    [["dag", "sub/"], ["sub/c.yml"]],
    [["dag", "subway/"], []],
    [["dag", "a.yml,su"], ["a.yml,sub/", "a.yml,subway/"]],
    [["dag", "a.yml,sub/c.yml,b"], ["a.yml,sub/c.yml,b.yaml"]],
    [["dag", "a.yml", ""], documents],
    [["dag", "two\\ w"], ["two words.yml"]],
    [["dag", '"two w'], ["two words.yml"]],
    [["dag", "~/su"], ["~/sub", "~/subway"]],
    [["--", "--"], []],
    [["--", ""], (all) => all.includes("a.yml")],
    [["nothing.yml", ""], documents],
    [["--report", "j"], ["json=", "junit="]],
    [["a.yml", "--skip", ""], ["Two\\ words", "order", "orders"]],
    [["a.yml", "--only", '"Two'], ["Two words"]],
    [["a.yml", "--only", "=", "orders"], ["orders"]],
    [["a.yml", "--only=Tw"], ["--only=Two\\ words"]],
    [["prepare", "a.yml", "--var", "li"], ["limit="]],
    [["--shuffle", "a.yml", "--only", "o"], ["order", "orders"]],
    [["--only", ""], []],
  ];
  await withFiles(files, async (cwd) => {
    for (const [args, offered] of table) {
      await test.step(args.join(" "), async () => {
        const { code, stdout, stderr } = await new Deno.Command("bash", {
          args: ["--norc", "driver", "runner", ...args],
          cwd,
          env: { HOME: cwd },
        }).output();
        const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
        assertEquals([code, decode(stderr)], [0, ""]);
        const lines = decode(stdout).split("\n").filter((line) => line !== "").sort();
        if (typeof offered === "function") assert(offered(lines), lines.join(" "));
        else assertEquals(lines, offered.toSorted());
      });
    }
  });
});

Deno.test("a script asks the program for what is in files and pages, which never fails", async () => {
  const workflow = [
    "name: Shop",
    "vars: { limit: 5, base: x }",
    "tags: [smoke]",
    "jobs:",
    "  - { name: Lint, steps: [] }",
    "  - { name: An order, id: order, tags: [slow, smoke] }",
    '  - { name: "\\e[31m" }',
  ].join("\n");
  const files = { "shop.yml": workflow, "more.yml": "vars: { page: 1 }", "broken.yml": "a: [" };
  await withFiles(files, async (cwd) => {
    const values = async (...args: string[]) => {
      const { code, stdout, stderr } = await runMain(["__values", ...args], { cwd });
      assertEquals([code, stderr], [0, ""], args.join(" "));
      return stdout;
    };
    assertEquals(await values("jobs", "--only", "", "shop.yml"), "Lint\t\norder\tAn order\n");
    assertEquals(await values("tags", "-q", "shop.yml"), "smoke\t\nslow\t\n");
    assertEquals(await values("vars", "more.yml", "shop.yml"), "page=\t\nlimit=\t\nbase=\t\n");
    assertEquals(await values("vars", "shop.yml,more.yml"), "page=\t\n");
    for (const args of [["jobs"], ["jobs", "broken.yml", "none.yml"], ["constructor"], []]) {
      assertEquals(await values(...args), "");
    }
    assertMatch(await values("topics"), /^check\t.*/m);
    if (!BUILT) assertMatch(await values("topics"), /^sign-in\tSign in\n/m);
  });
});

Deno.test("every script names every command and every option of the help", async () => {
  const help = async (...args: string[]) => (await runMain([...args, "--help"])).stdout;
  const top = await help();
  const [, listed = ""] = /^Commands:\n(.*?)\n\n/ms.exec(top) ?? [];
  const commands = [...listed.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!);
  assert(commands.length >= 3);
  const offers = new Set<string>(commands);
  for (const text of [top, ...await Promise.all(commands.map((name) => help(name)))]) {
    for (const [, name] of text.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)/gm)) offers.add(name!);
  }
  assert(offers.size > 10);
  for (const shell of SHELLS) {
    const text = await script(shell);
    for (const word of offers) {
      assertMatch(text, new RegExp(`(?<![\\w-])(--)?${word}(?![\\w-])`), `${shell}: ${word}`);
    }
  }
});

Deno.test("a shell that has no script is an error", async () => {
  const unknown = await runMain(["completions", "bsh"]);
  assertEquals([unknown.code, unknown.stdout], [1, ""]);
  assertEquals(
    unknown.stderr,
    'runner: error: invalid value "bsh" for <shell>\n  did you mean "bash"?\n',
  );
  const missing = await runMain(["completions"]);
  assertEquals([missing.code, missing.stdout], [1, ""]);
  assertMatch(missing.stderr, /^runner: error: <shell> is missing\n {2}one of bash, zsh, /);
});
