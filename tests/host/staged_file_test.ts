import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { openGrowingFile, stageFile } from "../../src/host/staged_file.ts";
import { until } from "../support/run/processes.ts";
import { withFiles } from "../support/temp_dir.ts";

Deno.test("stageFile() takes the name only when the file is complete", async () => {
  await withFiles({}, async (dir) => {
    const path = `${dir}/new/deep/report.xml`;
    const file = await stageFile(path);
    file.write("half");
    assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
    file.write(" and whole");
    file.commit();
    assertEquals(Deno.readTextFileSync(path), "half and whole");
    assertEquals([...Deno.readDirSync(`${dir}/new/deep`)].map(({ name }) => name), ["report.xml"]);
  });
});

Deno.test("stageFile() leaves everything as it was when the file is discarded", async () => {
  await withFiles({}, async (dir) => {
    Deno.writeTextFileSync(`${dir}/old`, "old");
    for (const path of [`${dir}/old`, `${dir}/a/b/new`]) {
      const file = await stageFile(path);
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
    const file = await stageFile(`${dir}/link`);
    file.write("new");
    file.commit();
    assertEquals(Deno.readTextFileSync(`${dir}/old`), "new");
    assertEquals(Deno.lstatSync(`${dir}/link`).isSymlink, true);

    const { code } = await new Deno.Command("mkfifo", { args: [`${dir}/pipe`] }).output();
    assertEquals(code, 0);
    const reader = new Deno.Command("cat", { args: [`${dir}/pipe`], stdout: "piped" }).spawn();
    const pipe = await stageFile(`${dir}/pipe`);
    pipe.write("through");
    pipe.commit();
    assertEquals(new TextDecoder().decode((await reader.output()).stdout), "through");
    assertEquals(Deno.statSync(`${dir}/pipe`).isFifo, true);
  });
});

Deno.test("a growing file can be read while it is written", async () => {
  await withFiles({ log: "of an earlier run" }, async (dir) => {
    const read = () => Deno.readTextFileSync(`${dir}/log`);
    const file = await openGrowingFile(`${dir}/log`, "anew");
    file.write("one\n");
    await until(() => read() === "one\n", "the first line");
    const long = "x😀".repeat(50_000);
    file.write("two\n");
    file.write(long);
    await until(() => read() === `one\ntwo\n${long}`, "a long line");
    file.write("three\n");
    file.commit();
    assertEquals(read(), `one\ntwo\n${long}three\n`);
    const appended = await openGrowingFile(`${dir}/log`, "append");
    appended.write("four\n");
    appended.discard();
    assertEquals(read(), `one\ntwo\n${long}three\nfour\n`);
  });
});

Deno.test("a growing file has no half of a line in it, however much is written at once", async () => {
  await withFiles({}, async (dir) => {
    const file = await openGrowingFile(`${dir}/log`, "anew");
    let all = "";
    const kinds = [["a", 99], ["é", 700], ["€", 5000], ["🙂", 20_000], ["a", 200_000]] as const;
    for (const [character, length] of kinds) {
      const line = character.repeat(length);
      for (let count = 0; count < Math.max(10, 150_000 / length); count++) {
        file.write(`${line}\n`);
        all += `${line}\n`;
        const text = Deno.readTextFileSync(`${dir}/log`);
        assertEquals([text.endsWith("\n") || text === "", all.startsWith(text)], [true, true]);
      }
    }
    file.commit();
    assertEquals(Deno.readTextFileSync(`${dir}/log`), all);
  });
});

Deno.test("a file that takes the place of another is for the same readers", async () => {
  await withFiles({ "old": "old" }, async (dir) => {
    Deno.chmodSync(`${dir}/old`, 0o600);
    const file = await stageFile(`${dir}/old`);
    file.commit();
    assertEquals(Deno.statSync(`${dir}/old`).mode! & 0o777, 0o600);
  });
});

Deno.test("stageFile() takes names as long as they can be", async () => {
  await withFiles({}, async (dir) => {
    const name = "n".repeat(255);
    const file = await stageFile(`${dir}/${name}`);
    file.commit();
    assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name), [name]);
    await assertRejects(() => stageFile(`${dir}/${name}n`), Error, "too long");
  });
});

Deno.test("stageFile() throws as Deno does, and leaves nothing behind", async () => {
  await withFiles({ file: "" }, async (dir) => {
    for (const path of [dir, `${dir}/`, `${dir}/new/`, `${dir}/new/.`, `${dir}/new/..`]) {
      await assertRejects(() => stageFile(path), Deno.errors.IsADirectory);
    }
    await assertRejects(() => stageFile(`${dir}/file/below`), Error);
    assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name), ["file"]);
  });
});

Deno.test("two programs that let one file grow do not write into each other's lines", () =>
  withFiles({}, async (directory) => {
    const [first, second] = [
      await openGrowingFile(`${directory}/events`, "anew"),
      await openGrowingFile(`${directory}/events`, "anew"),
    ];
    first.write("first 1\n");
    second.write("second\n");
    first.write("first 2\n");
    first.commit();
    second.commit();
    assertEquals(Deno.readTextFileSync(`${directory}/events`), "second\n");
  }));
