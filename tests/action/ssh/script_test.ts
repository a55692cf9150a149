import { assertEquals } from "@std/assert";
import type { RemoteCommand } from "../../../src/action/ssh/read_ssh.ts";
import { scriptOf } from "../../../src/action/ssh/script.ts";

const VALUES: readonly string[] = [
  "plain",
  "it's",
  '$HOME `id` $(id) \\ "',
  "two\nlines\n\n",
  "\\n is no newline\n",
  "",
  "ü €",
];

/** Runs a script as a server does, with what it reads first. */
async function run(command: Partial<RemoteCommand>, stdin = ""): Promise<string> {
  const { text, preamble } = scriptOf({
    text: "",
    env: {},
    hasTerminal: false,
    maxOutput: 0,
    ...command,
  });
  const child = new Deno.Command("sh", {
    args: ["-c", text],
    env: { HOME: "/tmp", TAKEN: "away" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(preamble + stdin));
  await writer.close();
  return new TextDecoder().decode((await child.output()).stdout);
}

Deno.test({
  name: "scriptOf() sets variables to exactly their values, and leaves the input to the command",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const hasTerminal of [false, true]) {
      for (const value of VALUES) {
        const said = await run(
          { text: 'printf %s "$A"; cat', env: { A: value }, hasTerminal },
          "input",
        );
        assertEquals(said, `${value}input`);
      }
    }
    const env = { TAKEN: null, B: "b" };
    assertEquals(await run({ text: "echo ${TAKEN-gone} $B $RUNNER_ENV", env }), "gone b\n");
  },
});

Deno.test({
  name: "scriptOf() enters the directory, in which nothing but ~ has a meaning",
  ignore: Deno.build.os === "windows",
  async fn() {
    assertEquals(await run({ text: "pwd", workdir: "~" }), "/tmp\n");
    assertEquals(await run({ text: "pwd", workdir: "~/../usr" }), "/usr\n");
    assertEquals(await run({ text: "pwd\necho x", workdir: "/nonexistent" }), "");
    assertEquals(await run({ text: "pwd", workdir: "$HOME" }), "");
  },
});

Deno.test("scriptOf() shows no values in the text, which others on the server see", () => {
  const command = { text: "true", env: { TOKEN: "secret" }, maxOutput: 0 };
  const { text, preamble } = scriptOf({ ...command, hasTerminal: false });
  assertEquals([text.includes("secret"), preamble.includes("secret")], [false, true]);
});
