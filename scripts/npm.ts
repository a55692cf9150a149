/**
 * Makes the npm package in `dist/npm`: `deno task npm`. It holds the program with all libraries and
 * pages, and depends on the packages that `deno` on npm consists of: a binary for each system. That package
 * itself has a script for its installation, which npm does not run, but warns of.
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };
import { HOME } from "../src/base/home.ts";
import { CHECKOUT } from "./bundle/bundler.ts";
import { checkedOutCommit } from "./bundle/checked_out_commit.ts";
import { makeChunks } from "./bundle/make_bundles.ts";

/** What follows `@deno/`. */
const SYSTEMS = [
  ...["linux-x64-glibc", "linux-arm64-glibc", "darwin-x64", "darwin-arm64"],
  ...["win32-x64", "win32-arm64"],
];
const BIN = "bin/runner.cjs";
const PACKAGE = {
  name: config.name,
  version: config.version,
  description: "Test APIs and smoke-test releases from one YAML file",
  keywords: ["api", "testing", "smoke-test", "workflow", "http", "cli"],
  homepage: HOME,
  repository: { type: "git", url: `git+${HOME}.git` },
  license: config.license,
  type: "module",
  bin: { runner: BIN },
  engines: { node: ">=18" },
  optionalDependencies: Object.fromEntries(
    SYSTEMS.map((system) => [`@deno/${system}`, Deno.version.deno]),
  ),
  // Deno does not read from the archives of Yarn.
  preferUnplugged: true,
};

const directory = `${CHECKOUT}/dist/npm`;
const chunks = await makeChunks(await checkedOutCommit());
await Deno.remove(directory, { recursive: true }).catch(() => {});
for (const name of ["bin", "lib"]) await Deno.mkdir(`${directory}/${name}`, { recursive: true });
for (const [name, text] of chunks) await Deno.writeTextFile(`${directory}/lib/${name}`, text);
await Deno.copyFile(`${CHECKOUT}/scripts/npm/launcher.cjs`, `${directory}/${BIN}`);
for (const name of ["README.md", "LICENSE"]) {
  await Deno.copyFile(`${CHECKOUT}/${name}`, `${directory}/${name}`);
}
await Deno.writeTextFile(`${directory}/package.json`, `${JSON.stringify(PACKAGE, null, 2)}\n`);
// deno-lint-ignore no-console
console.log(`${directory}: npm pack ./dist/npm makes the archive`);
