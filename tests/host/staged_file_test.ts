import { assertEquals, assertThrows } from "@std/assert";
import { openGrowingFile, stageFile } from "../../src/host/staged_file.ts";
import { withFiles } from "../support/temp_dir.ts";

Deno.test("stageFile() takes the name only when the file is complete", async () => {
  await withFiles({}, (dir) => {
    const path = `${dir}/new/deep/report.xml`;
    const file = stageFile(path);
    file.write("half");
    assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
    file.write(" and whole");
    file.commit();
    assertEquals(Deno.readTextFileSync(path), "half and whole");
    assertEquals([...Deno.readDirSync(`${dir}/new/deep`)].map(({ name }) => name), ["report.xml"]);
  });
});

Deno.test("stageFile() leaves everything as it was when the file is discarded", async () => {
  await withFiles({}, (dir) => {
    Deno.writeTextFileSync(`${dir}/old`, "old");
    for (const path of [`${dir}/old`, `${dir}/a/b/new`]) {
      const file = stageFile(path);
      file.write("new");
      file.discard();
    }
    assertEquals(Deno.readTextFileSync(`${dir}/old`), "old");
    assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name), ["old"]);
  });
});

Deno.test("stageFile() writes through a link and into a pipe, and replaces neither", async () => {
  await withFiles({}, async (dir) => {
    Deno.writeTextFileSync(`${dir}/old`, "old");
    Deno.symlinkSync(`${dir}/old`, `${dir}/link`);
    const file = stageFile(`${dir}/link`);
    file.write("new");
    file.commit();
    assertEquals(Deno.readTextFileSync(`${dir}/old`), "new");
    assertEquals(Deno.lstatSync(`${dir}/link`).isSymlink, true);

    const { code } = await new Deno.Command("mkfifo", { args: [`${dir}/pipe`] }).output();
    assertEquals(code, 0);
    const reader = new Deno.Command("cat", { args: [`${dir}/pipe`], stdout: "piped" }).spawn();
    const pipe = stageFile(`${dir}/pipe`);
    pipe.write("through");
    pipe.commit();
    assertEquals(new TextDecoder().decode((await reader.output()).stdout), "through");
    assertEquals(Deno.statSync(`${dir}/pipe`).isFifo, true);
  });
});

Deno.test("a growing file can be read while it is written", async () => {
  await withFiles({}, (dir) => {
    Deno.writeTextFileSync(`${dir}/log`, "of an earlier run");
    const file = openGrowingFile(`${dir}/log`, "anew");
    file.write("one\n");
    assertEquals(Deno.readTextFileSync(`${dir}/log`), "one\n");
    file.write("two\n");
    assertEquals(Deno.readTextFileSync(`${dir}/log`), "one\ntwo\n");
    file.commit();
    const more = openGrowingFile(`${dir}/log`, "append");
    more.write("three\n");
    more.commit();
    assertEquals(Deno.readTextFileSync(`${dir}/log`), "one\ntwo\nthree\n");
  });
});

Deno.test("stageFile() throws as Deno does", async () => {
  await withFiles({}, (dir) => {
    Deno.writeTextFileSync(`${dir}/file`, "");
    assertThrows(() => stageFile(dir), Deno.errors.IsADirectory);
    assertThrows(() => stageFile(`${dir}/file/below`), Error);
  });
});
