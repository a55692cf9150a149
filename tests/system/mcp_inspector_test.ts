import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { withFiles } from "../support/temp_dir.ts";

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const MAIN = fromFileUrl(new URL("../../cli.ts", import.meta.url));

Deno.test("the inspector of the Model Context Protocol lists and calls the tools", async () => {
  const files = {
    "w.yml": "name: w\njobs: [{ name: j, steps: [{ uses: hello, test: 1 == 2 }] }]\n",
  };
  await withFiles(files, async (cwd) => {
    const inspect = async (...args: readonly string[]) => {
      const server = [Deno.execPath(), "run", "--allow-all", MAIN, "mcp"];
      const { code, stdout, stderr } = await new Deno.Command("npx", {
        args: ["--yes", INSPECTOR, "--cli", ...server, "--method", ...args],
        cwd,
        stdin: "null",
      }).output();
      const [output, problems] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
      assertEquals(code, 0, problems);
      return JSON.parse(output!);
    };
    const { tools } = await inspect("tools/list");
    const names = tools.map(({ name }: { name: string }) => name).sort();
    assertEquals(
      names.join(),
      "actual,check,explain,generate,list,new_from_curl,run",
    );
    const { content, isError } = await inspect(
      ...["tools/call", "--tool-name", "run", "--tool-arg", "file=w.yml"],
    );
    assert(!isError);
    assertStringIncludes(content[0].text, "FAILED");
    assertStringIncludes(content[0].text, "test is false");
  });
});
