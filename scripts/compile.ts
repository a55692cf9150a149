/**
 * Makes the binaries: `deno task compile [target...]` writes them and `SHA256SUMS` into `dist`,
 * or, where the runtime of a system cannot be fetched, nothing.
 *
 * @module
 */
import { CHECKOUT } from "./bundle/bundler.ts";
import { PAGES_FILE } from "./bundle/load_documents.ts";
import { compileTarget, forgetTimes } from "./compile/compile_target.ts";
import { TARGETS } from "./compile/targets.ts";

const unknown = Deno.args.filter((name) => !TARGETS.some((target) => target.name === name));
if (unknown.length > 0) {
  const names = TARGETS.map(({ name }) => name).join(", ");
  fail(`unknown target "${unknown.join('", "')}", only ${names}`);
}
const targets = TARGETS.filter(({ name }) => Deno.args.length === 0 || Deno.args.includes(name));
const dist = `${CHECKOUT}/dist`;
await forgetTimes(`${dist}/split`).catch(() => fail('there is no bundle: run "deno task bundle"'));
const work = await Deno.makeTempDir({ dir: dist, prefix: "compile_" });
try {
  const problems: string[] = [];
  for (const target of targets) {
    const problem = await compileTarget(target, `${dist}/split`, `${work}/${target.file}`);
    if (problem !== undefined) problems.push(`${target.name}: ${problem}`);
  }
  if (problems.length > 0) {
    say("cannot make the binaries, and nothing was written:");
    for (const problem of problems) say(`  ${problem}`);
    say(
      "The runtime that goes into them comes from dl.deno.land; where that is out of reach, " +
        '"deno task compile:check" checks what does not need it',
    );
    Deno.exitCode = 1;
  } else {
    const files = targets.map(({ file }) => file);
    for (const file of files) await Deno.rename(`${work}/${file}`, `${dist}/${file}`);
    const sums = await Promise.all(["runner.js", PAGES_FILE, ...files].map(sumLine));
    await Deno.writeTextFile(`${dist}/SHA256SUMS`, sums.join(""));
    for (const file of files) {
      const { size } = await Deno.stat(`${dist}/${file}`);
      say(`${dist}/${file}  ${(size / 1e6).toFixed(1)} MB`);
    }
    say(`${dist}/SHA256SUMS`);
  }
} finally {
  await Deno.remove(work, { recursive: true });
}

/** A line as `sha256sum` writes it. */
async function sumLine(file: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(`${dist}/${file}`));
  return `${new Uint8Array(digest).toHex()}  ${file}\n`;
}

function fail(message: string): never {
  say(message);
  Deno.exit(1);
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.error(line);
}
