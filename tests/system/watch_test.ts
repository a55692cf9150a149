import { assert, assertStringIncludes } from "@std/assert";
import { withFiles } from "../support/temp_dir.ts";
import { runLine, withTmux } from "../support/run/tmux.ts";

const flow = (name: string, test: string) =>
  `name: ${name}\njobs: [{ name: j, steps: [{ uses: hello, test: "${test}" }] }]\n`;

const waits = (screen: string) => /^watching \d files?, h shows the keys, q quits$/m.test(screen);

Deno.test("--watch clears the terminal before each run, and Ctrl-C gives it back", () =>
  withFiles(
    { "a.yml": flow("First", "true"), "b.yml": flow("Other", "true") },
    (directory) =>
      withTmux({ columns: 80 }, async (tmux) => {
        await tmux.type(runLine(directory, "--watch a.yml b.yml"), "Enter");
        const first = await tmux.until((screen) => waits(screen) && screen.includes("2 passed"));
        assert(!first.includes("before"), first);
        await Deno.writeTextFile(`${directory}/b.yml`, flow("Second", "1 == 2"));
        const second = await tmux.until((screen) => waits(screen) && screen.includes("Second"));
        assertStringIncludes(second, "b.yml changed, ");
        assertStringIncludes(second, "1 failed (1)");
        assert(!/First|Other/.test(second), second);
        await tmux.type("C-c");
        const last = await tmux.until((screen) => /^end \d/m.test(screen));
        assertStringIncludes(last, "end 1");
        assert(await tmux.isCursorVisible());
      }),
  ));

Deno.test("--watch does not show keys, and q, SIGTERM and Ctrl-C give the terminal back", () =>
  withFiles(
    { "a.yml": flow("A", "true") },
    (directory) =>
      withTmux({ columns: 80 }, async (tmux) => {
        const ends: readonly (() => Promise<unknown>)[] = [
          () => tmux.type("q"),
          () => tmux.type("C-c"),
          () => new Deno.Command("pkill", { args: ["-TERM", "-f", `watch ${directory}`] }).output(),
        ];
        for (const end of ends) {
          await tmux.type(runLine(directory, `--watch ${directory}/a.yml`), "Enter");
          await tmux.until(waits);
          await tmux.type("x", "y", "h");
          const screen = await tmux.until((text) => /^ {2}h {6}show these keys$/m.test(text));
          assert(!/^xy/m.test(screen), screen);
          await end();
          await tmux.until((text) => /^end \d/m.test(text));
          await tmux.type("clear; stty -a", "Enter");
          await tmux.until((text) => /[^-]icanon\b/.test(text) && /[^-]echo\b/.test(text));
        }
      }),
  ));
