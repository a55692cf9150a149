#!/usr/bin/env node
// Starts the program beside it, by the Deno that is installed with it.
"use strict";
const { join } = require("node:path");

const isWindows = process.platform === "win32";
const system = `${process.platform}-${process.arch}${process.platform === "linux" ? "-glibc" : ""}`;

function findDeno() {
  try {
    return require.resolve(`@deno/${system}/deno${isWindows ? ".exe" : ""}`);
  } catch {
    fail(`the npm package @deno/${system} is not installed
  npm leaves it out with --omit=optional, and where Deno has no binary: it has them for Linux with
  glibc, macOS and Windows, on x64 and arm64`);
  }
}

function fail(message) {
  process.stderr.write(`runner: error: ${message}\n`);
  process.exit(1);
}

const deno = findDeno();
const entry = join(__dirname, "..", "lib", "cli.js");
const args = ["run", "--allow-all", "--no-config", "--no-lock", entry, ...process.argv.slice(2)];
const env = { ...process.env, DENO_NO_UPDATE_CHECK: "1" };

// Since Node.js 22.15 this process becomes the program, with its signals and streams.
if (!isWindows && process.execve) process.execve(deno, [deno, ...args], env);

const child = require("node:child_process").spawn(deno, args, { env, stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", ...(isWindows ? ["SIGBREAK"] : [])]) {
  // On Windows the program gets what the terminal sends, and kill() would end it at once.
  process.on(signal, () => isWindows || child.kill(signal));
}
child.on("error", (error) => fail(`cannot start ${deno}: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
  } else {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
