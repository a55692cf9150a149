import { assert, assertStringIncludes } from "@std/assert";
import { withFiles } from "../support/temp_dir.ts";
import { runLine, withTmux } from "../support/run/tmux.ts";

const flow = (name: string, test: string) =>
  `name: ${name}\njobs: [{ name: j, steps: [{ uses: hello, test: "${test}" }] }]\n`;

const waits = (screen: string) => /^watching \d files?, Ctrl-C ends$/m.test(screen);

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
        assertStringIncludes(second, "changed: b.yml");
        assertStringIncludes(second, "1 workflow: 1 failed");
        assert(!/First|Other/.test(second), second);
        await tmux.type("C-c");
        const last = await tmux.until((screen) => /^end \d/m.test(screen));
        assertStringIncludes(last, "end 1");
        assert(await tmux.isCursorVisible());
      }),
  ));
