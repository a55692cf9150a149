/**
 * Checks the binaries without downloading the Deno runtime: it builds them on a placeholder
 * program of the right format for each system, reads the embedded files back, compares them, and
 * runs the smoke tests on them.
 *
 * @module
 */
import { CHECKOUT } from "./bundle/bundler.ts";
import { SPLIT_ENTRY } from "./bundle/make_bundles.ts";
import { compileTarget, forgetTimes } from "./compile/compile_target.ts";
import { type Payload, readPayload } from "./compile/read_payload.ts";
import { type Target, TARGETS } from "./compile/targets.ts";

const split = `${CHECKOUT}/dist/split`;
const work = await Deno.makeTempDir({ prefix: "runner_compiled_" });
try {
  await forgetTimes(split);
  const bases = await fetchBases();
  const payloads: Payload[] = [];
  for (const target of TARGETS) {
    const path = `${work}/${target.file}`;
    await compile(target, path, bases.get(target));
    const binary = await Deno.readFile(path);
    payloads.push(await checkedPayload(binary));
    await compile(target, path, bases.get(target));
    if (!isSame(binary, await Deno.readFile(path))) throw new Error(`${target.name} differs`);
    say(`${target.file}: written twice alike, and holds dist/split, ${SPLIT_ENTRY} to start`);
  }
  await runTests(payloads[0]!);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  Deno.exitCode = 1;
} finally {
  await Deno.remove(work, { recursive: true });
}

async function compile(target: Target, path: string, base: string | undefined): Promise<void> {
  const problem = await compileTarget(target, split, path, base);
  if (problem !== undefined) throw new Error(`cannot compile for ${target.name}: ${problem}`);
}

/** A program for each system. */
async function fetchBases(): Promise<Map<Target, string>> {
  const bases = await Promise.all(TARGETS.map(async (target) => {
    const directory = `${work}/base_${target.name}`;
    await Deno.mkdir(directory);
    const packed = await run("npm", ["pack", "--silent", target.sample.package], directory);
    await run("tar", ["-xzf", packed.trim()], directory);
    return [target, `${directory}/package/${target.sample.path}`] as const;
  }));
  return new Map(bases);
}

/** Reads what is embedded. Throws if it is not what it should be. */
async function checkedPayload(binary: Uint8Array<ArrayBuffer>): Promise<Payload> {
  const payload = readPayload(binary);
  const { files, settings } = payload;
  const expected: string[] = [];
  for await (const { name } of Deno.readDir(split)) {
    expected.push(name);
    const file = files.get(name);
    if (!file || !isSame(file, await Deno.readFile(`${split}/${name}`))) {
      throw new Error(`"${name}" is not embedded as it is`);
    }
  }
  if (files.size !== expected.length) throw new Error("there are more files than those of a build");
  const permissions = Object.entries(settings.permissions ?? {});
  const isNarrow = permissions.some(([name, value]) =>
    /^(deny|ignore)_/.test(name) && value !== null ||
    name.startsWith("allow_") && !(Array.isArray(value) && value.length === 0)
  );
  const isRight = settings.entrypoint_key === SPLIT_ENTRY && permissions.length > 0 && !isNarrow &&
    permissions.some(([name, value]) => name === "prompt" && value === false) &&
    String(settings.argv) === "" && settings.app_name === "runner" &&
    settings.unsafely_ignore_certificate_errors === null;
  if (!isRight) throw new Error(`the settings are wrong: ${JSON.stringify(settings)}`);
  return payload;
}

/** Runs what is embedded on its own: no registry, no config, an empty cache. */
async function runTests({ files }: Payload): Promise<void> {
  const directory = `${work}/embedded`;
  await Deno.mkdir(directory);
  for (const [name, bytes] of files) await Deno.writeFile(`${directory}/${name}`, bytes);
  const program = `${work}/runner`;
  const options = "-A --no-prompt --no-config --no-npm --no-remote";
  await Deno.writeTextFile(
    program,
    `#!/bin/sh\nDENO_DIR='${work}/cache' exec '${Deno.execPath()}' run ${options} ` +
      `'${directory}/${SPLIT_ENTRY}' "$@"\n`,
    { mode: 0o755 },
  );
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", "--reporter=dot", "tests/smoke_test.ts"],
    cwd: CHECKOUT,
    env: { RUNNER_BIN: program, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const said = new TextDecoder().decode(stdout).trimEnd();
  if (!success) throw new Error(`what is embedded does not pass the tests\n${said}`);
  say(`what is embedded runs by itself: ${said.slice(said.lastIndexOf("\n") + 1)}`);
}

async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd })
    .output();
  const [said, complaint] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`${program} ${args.join(" ")} failed: ${complaint}`);
  return said!;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
