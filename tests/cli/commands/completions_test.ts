import { assert, assertEquals, assertMatch } from "@std/assert";
import { BUILT, theProgram } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const SHELLS = ["bash", "zsh", "fish", "powershell", "nushell"];

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runMain(["completions", shell]);
  assertEquals([code, stderr], [0, ""]);
  return stdout;
}

/** Prints the words that bash would offer for the last one; bash has split the line. */
const DRIVER = `
set -u
source ./script
runner() { HOME="$REAL_HOME" PROGRAM "$@"; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_runner
[ "\${#COMPREPLY[@]}" = 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"
`;

const FILES = {
  "a.yml": "vars: { limit: 1 }\njobs: [{ name: An order, id: order }, { id: orders }, " +
    "{ name: Two words }]\n",
  "b.yaml": "",
  "api.json": "",
  "notes.txt": "",
  "two words.yml": "",
  "sub/c.yml": "",
  "subway/d.txt": "",
};

Deno.test("bash asks the program", async () => {
  const [program, args] = theProgram();
  const words = [program, ...args].map((word) => `'${word}'`).join(" ");
  const files = {
    ...FILES,
    script: await script("bash"),
    driver: DRIVER.replace("PROGRAM", () => words),
  };
  const line = ["runner", "a.yml", "--output", "=", "s"];
  await withFiles(files, async (cwd) => {
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["--norc", "driver", ...line],
      cwd,
      env: { HOME: cwd, REAL_HOME: Deno.env.get("HOME") ?? "" },
    }).output();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    assertEquals([code, decode(stderr), decode(stdout)], [0, "", "spinner\nstream\n"]);
  });
});

Deno.test("commands, options, choices and files are completed, as bash splits words", async (test) => {
  const documents = ["a.yml", "api.json", "b.yaml", "sub/", "subway/", "two\\ words.yml"];
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
    [["--report-dir", "s"], ["sub/", "subway/"]],
    [["dag", ""], documents],
    [["dag", "s"], ["sub/", "subway/"]],
    [["dag", "sub/"], ["sub/c.yml"]],
    [["dag", "subway/"], []],
    [["dag", "a.yml,su"], ["a.yml,sub/", "a.yml,subway/"]],
    [["dag", "a.yml,sub/c.yml,b"], ["a.yml,sub/c.yml,b.yaml"]],
    [["dag", "a.yml", ""], documents],
    [["dag", "two\\ w"], ["two\\ words.yml"]],
    [["dag", '"two w'], ["two words.yml"]],
    [["dag", "~/su"], ["~/sub/", "~/subway/"]],
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
  await withFiles(FILES, async (cwd) => {
    for (const [args, offered] of table) {
      await test.step(args.join(" "), async () => {
        const { code, stdout, stderr } = await runMain(["__complete", "bash", ...args], {
          cwd,
          env: { HOME: cwd },
        });
        assertEquals([code, stderr], [0, ""]);
        const lines = stdout.split("\n").filter((line) => line !== "").sort();
        if (typeof offered === "function") assert(offered(lines), lines.join(" "));
        else assertEquals(lines, offered.toSorted());
      });
    }
  });
});

Deno.test("the program finds what is in files and pages, and never fails", async () => {
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
    const offered = async (...args: string[]) => {
      const { code, stdout, stderr } = await runMain(["__complete", ...args], { cwd });
      assertEquals([code, stderr], [0, ""], args.join(" "));
      return stdout;
    };
    assertEquals(await offered("zsh", "shop.yml", "--only", ""), "Lint\t\norder\tAn order\n");
    assertEquals(await offered("fish", "-q", "shop.yml", "--tags", ""), "smoke\t\nslow\t\n");
    assertEquals(
      await offered("nushell", "more.yml", "shop.yml", "--var", ""),
      "page=\t\nlimit=\t\nbase=\t\n",
    );
    assertEquals(await offered("zsh", "shop.yml,more.yml", "--var", ""), "page=\t\n");
    assertEquals(await offered("powershell", "shop.yml", "--only", ".o"), "order\tAn order\n");
    assertEquals(await offered("powershell", "sh", "--only", "."), "");
    for (const args of [["zsh", "broken.yml", "none.yml", "--only", ""], ["odd"], []]) {
      assertMatch(await offered(...args), /^(?!Error)/);
    }
    assertMatch(await offered("fish", "help", ""), /^check\t.*/m);
    if (!BUILT) assertMatch(await offered("fish", "help", "sign"), /^sign-in\tSign in\n/m);
  });
});

Deno.test("every command and every option of the help is offered", async () => {
  const help = async (...args: string[]) => (await runMain([...args, "--help"])).stdout;
  const offered = async (...args: string[]) =>
    new Set(
      (await runMain(["__complete", "fish", ...args])).stdout.split("\n")
        .map((line) => line.split("\t")[0]),
    );
  const top = await help();
  const [, listed = ""] = /^Commands:\n(.*?)\n\n/ms.exec(top) ?? [];
  const commands = [...listed.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!);
  assert(commands.length >= 3);
  const words = await offered("");
  for (const command of ["", ...commands]) {
    if (command !== "") assert(words.has(command), command);
    const line = command === "" ? [] : [command];
    const options = await offered(...line, "-");
    for (const [, name] of (await help(...line)).matchAll(/^ {2}(?:-\w, | {4})(--[\w-]+)/gm)) {
      assert(options.has(name), `${command} ${name}`);
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
