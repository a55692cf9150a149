// Tests the extension in a real VS Code: code-server of npm, whose page Chromium shows.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const EXTENSION = fileURLToPath(new URL("..", import.meta.url));
const TOOLS = join(EXTENSION, ".vscode-test");
const CODE_SERVER = join(TOOLS, "node_modules/code-server");
/** Code-server runs by this version of Node.js alone. */
const NODE = `node-${process.platform}-${process.arch}`;
const VERSIONS = ["code-server@4.139.1", `${NODE}@24.21.0`];
const SECONDS = 400;

async function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: "inherit", ...options });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with exit code ${code}`);
}

/** Its native modules, among them those for terminals, are not built: nothing here needs them. */
async function install() {
  const done = join(CODE_SERVER, "lib/vscode/node_modules");
  if (await access(done).then(() => true, () => false)) return;
  await mkdir(TOOLS, { recursive: true });
  await writeFile(join(TOOLS, "package.json"), '{ "private": true }\n');
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"];
  await run("npm", ["install", ...flags, ...VERSIONS], { cwd: TOOLS });
  await run("npm", ["install", ...flags], { cwd: join(CODE_SERVER, "lib/vscode") });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

await install();
const directory = await mkdtemp(join(tmpdir(), "runner-vscode-"));
const workspace = join(directory, "workspace");
const results = join(directory, "results.json");
const command = JSON.parse(process.env.RUNNER ?? '["runner"]');
await mkdir(workspace);
await mkdir(join(directory, "data/User"), { recursive: true });
const settings = { "runner.command": command, "security.workspace.trust.enabled": false };
await writeFile(join(directory, "data/User/settings.json"), JSON.stringify(settings));
// The tests are an extension that belongs to the editor.
const tests = join(CODE_SERVER, "lib/vscode/extensions/runner-tests");
await mkdir(tests, { recursive: true });
await copyFile(new URL("suite.cjs", import.meta.url), join(tests, "suite.cjs"));
await writeFile(
  join(tests, "package.json"),
  JSON.stringify({
    ...{ name: "runner-tests", publisher: "runner", version: "0.0.1", main: "./suite.cjs" },
    ...{ engines: { vscode: "*" }, activationEvents: ["onStartupFinished"] },
  }),
);
const port = await freePort();
const node = join(TOOLS, "node_modules", NODE, "bin/node");
const common = [
  join(CODE_SERVER, "out/node/entry.js"),
  ...["--user-data-dir", join(directory, "data"), "--extensions-dir", join(directory, "ext")],
];
const vsix = join(EXTENSION, "dist/runner-workflows.vsix");
await run(node, [...common, "--install-extension", vsix], { stdio: "ignore" });
const server = spawn(node, [
  ...common,
  ...["--auth", "none", "--bind-addr", `127.0.0.1:${port}`],
  ...["--disable-telemetry", "--disable-update-check", workspace],
], { env: { ...process.env, RESULTS: results }, stdio: ["ignore", "pipe", "ignore"] });
await new Promise((resolve) => {
  server.stdout.on("data", (chunk) => String(chunk).includes("HTTP server listening") && resolve());
});
const browser = spawn(process.env.CHROMIUM ?? "chromium", [
  ...["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"],
  `--user-data-dir=${join(directory, "browser")}`,
  `http://127.0.0.1:${port}/?${new URLSearchParams({ folder: workspace })}`,
], { stdio: "ignore" });
let found = "";
for (let tries = 0; found === "" && tries < SECONDS * 10; tries++) {
  await new Promise((resolve) => setTimeout(resolve, 100));
  found = await readFile(results, "utf8").catch(() => "");
}
await Promise.all([browser, server].map((child) => {
  child.kill();
  return once(child, "close");
}));
await rm(directory, { recursive: true, force: true, maxRetries: 5 });
if (found === "") throw new Error(`no results after ${SECONDS} s`);
for (const { name, error } of JSON.parse(found)) {
  process.stdout.write(error === undefined ? `ok ${name}\n` : `FAILED ${name}\n${error}\n`);
  if (error !== undefined) process.exitCode = 1;
}
