import { assertEquals } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { checkParameters } from "../../../src/action/parameters.ts";
import { shell } from "../../../src/action/shell/shell.ts";

const cases: readonly (readonly [Dict, readonly string[]])[] = [
  [{ cmd: "ls" }, []],
  [{ cmd: "{{c}}", env: { A: null, B: 1, C: "{{c}}" }, timeout: "{{t}}", max_output: 0 }, []],
  [{ cmd: "ls", shell: "bash", workdir: ".", stdin: "", background: true, timeout: 1 }, []],
  [{}, ['shell needs "cmd"']],
  [{ cmd: "" }, ['"cmd" must not be empty']],
  [{ cmd: "a\0" }, ['"cmd" must not hold a NUL character']],
  [{ cmd: ["ls"] }, ['"cmd" must be a string, not a list']],
  [{ command: "ls" }, ['unknown parameter "command" of shell', 'shell needs "cmd"']],
  [{ cmd: "ls", shell: " ", workdir: "" }, [
    '"shell" must not be empty',
    '"workdir" must not be empty',
  ]],
  [{ cmd: "ls", timeout: "0s" }, []],
  [{ cmd: "ls", detach: true, background: false, stdin: null }, []],
  [{ cmd: "ls", detach: true, background: true, stdin: "a" }, [
    '"detach" and "background" cannot be combined: nothing waits for a detached command',
    '"detach" and "stdin" cannot be combined: nothing waits for a detached command',
  ]],
  [{ cmd: "ls", max_output: -1 }, ['"max_output" must be from 0 to 268435456 bytes']],
  [{ cmd: "ls", background: "yes" }, ['"background" must be a boolean, not "yes"']],
  [{ cmd: "ls", env: ["A=1"] }, ['"env" must be a map, not a list']],
  [{ cmd: "ls", env: { "": "1" } }, ['"env" cannot hold "": no variable can have that name']],
  [{ cmd: "ls", env: { A: "\0" } }, ['"env" cannot hold "A": its value has a NUL']],
];

for (const [params, messages] of cases) {
  Deno.test(`shell judges ${JSON.stringify(params)} at load`, () => {
    assertEquals(checkParameters(shell, params).map(({ message }) => message), [...messages]);
  });
}
