import { assert, assertEquals } from "@std/assert";
import { loadedModules } from "../../support/loaded_modules.ts";
import { withFiles } from "../../support/temp_dir.ts";

const FILES = {
  "good.yml": 'name: n\njobs: [{ name: j, steps: [{ uses: hello, test: "true" }] }]\n',
  "bad.yml": 'name: n\njobs: [{ name: j, steps: [{ uses: hello, test: "false" }] }]\n',
};

/** The modules for file reports that a run loads. */
function loads(...args: readonly string[]): Promise<readonly string[]> {
  return withFiles(FILES, async (cwd) => {
    const { modules } = await loadedModules(cwd, ...args);
    return modules.filter((path) => /^report\/files|staged_file/.test(path));
  });
}

Deno.test("a run without reports loads none of their code", async () => {
  for (const file of ["good.yml", "bad.yml"]) {
    for (const options of [[], ["-v", "--timing"]]) {
      // Failed jobs are stored for --rerun-failed.
      const loaded = (await loads(...options, file)).filter((path) =>
        !path.endsWith("staged_file.ts")
      );
      // The names of the formats are for the help.
      assertEquals(loaded, ["report/files/registry.ts"]);
    }
  }
});

Deno.test("a run loads the code of the reports that it writes", async () => {
  assertEquals(await loads("--report", "ndjson=n", "good.yml"), [
    "host/staged_file.ts",
    ...["kept_file", "ndjson", "open_files", "registry"].map((name) => `report/files/${name}.ts`),
  ]);
  const loaded = await loads("--report", "tap=t", "good.yml");
  assert(loaded.includes("report/files/tap.ts"));
  assertEquals(
    loaded.filter((path) => /junit|ctrf|html|markdown|github|\/json|ndjson/.test(path)),
    [],
  );
});
