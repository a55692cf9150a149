import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { withRig } from "../support/run/rig.ts";
import { startCli } from "../support/run/run_cli.ts";
import { Collected, runHere } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

/** A program that watches, and what it has printed. */
interface Watched {
  /** Returns the output since the last call, once it waits for changes again. */
  readonly next: () => Promise<string>;
  /** Waits until it has printed that, during a run. */
  readonly until: (text: string) => Promise<void>;
  readonly write: (name: string, text: string) => void;
  /** Ends it as Ctrl-C does; its exit code. */
  readonly end: () => Promise<number>;
}

function watching(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  act: (watched: Watched) => Promise<void>,
): Promise<void> {
  return withFiles(files, async (cwd) => {
    const child = startCli(["--watch", ...args], { cwd });
    let printed = "";
    let wake = () => {};
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) {
        printed += text;
        wake();
      }
      wake();
    };
    const reading = Promise.all([read(child.stdout), read(child.stderr)]);
    let isOver = false;
    const status = child.status.finally(() => {
      isOver = true;
      wake();
    });
    try {
      const untilPrinted = async (isEnough: () => boolean) => {
        while (!isEnough()) {
          if (isOver) throw new Error(`it has ended: ${printed}`);
          await new Promise<void>((resolve) => wake = resolve);
        }
      };
      await act({
        until: (text) => untilPrinted(() => printed.includes(text)),
        async next() {
          await untilPrinted(() => /^watching .* ends\n/m.test(printed) && isWhole(printed));
          const text = printed;
          printed = "";
          return text;
        },
        write: (name, text) => Deno.writeTextFileSync(`${cwd}/${name}`, text),
        async end() {
          child.kill("SIGINT");
          return (await status).code;
        },
      });
    } finally {
      if (!isOver) child.kill("SIGKILL");
      await Promise.all([status, reading]);
    }
  });
}

/** Standard output and standard error come in any order. */
function isWhole(printed: string): boolean {
  return /error|^Time {7}|cannot/m.test(printed);
}

function flow(name: string, test = "true", fields = ""): string {
  return `name: ${name}\njobs: [{ name: j, steps: [{ uses: hello, test: "${test}"${fields} }] }]\n`;
}

/** The names of the workflows that ran. */
function ran(text: string): string[] {
  return [...text.matchAll(/^(?:[✓✗] )?([A-Z]) {2}/gm)].map(([, name]) => name!).sort();
}

Deno.test("--watch runs a file again when it or its data changes, also after a mistake in it", async () => {
  const data = ", iteration: { file: data.csv }";
  const files = { "w.yml": flow("W", "true", data), "data.csv": "a\n1\n2\n" };
  await watching(files, ["w.yml"], async ({ next, write, end }) => {
    assertStringIncludes(await next(), "2 passed (2)");
    write("data.csv", "a\n1\n2\n3\n");
    const second = await next();
    assertStringIncludes(second, "data.csv changed, ");
    assertStringIncludes(second, "3 passed (3)");
    write("w.yml", "name: [");
    assertStringIncludes(await next(), "w.yml:1:");
    write("w.yml", flow("W", "1 == 2"));
    assertStringIncludes(await next(), "1 failed (1)");
    assertEquals(await end(), 1);
  });
});

Deno.test("--watch runs again what a change affects of a suite", async () => {
  const files = {
    "suite.yml": "name: S\nworkflows: [flows]\nsetup: in.yml\nenv_file: vars.env\n",
    "in.yml": flow("In"),
    "vars.env": "SOME=1\n",
    "flows/a.yml": flow("A"),
    "flows/b.yml": `name: B
jobs: [{ name: j, steps: [{ uses: embedded, with: { path: ../jobs/in.yml }, test: "true" }] }]
`,
    "flows/c.yml": flow("C", "true", ", iteration: { file: rows.csv }"),
    "flows/rows.csv": "a\n1\n",
    "jobs/in.yml": "name: job\nsteps: [{ uses: hello }]\n",
  };
  await watching(files, ["suite.yml"], async ({ next, write, end }) => {
    assertEquals(ran(await next()), ["A", "B", "C"]);
    const changes: [name: string, text: string, ran: string[]][] = [
      ["flows/a.yml", flow("A", "1 == 1"), ["A"]],
      ["jobs/in.yml", "name: job\nsteps: [{ uses: hello, test: 'true' }]\n", ["B"]],
      ["flows/rows.csv", "a\n1\n2\n", ["C"]],
      ["flows/d.yml", flow("D"), ["D"]],
      ["vars.env", "SOME=2\n", ["A", "B", "C", "D"]],
      ["in.yml", flow("In", "1 == 1"), ["A", "B", "C", "D"]],
      ["flows/b.yml", "name: [", []],
      ["flows/b.yml", flow("B"), ["B"]],
      ["suite.yml", "name: S\nworkflows: [flows/a.yml]\n", ["A"]],
    ];
    for (const [name, text, expected] of changes) {
      write(name, text);
      const printed = await next();
      assertStringIncludes(printed, `${name} changed, `);
      assertEquals(ran(printed), expected, printed);
    }
    assertEquals(await end(), 0);
  });
});

Deno.test("--watch runs a file again when a file that it uploads changes", () =>
  withRig(async ({ url, seen }) => {
    const upload =
      `{ uses: http, with: { post: "${url}/echo", file: body.txt }, test: res.code == 200 }`;
    const files = {
      "w.yml": `name: W\njobs: [{ name: j, steps: [${upload}] }]\n`,
      "body.txt": "first",
    };
    await watching(files, ["w.yml"], async ({ next, write, end }) => {
      await next();
      write("body.txt", "second");
      assertStringIncludes(await next(), "body.txt changed, ");
      assertEquals(await end(), 0);
    });
    assertEquals(seen.length, 2);
  }));

Deno.test("--watch watches several files and a directory, and Ctrl-C ends what runs", async () => {
  const files = { "flows/a.yml": flow("A"), "flows/b.yml": flow("B"), "c.yml": flow("C") };
  await watching(files, ["flows", "c.yml"], async ({ next, write, until, end }) => {
    assertEquals(ran(await next()), ["A", "B", "C"]);
    write("c.yml", flow("C", "2 == 2"));
    assertEquals(ran(await next()), ["C"]);
    write("flows/a.yml", flow("A", "true", ", wait: 1h"));
    await until("flows/a.yml changed, ");
    assertEquals(await end(), 1);
  });
});

/** A terminal for messages, and its keys. */
class Keyboard extends Collected {
  override readonly isTerminal = true;
  isRead = false;
  press = (_key: string) => {};
  #wake = () => {};

  readonly stdin = {
    isTerminal: true,
    ask: () => Promise.resolve(undefined),
    readKeys: (onKey: (key: string) => void) => {
      [this.press, this.isRead] = [onKey, true];
      return Promise.resolve(() => void (this.isRead = false));
    },
  };

  override write(text: string): boolean {
    super.write(text);
    this.#wake();
    return true;
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await new Promise<void>((resolve) => this.#wake = resolve);
  }
}

Deno.test("--watch runs on a terminal what keys ask for, and gives the terminal back", async () => {
  const files = { "a.yml": flow("A"), "b.yml": flow("B", "1 == 2") };
  await withFiles(files, async (cwd) => {
    const [stdout, stderr] = [new Collected(), new Keyboard()];
    const host = { stdin: stderr.stdin, stdout, stderr };
    const end = runHere(["--watch", "a.yml", "b.yml"], { cwd }, host);
    const next = async () => {
      await stderr.until(/^watching \d files, h shows the keys, q quits\n/m);
      const result = { ran: ran(stdout.text), said: stderr.text };
      stdout.text = stderr.text = "";
      return result;
    };
    const again = async (key: string) => {
      stderr.press(key);
      return await next();
    };
    assertEquals((await next()).ran, ["A", "B"]);
    const failed = await again("f");
    assertEquals(failed.ran, ["B"]);
    assertMatch(failed.said, /^failed jobs again, \d\d:\d\d:\d\d\n/);
    assertEquals((await again("a")).ran, ["A", "B"]);
    Deno.writeTextFileSync(`${cwd}/b.yml`, flow("B"));
    const changed = await next();
    assertEquals(changed.ran, ["B"]);
    assertMatch(changed.said, /^b\.yml changed, \d\d:\d\d:\d\d\n/);
    assertEquals((await again("\n")).ran, ["B"]);
    stderr.press("f");
    await stderr.until(/^no job has failed\n$/);
    stderr.press("x");
    stderr.press("?");
    await stderr.until(/^ {2}Enter {2}run the same again$/m);
    assertEquals(stdout.text, "");
    stderr.press("q");
    assertEquals((await end).code, 0);
    assertEquals(stderr.isRead, false);
  });
});

Deno.test("--watch ends a run at the key q", () =>
  withFiles({ "a.yml": flow("A", "true", ", wait: 1h") }, async (cwd) => {
    const stderr = new Keyboard();
    const host = { stdin: stderr.stdin, stderr };
    const end = runHere(["--watch", "a.yml", "--output", "stream", "-v"], { cwd }, host);
    await stderr.until(/./);
    stderr.press("q");
    const { code, stdout } = await end;
    assertEquals(code, 1);
    assertStringIncludes(stdout, "interrupted");
  }));
