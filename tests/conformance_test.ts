/**
 * Runs the workflow in each directory of tests/conformance and compares all that came out of it with
 * `expected.txt` there. UPDATE_SNAPSHOTS=1 writes that file anew, to be read before it is committed.
 *
 * A directory may hold `args`, `env` (lines of NAME=value) and more files. RIG_URL is the address of
 * a server as support/run/rig.ts describes it; what it saw is compared too.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { PLUGIN_PLACE } from "./support/plugin_place.ts";
import { withRig } from "./support/run/rig.ts";
import { runMain } from "./support/run/run_main.ts";

const DIRECTORY = fromFileUrl(new URL("./conformance/", import.meta.url));

for (const { name } of [...Deno.readDirSync(DIRECTORY)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  Deno.test(`conformance: ${name.replaceAll("_", " ")}`, async () => {
    const cwd = `${DIRECTORY}${name}`;
    const printed = await withRig(async (rig) => {
      const args = (read(`${cwd}/args`) ?? "workflow.yml").trim().split(/\s+/);
      const env = { ...variables(read(`${cwd}/env`) ?? ""), RIG_URL: rig.url };
      const { code, stdout, stderr } = await runMain(args, { cwd, env });
      // A server that runs in the same process hears of a closed connection later, when it has time.
      if (rig.seen.includes("/hang")) await rig.untilSeen("-/hang");
      const [closed, asked] = [true, false].map((isClosed) =>
        rig.seen.filter((path) => path.startsWith("-") === isClosed)
      );
      const saw = [...asked!, ...closed!];
      const seen = saw.length > 0 ? `--- the server saw\n${saw.join("\n")}\n` : "";
      const said = stderr === "" ? "" : `--- stderr\n${stderr}`;
      return steady(`${stdout}${said}${seen}--- exit ${code}\n`, rig.url);
    });
    const file = `${cwd}/expected.txt`;
    if (Deno.env.get("UPDATE_SNAPSHOTS") === "1") Deno.writeTextFileSync(file, printed);
    assertEquals(printed, read(file) ?? "");
  });
}

function read(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function variables(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const at = line.indexOf("=");
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}

/**
 * Takes out what differs from run to run: times that were measured, ports, process ids, dates, and
 * the plugin message for a user without a home directory.
 */
function steady(text: string, url: string): string {
  const { host } = new URL(url);
  return text.replaceAll(url, "http://rig")
    .replaceAll(host, "rig")
    .replace(/127\.0\.0\.1 port \d{2,5}/g, "rig")
    .replace(/(?<=^ *(?:\d+\. )?[✓✗○!] .*) \([\d.]+m?s\)/gm, "")
    .replace(/(?<=^(?:[✓✗⚠!-] .* |Time {7}))[\d.]+m?s(?= \(|$)/gm, "0ms")
    .replace(/(?<=^(?: {2})?[✓✗⚠] .*?) {2,}[\d.]+m?s(?= {2}|$)/gm, "  0ms")
    .replace(/(in|path|after) [\d.]+(?:ms|s)\b/g, "$1 0ms")
    .replace(/(?<=^Slowest steps\n)(?: +\d.*\n)+/gm, "    the five slowest\n")
    .replace(
      /(?<=[\d:.]{12},? )[\d.]+m?s\b|(?<=(?:took|time|min|mean|p\d\d|max) )[\d.]+m?s\b/g,
      "0ms",
    )
    .replace(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, "00:00:00.000")
    .replace(/(?<=^ +(?:queue|dns|connect|tls|first_byte|download|total): )[\d.e-]+/gm, "0")
    .replace(/pid: \d+/g, "pid: 1")
    .replace(/Date: .*/g, "Date: now")
    .replaceAll(PLUGIN_PLACE, "looked for in ~/.runner/plugins");
}
