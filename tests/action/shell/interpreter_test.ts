import { assertEquals } from "@std/assert";
import {
  commandFile,
  fileArguments,
  findInterpreter,
  inlineArguments,
  needsFile,
} from "../../../src/action/shell/interpreter.ts";

const unix = { windows: false, comSpec: undefined };
const windows = { windows: true, comSpec: "C:\\Windows\\system32\\cmd.exe" };

const shells:
  readonly (readonly [string | undefined, typeof unix | typeof windows, string, string[]])[] = [
    [undefined, unix, "/bin/sh", ["-c", "x"]],
    ["bash", unix, "bash", ["-c", "x"]],
    ["/opt/my shells/zsh", unix, "/opt/my shells/zsh", ["-c", "x"]],
    ["/usr/bin/pwsh", unix, "/usr/bin/pwsh", ["-NoProfile", "-NonInteractive", "-Command", "x"]],
    [undefined, windows, windows.comSpec, ["/d", "/s", "/c", '"x"']],
    [undefined, { windows: true, comSpec: undefined }, "cmd.exe", ["/d", "/s", "/c", '"x"']],
    ["PowerShell.exe", windows, "PowerShell.exe", [
      "-NoProfile",
      "-NonInteractive",
      "-Command",
      "x",
    ]],
    ["C:\\Git\\bin\\bash.exe", windows, "C:\\Git\\bin\\bash.exe", ["-c", "x"]],
  ];

for (const [shell, system, program, args] of shells) {
  Deno.test(`findInterpreter() runs ${shell} on ${system.windows ? "Windows" : "Unix"}`, () => {
    const interpreter = findInterpreter(shell, system);
    assertEquals(interpreter.program, program);
    assertEquals(inlineArguments(interpreter, "x"), args);
  });
}

Deno.test("needsFile() is for commands that are longer than an argument may be", () => {
  const sh = findInterpreter(undefined, unix);
  assertEquals(needsFile(sh, "echo a\necho b"), false);
  assertEquals(needsFile(sh, "x".repeat(40_000)), false);
  assertEquals(needsFile(sh, "€".repeat(44_000)), true);
});

Deno.test("needsFile() is for commands of several lines where the shell reads one alone", () => {
  const cmd = findInterpreter(undefined, windows);
  assertEquals([needsFile(cmd, "dir"), needsFile(cmd, "dir\ndir")], [false, true]);
  assertEquals(commandFile(cmd, "dir"), { text: "@echo off\r\ndir", extension: ".cmd" });
  assertEquals(fileArguments(cmd, "C:\\a b\\1.cmd"), ["/d", "/s", "/c", '""C:\\a b\\1.cmd""']);
});
