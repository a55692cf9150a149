/**
 * There is no Docker here, so the test reads the Dockerfile and runs its install.sh commands.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));
const PROGRAM = "#!/bin/sh\necho Runner Version 1.2.3\n";

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions, each in one line, of each stage. */
async function readStages(): Promise<readonly (readonly Instruction[])[]> {
  const text = (await Deno.readTextFile(`${CHECKOUT}Dockerfile`)).replace(/\\\n\s*/g, "");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = "", text = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    assert(name !== "", line);
    if (name === "FROM") stages.push([]);
    stages.at(-1)!.push({ name, text });
  }
  return stages;
}

function textsOf(stage: readonly Instruction[], name: string): string[] {
  return stage.filter((instruction) => instruction.name === name).map(({ text }) => text);
}

Deno.test("the Dockerfile copies existing files and starts the copied binary", async () => {
  const [download, image, ...others] = await readStages();
  assertEquals(others, []);
  for (const stage of [download!, image!]) {
    assertMatch(textsOf(stage, "FROM")[0]!, /^debian:stable-slim( AS \w+)?$/);
  }
  const name = / AS (\w+)$/.exec(textsOf(download!, "FROM")[0]!)?.[1];
  const [script, ...copies] = textsOf(download!, "COPY").map((text) => text.split(" "));
  assertEquals(copies, []);
  assert((await Deno.stat(`${CHECKOUT}${script![0]}`)).isFile);
  const [[from, source, target], ...rest] = textsOf(image!, "COPY").map((text) =>
    text.split(" ")
  ) as [string[]];
  assertEquals(rest, []);
  assertEquals([from, source], [`--from=${name}`, "/out/runner"]);
  const [, program] = /^(?:\/usr\/local)?\/bin\/(\w+)$/.exec(target!) ?? [];
  assertEquals(textsOf(image!, "ENTRYPOINT"), [JSON.stringify([program])]);
  assertEquals(textsOf(image!, "USER"), ["runner"]);
  assertMatch(textsOf(image!, "RUN").join("\n"), /useradd .*runner/);
  assertEquals(textsOf(image!, "ENV"), ["DENO_DIR=/tmp/.deno"]);
});

Deno.test("the Dockerfile installs the program where it is copied from", async () => {
  const [download, image] = await readStages();
  const script = textsOf(download!, "COPY")[0]!.split(" ");
  const command = textsOf(download!, "RUN").at(-1)!;
  const defaults = Object.fromEntries(
    textsOf(download!, "ARG").filter((text) => text.includes("=")).map((text) => text.split("=")),
  );
  const made = textsOf(image!, "COPY")[0]!.split(" ")[1]!;
  const name = `runner-linux-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(PROGRAM));
  const asked: string[] = [];
  await using server = withServer((request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    return new Response(
      pathname.endsWith("/SHA256SUMS") ? `${new Uint8Array(digest).toHex()}  ${name}\n` : PROGRAM,
    );
  });
  for (const args of [{}, { VERSION: "1.2.3" }]) {
    await withFiles({}, async (root) => {
      const inRoot = command.replaceAll(script[1]!, `${CHECKOUT}${script[0]}`)
        .replaceAll("=/out", `=${root}/out`);
      assert(inRoot.includes(root), inRoot);
      const { success, stderr } = await new Deno.Command("sh", {
        args: ["-c", inRoot],
        env: { ...defaults, ...args, RELEASES: `${server.url}/releases` },
      }).output();
      assert(success, new TextDecoder().decode(stderr));
      assertEquals(await Deno.readTextFile(`${root}${made}`), PROGRAM);
    });
  }
  assertEquals(asked.filter((path) => path.endsWith(name)), [
    `/releases/latest/download/${name}`,
    `/releases/download/v1.2.3/${name}`,
  ]);
});
