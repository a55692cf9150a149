import { assertEquals, assertStringIncludes } from "@std/assert";
import { until } from "../support/run/processes.ts";
import { startCli, theProgram } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const HELLO = "name: n\njobs: [{ name: j, steps: [{ name: s, uses: hello }] }]\n";

/** Runs the program with both outputs in files, as a shell does with `>`. */
async function runIntoFiles(cwd: string, args: readonly string[]) {
  const [program, before] = theProgram();
  const command = new Deno.Command("sh", {
    args: ["-c", 'exec "$@" > out 2> err', "sh", program, ...before, ...args, "w.yml"],
    cwd,
  });
  const { code } = await command.output();
  return {
    code,
    stdout: Deno.readTextFileSync(`${cwd}/out`),
    stderr: Deno.readTextFileSync(`${cwd}/err`),
  };
}

Deno.test("other names of standard output put a report in place of the text", async () => {
  for (const path of ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
    await withFiles({ "w.yml": HELLO }, async (cwd) => {
      const { code, stdout, stderr } = await runIntoFiles(cwd, ["--report", `json=${path}`]);
      assertEquals([code, stderr, JSON.parse(stdout).state], [0, "", "passed"], path);
      const two = await runMain(["--report", `json=-,tap=${path}`, "w.yml"], { cwd });
      assertEquals(two.code, 1);
      assertStringIncludes(two.stderr, "two reports go to standard output: json and tap");
    });
  }
});

Deno.test("a report is appended to a file that is already open", async () => {
  for (const path of ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]) {
    await withFiles({ "w.yml": HELLO }, async (cwd) => {
      const { code, stdout, stderr } = await runIntoFiles(cwd, ["-v", "--report", `tap=${path}`]);
      assertEquals(code, 0);
      assertStringIncludes(stdout, "All jobs succeeded");
      const [details, tap] = stderr.split("TAP version 14\n");
      assertStringIncludes(details!, "s: started (hello)", path);
      assertStringIncludes(tap!, "ok 1 - j\n", path);
    });
  }
});

Deno.test("a link that leads nowhere yet is followed, and stays", async () => {
  for (const [link, file] of [["to", "to"], ["new/to", "new/to"], ["{cwd}/a/to", "a/to"]]) {
    for (const format of ["tap", "ndjson"]) {
      await withFiles({ "w.yml": HELLO, "links/x": "" }, async (cwd) => {
        Deno.symlinkSync(link!.replace("{cwd}", cwd), `${cwd}/links/first`);
        Deno.symlinkSync("links/first", `${cwd}/second`);
        const { code, stderr } = await runMain(["--report", `${format}=second`, "w.yml"], { cwd });
        assertEquals([code, stderr], [0, ""], link);
        const place = link!.startsWith("{") ? `${cwd}/${file}` : `${cwd}/links/${file}`;
        assertEquals(Deno.lstatSync(place).isFile, true);
        for (const name of ["links/first", "second"]) {
          assertEquals(Deno.lstatSync(`${cwd}/${name}`).isSymlink, true, name);
        }
      });
    }
  }
});

Deno.test("a report that is asked for twice in the same words is written once", async () => {
  await withFiles({ "w.yml": HELLO }, async (cwd) => {
    const once = ["--report", "github,tap=-", "w.yml"];
    const count = ({ stdout, stderr }: { stdout: string; stderr: string }) =>
      (stdout + stderr).split("::stop-commands::").length - 1;
    assertEquals(count(await runMain(once, { cwd })), 1);
    const twice = await runMain(["--report", "tap=-", "--report", "github", ...once], { cwd });
    assertEquals([twice.code, count(twice)], [0, 1]);
  });
});

Deno.test("one signal ends the wait for the reader of a pipe, and nothing is left", async () => {
  await withFiles({ "w.yml": HELLO }, async (cwd) => {
    await new Deno.Command("mkfifo", { args: [`${cwd}/pipe`] }).output();
    const child = startCli(["--report", "json=new/j,tap=pipe", "w.yml"], { cwd });
    const outputs = [child.stdout, child.stderr].map((output) => new Response(output).text());
    const names = () => [...Deno.readDirSync(cwd)].map(({ name }) => name).sort();
    await until(() => names().includes("new"), "the directory of the other report");
    child.kill("SIGINT");
    assertEquals((await child.status).code, 1);
    assertEquals(await Promise.all(outputs), ["", "runner: error: interrupted by SIGINT\n"]);
    assertEquals(names(), ["pipe", "w.yml"]);
  });
});

Deno.test("no report goes to the workflow or to another report by way of a link", async () => {
  for (
    const [reports, error] of [
      ["tap=to-workflow", "cannot write the report 'to-workflow': the run reads this file"],
      ["ndjson=folder/w.yml", "cannot write the report 'folder/w.yml': the run reads this file"],
      ["tap=new,json=to-new", "two reports go to 'to-new': tap and json"],
      ["tap=made/new,json=folder/made/new", "two reports go to 'folder/made/new': tap and json"],
    ] as const
  ) {
    await withFiles({ "w.yml": HELLO }, async (cwd) => {
      Deno.symlinkSync("w.yml", `${cwd}/to-workflow`);
      Deno.symlinkSync("new", `${cwd}/to-new`);
      Deno.symlinkSync(".", `${cwd}/folder`);
      const before = [...Deno.readDirSync(cwd)].length;
      const { code, stdout, stderr } = await runMain(["--report", reports, "w.yml"], { cwd });
      assertEquals([code, stdout], [1, ""], reports);
      assertStringIncludes(stderr, `runner: error: ${error}\n`);
      assertEquals(Deno.readTextFileSync(`${cwd}/w.yml`), HELLO);
      assertEquals([...Deno.readDirSync(cwd)].length, before);
    });
  }
});
