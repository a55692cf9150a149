import { assert, assertEquals } from "@std/assert";
import { withFiles } from "../../support/temp_dir.ts";

const ROOT = new URL("../../../", import.meta.url).href;
const FILES = {
  "good.yml": 'name: n\njobs: [{ name: j, steps: [{ uses: hello, test: "true" }] }]\n',
  "bad.yml": 'name: n\njobs: [{ name: j, steps: [{ uses: hello, test: "false" }] }]\n',
};

/** The modules for file reports that a run loads, according to Deno's log. */
function loads(...args: readonly string[]): Promise<readonly string[]> {
  return withFiles(FILES, async (cwd) => {
    const { stdout, stderr, signal } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--log-level=debug", `${ROOT}cli.ts`, ...args],
      cwd,
      env: { GITHUB_ACTIONS: "" },
    }).output();
    assertEquals(signal, null);
    const log = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    const read = [...log.matchAll(/fetch_no_follow - specifier: (file:\S+)/g)];
    assert(read.length > 50, log);
    return [...new Set(read.map(([, path]) => path!.replace(`${ROOT}src/`, "")))]
      .filter((path) => /^report\/files|report_targets|staged_file/.test(path)).sort();
  });
}

Deno.test("a run without reports loads none of their code", async () => {
  for (const file of ["good.yml", "bad.yml"]) {
    // The names of the formats are for the help.
    assertEquals(await loads(file), ["report/files/registry.ts"]);
    assertEquals(await loads("-v", "--timing", file), ["report/files/registry.ts"]);
  }
});

Deno.test("a run loads the code of the reports that it writes", async () => {
  assertEquals(await loads("--report", "ndjson=n", "good.yml"), [
    "cli/args/report_targets.ts",
    "host/staged_file.ts",
    ...["ndjson", "open_files", "recorder", "registry", "result_json", "run_record"].map((name) =>
      `report/files/${name}.ts`
    ),
  ]);
  const loaded = await loads("--report", "tap=t", "good.yml");
  assert(loaded.includes("report/files/tap.ts"));
  assertEquals(
    loaded.filter((path) => /junit|ctrf|html|markdown|github|document_json|ndjson/.test(path)),
    [],
  );
});
