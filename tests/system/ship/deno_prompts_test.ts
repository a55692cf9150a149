import { assertEquals, assertStringIncludes } from "@std/assert";
import { narrowedCommand } from "../../support/run/run_narrowed.ts";
import { shWords } from "../../support/sh_words.ts";
import { withFiles } from "../../support/temp_dir.ts";

const flow = (step: string) => `name: n\njobs: [{name: j, steps: [${step}]}]\n`;

const FILES = {
  "hello.yml": flow("{uses: hello}"),
  "http.yml": flow('{uses: http, with: {get: "https://127.0.0.1:9/"}}'),
  "shell.yml": flow("{uses: shell, with: {cmd: 'exit 3'}, test: res.code == 0}"),
  "background.yml": flow("{uses: shell, with: {cmd: 'sleep 60', background: true}}, {uses: nope}"),
  "embedded.yml": flow("{uses: embedded, with: {path: ../nowhere.yml}}"),
  "plugin.yml": flow("{uses: mine}"),
  "dns.yml": flow('{uses: dns, with: {name: a.test, server: "127.0.0.1:9"}}'),
  "redis.yml": flow('{uses: redis, with: {url: "redis://127.0.0.1:9", command: PING}}'),
  "tcp.yml": flow("{uses: tcp, with: {host: 127.0.0.1, port: 9}}"),
  "tls.yml": flow("{uses: tls, with: {host: 127.0.0.1, port: 9}}"),
};

/** Runs the program in a terminal without answering prompts. */
async function inTerminal(flags: readonly string[], args: readonly string[]) {
  return await withFiles(FILES, async (cwd) => {
    const command = shWords(narrowedCommand(flags, args));
    const { code, stdout } = await new Deno.Command("timeout", {
      args: ["60", "script", "-qec", command, "/dev/null"],
      cwd,
      env: { DENO_NO_UPDATE_CHECK: "1", TERM: "xterm" },
      stdin: "null",
    }).output();
    return { code, screen: new TextDecoder().decode(stdout) };
  });
}

Deno.test("Deno never prompts for a permission in a terminal", async (test) => {
  const read = "--allow-read=.";
  const table: [flags: string[], args: string[], reported: string][] = [
    [[], ["hello.yml"], "does not let it read the environment"],
    [[read], ["hello.yml"], "does not let it read the environment"],
    [["--allow-env"], ["hello.yml"], "does not let it read"],
    [["--allow-env", read], ["hello.yml", "--report=junit=a.xml"], "does not let it write"],
    [["--allow-env", read], ["http.yml"], "does not allow access to 127.0.0.1 port 9"],
    [["--allow-env", read, "--allow-net"], ["http.yml"], "read the certificates of the system"],
    [["--allow-env", read, "--allow-net=127.0.0.1:9", "--allow-sys"], ["http.yml"], "refused the"],
    ...["dns.yml", "redis.yml", "tcp.yml", "tls.yml"].flatMap((flow): typeof table => [
      [["--allow-env", read], [flow], "does not allow access to 127.0.0.1 port 9"],
      [["--allow-env", read, "--allow-net=127.0.0.1:9"], [flow], "refused the connection"],
    ]),
    [["--allow-env", read], ["shell.yml"], "does not let it run"],
    [["--allow-env", read, "--allow-run=/bin/sh"], ["shell.yml"], "exit 3"],
    [["--allow-env", read, "--allow-run"], ["shell.yml"], "exit 3"],
    [["--allow-env", read, "--allow-run"], ["background.yml"], 'unknown action "nope"'],
    [["--allow-env", read], ["embedded.yml"], "does not let it read"],
    [["--allow-env", read], ["plugin.yml"], 'unknown action "mine"'],
    [["--allow-env"], ["check", "hello.yml"], "does not let it read"],
    [["--allow-env"], ["check", "*.yml"], "does not let it read"],
    [["--allow-env", read], ["gen", "hello.yml"], "runner: error:"],
    [["--allow-all", "--deny-write=/etc"], ["shell.yml"], "exit 3"],
  ];
  for (const [flags, args, reported] of table) {
    await test.step(`${flags.join(" ")} ${args.join(" ")}`, async () => {
      const { code, screen } = await inTerminal(flags, args);
      // deno-lint-ignore no-control-regex
      const text = screen.replace(/\x1b\[[?\d;]*[A-Za-z]/g, "").replace(/\s+/g, " ");
      assertEquals(/Allow\?|requests \w+ access|internal error/.exec(text), null, text);
      assertStringIncludes(text, reported);
      assertEquals(code, 1, text);
    });
  }
});
