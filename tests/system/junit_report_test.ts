import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { hostileWorkflow } from "../report/files/hostile_run.ts";
import { RICH_FILES } from "../report/files/rich_run.ts";
import { runReports } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

const SCHEMA = fromFileUrl(new URL("../fixtures/junit/jenkins-junit.xsd", import.meta.url));

/** Additions that became common after the schema was written, which readers may ignore. */
const ADDED: readonly (readonly [what: RegExp, without: string])[] = [
  [/(<testsuites [^>]*?) skipped="\d+"([^>]*?) timestamp="[^"]*"/g, "$1$2"],
  [/(<testsuites? [^>]*?) assertions="\d+"/g, "$1"],
  [/(<testsuite [^>]*?) file="[^"]*"/g, "$1"],
  [/(<testcase [^>]*?) file="[^"]*"/g, "$1"],
  [/(<testcase [^>]*?) line="\d+"/g, "$1"],
  [/(<testcase [^>]*>\n) {6}<properties>\n(?: {8}<property .*\n)+ {6}<\/properties>\n/g, "$1"],
  [/ {6}<flaky(?:Failure|Error) .*\n/g, ""],
  [/<skipped message="[^"]*"\/>/g, "<skipped/>"],
];

Deno.test("JUnit reports are well-formed, and valid by a published schema", async () => {
  for (const files of [RICH_FILES, { "w.yml": hostileWorkflow() }]) {
    const { reports } = await runReports(files);
    const report = reports["junit.xml"]!;
    const old = ADDED.reduce((text, [what, without]) => text.replace(what, without), report);
    await withFiles({ "junit.xml": report, "old.xml": old }, async (cwd) => {
      assertEquals(await xmllint(["--noout", "junit.xml"], cwd), "");
      assertEquals(
        await xmllint(["--noout", "--schema", SCHEMA, "old.xml"], cwd),
        "old.xml validates\n",
      );
    });
  }
});

async function xmllint(args: readonly string[], cwd: string): Promise<string> {
  const command = new Deno.Command("xmllint", { args: [...args], cwd });
  const { stdout, stderr } = await command.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}
