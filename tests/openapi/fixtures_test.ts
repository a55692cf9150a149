/**
 * Generates a workflow from each description in `fixtures` and compares it with the text in
 * `expected`. UPDATE_SNAPSHOTS=1 writes that anew, to be read before it is committed.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const HERE = fromFileUrl(new URL("./", import.meta.url));

const FIXTURES = [
  ["shop", "shop.yaml", ""],
  ["library", "library/openapi.json", ""],
  ["legacy", "legacy.yaml", ""],
  ["tree", "tree.yaml", ""],
  ["hostile", "hostile.json", ""],
  [
    "doors",
    "doors.yaml",
    "warning: no credentials are sent to GET /both: two security schemes need the same header\n" +
    "warning: no credentials are sent to GET /old and to 1 more operation: " +
    'the security scheme "digest" has the unsupported type "digest"\n' +
    'warning: no credentials are sent to GET /gone: unknown security scheme "gone"\n',
  ],
] as const;

for (const [name, file, warnings] of FIXTURES) {
  Deno.test(`gen makes the expected workflow of the description "${name}"`, async () => {
    const cwd = `${HERE}fixtures`;
    const { code, stdout, stderr } = await runMain(["gen", file], { cwd });
    assertEquals([code, stderr], [0, warnings]);
    const expected = `${HERE}expected/${name}.txt`;
    if (Deno.env.get("UPDATE_SNAPSHOTS") === "1") Deno.writeTextFileSync(expected, stdout);
    assertEquals(stdout, Deno.readTextFileSync(expected));

    const root = file.split("/")[0]!;
    await withFiles({ "w.yml": stdout, ...filesAt(cwd, root) }, async (directory) => {
      const checked = await runMain(["check", "--strict", "w.yml"], { cwd: directory });
      assertEquals([checked.code, checked.stdout], [0, "1 workflow checked: ok\n"], checked.stderr);
    });
  });
}

/** A file, or all files of a directory, by their paths. */
function filesAt(directory: string, path: string): Record<string, string> {
  const whole = `${directory}/${path}`;
  if (Deno.statSync(whole).isFile) return { [path]: Deno.readTextFileSync(whole) };
  const inside = [...Deno.readDirSync(whole)].map(({ name }) =>
    filesAt(directory, `${path}/${name}`)
  );
  return Object.assign({}, ...inside);
}
