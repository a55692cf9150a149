import { assert, assertEquals, assertRejects } from "@std/assert";
import * as threads from "node:worker_threads";
import { denoHost } from "../../src/host/deno_host.ts";
import { startWorker } from "../../src/host/start_worker.ts";

const host = denoHost();

/** Runs a program that has `host`, its stdout piped to a shell command; gives what each says. */
async function piped(program: string, reader: string) {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  const module = new URL("../../src/host/deno_host.ts", import.meta.url);
  await Deno.writeTextFile(
    file,
    `import { denoHost } from "${module}"; const host = denoHost();\n${program}`,
  );
  try {
    const { stdout, stderr } = await new Deno.Command("/bin/sh", {
      args: ["-c", `"$0" run -A "$1" | ${reader}`, Deno.execPath(), file],
    }).output();
    const text = new TextDecoder();
    return { reader: text.decode(stdout), program: text.decode(stderr) };
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("denoHost() knows the environment, and that strange names are not in it", () => {
  Deno.env.set("DENO_HOST_TEST", "a=b");
  assertEquals(host.env.get("DENO_HOST_TEST"), "a=b");
  assertEquals(host.env.all()["DENO_HOST_TEST"], "a=b");
  Deno.env.delete("DENO_HOST_TEST");
  assertEquals(host.env.get("DENO_HOST_TEST"), undefined);
  for (const name of ["", "a=b", "a\0b"]) assertEquals(host.env.get(name), undefined);
});

Deno.test("denoHost() reads files as bytes and lists the files of a directory", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.writeFile(`${directory}/b`, new Uint8Array([0, 255]));
    await Deno.writeTextFile(`${directory}/a.yml`, "");
    await Deno.mkdir(`${directory}/inner`);
    await Deno.symlink(`${directory}/b`, `${directory}/link`);
    await Deno.symlink(`${directory}/nowhere`, `${directory}/dangling`);
    assertEquals(await host.files.read(`${directory}/b`), new Uint8Array([0, 255]));
    assertEquals(await host.files.list(directory), ["a.yml", "b", "link"]);
    assertEquals(await host.files.list(`${directory}/b`), undefined);
    assertEquals(await host.files.list(`${directory}/nowhere`), undefined);
    await assertRejects(() => host.files.read(`${directory}/nowhere`), Deno.errors.NotFound);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("denoHost() has a clock that calls later, unless that is taken back", async () => {
  const called: string[] = [];
  const before = host.clock.ticks();
  const cancel = host.clock.after(1, () => called.push("cancelled"));
  cancel();
  // The longest timers of the runtime are shorter than this and would end at once.
  const cancelYear = host.clock.after(365 * 24 * 3_600_000, () => called.push("a year later"));
  await new Promise<void>((resolve) => host.clock.after(5, resolve));
  cancelYear();
  assertEquals(called, []);
  assert(host.clock.ticks() > before);
  assert(Math.abs(host.clock.now() - Date.now()) < 60_000);
});

Deno.test("denoHost() assumes 80 by 24 without a terminal", async () => {
  const said = await piped(
    "host.stdout.write(`${host.stdout.isTerminal} ${host.stdout.columns()} ${host.stdout.rows()}`);",
    "cat",
  );
  // Another standard stream of the tests may be a terminal, whose size then counts.
  if (!Deno.stdin.isTerminal() && !Deno.stderr.isTerminal()) {
    assertEquals(said.reader, "false 80 24");
  }
});

Deno.test("denoHost() writes all of a text that is longer than a pipe holds", async () => {
  const said = await piped(
    'host.stdout.write("é".repeat(2_000_000)); host.stdout.write("end");',
    "wc -c",
  );
  assertEquals(Number(said.reader), 4_000_003);
});

Deno.test("denoHost() reports once that the reader is gone", async () => {
  const said = await piped(
    `while (host.stdout.write("x".repeat(70_000))) await host.stdout.flush();
     host.stderr.write("again: " + host.stdout.write("x"));`,
    "head -c 1",
  );
  assertEquals(said, { reader: "x", program: "again: false" });
});

Deno.test("a worker hears what is sent while its module loads, in order", async () => {
  const module = `data:text/javascript,
    await new Promise((resolve) => setTimeout(resolve));
    export function serve(port, greeting) {
      port.on("message", (message) => port.postMessage(message));
      port.postMessage(greeting);
    }`;
  const worker = startWorker(threads, module, "serve", "loaded");
  const heard: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  worker.on("message", (message: string) => {
    heard.push(message);
    if (message === "loaded") worker.postMessage("last");
    if (message === "last") resolve();
  });
  for (const message of ["first", "second"]) worker.postMessage(message);
  await promise;
  await worker.terminate();
  assertEquals(heard, ["loaded", "first", "second", "last"]);
});
