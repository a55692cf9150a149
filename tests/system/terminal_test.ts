import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withRig } from "../support/rig.ts";
import { theProgram } from "../support/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

/** A tmux session with a shell in it, of its own server. */
async function withTmux<T>(
  columns: number,
  use: (tmux: (...args: string[]) => Promise<string>) => Promise<T>,
): Promise<T> {
  const socket = `runner-test-${crypto.randomUUID()}`;
  const tmux = async (...args: string[]) => {
    const { success, stdout, stderr } = await new Deno.Command("tmux", {
      args: ["-L", socket, "-f", "/dev/null", ...args],
      env: { LC_ALL: "C.UTF-8" },
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  await tmux("-u", "new-session", "-d", "-x", String(columns), "-y", "30", "env PS1='$ ' sh");
  try {
    return await use(tmux);
  } finally {
    await tmux("kill-server");
  }
}

/** Looks at the screen until it shows what is waited for. */
async function untilShown(
  tmux: (...args: string[]) => Promise<string>,
  wanted: (screen: string) => boolean,
): Promise<string> {
  let screen = "";
  for (let tries = 0; tries < 500; tries++) {
    screen = await tmux("capture-pane", "-p");
    if (wanted(screen)) return screen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never shown; the screen is:\n${screen}`);
}

function command(args: string): string {
  const [program, before] = theProgram();
  return [program, ...before, args].join(" ");
}

for (const columns of [80, 20]) {
  Deno.test(`the spinner shows what runs and leaves the report alone, ${columns} columns`, async () => {
    await withRig((rig) => {
      const workflow = `name: n
jobs:
  - name: waits
    steps:
      - {name: held back, uses: http, with: {get: "${rig.url}/meet/x/2"}, test: res.code == 200}
`;
      return withFiles({ "w.yml": workflow }, (folder) =>
        withTmux(columns, async (tmux) => {
          await tmux("send-keys", `cd ${folder}; clear; ${command("w.yml")}; echo end $?`, "Enter");
          await untilShown(tmux, (screen) => /held back/.test(screen) && !/✓/.test(screen));
          await fetch(`${rig.url}/meet/x/2`);
          const screen = await untilShown(tmux, (screen) => /end 0/.test(screen));
          assertStringIncludes(screen, "✓  held back");
          assertEquals(screen.match(/held back/g)?.length, 1, screen);
          assertEquals(await tmux("display", "-p", "#{cursor_flag}"), "1\n");
        }));
    });
  });
}

Deno.test("Ctrl-C ends a run with its report and gives the cursor back", async () => {
  const workflow = "name: n\njobs:\n  - name: j\n    steps:\n" +
    "      - {name: long, uses: shell, with: {cmd: sleep 1000}}\n";
  await withFiles({ "w.yml": workflow }, (folder) =>
    withTmux(80, async (tmux) => {
      await tmux("send-keys", `cd ${folder}; clear; ${command("w.yml")}; echo end $?`, "Enter");
      await untilShown(tmux, (screen) => screen.includes("long"));
      await tmux("send-keys", "C-c");
      const screen = await untilShown(tmux, (screen) => /end \d/.test(screen));
      assertStringIncludes(screen, "end 1");
      assertStringIncludes(screen, "interrupted by SIGINT");
      assertEquals(await tmux("display", "-p", "#{cursor_flag}"), "1\n");
      assert(!screen.includes("\x1b"));
    }));
});
