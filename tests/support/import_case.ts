import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "./run/run_main.ts";
import { withFiles } from "./temp_dir.ts";
import { withServer } from "./servers/with_server.ts";

/** A request as the server of a test saw it. */
export interface Seen {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** An input to translate, and the expected results. */
export interface ImportCase {
  /** The arguments after `new --from`; `URL` in them is replaced by the address of the server. */
  readonly args: readonly string[];
  /** Files beside it; `URL` is replaced in them, too, and `ADDRESS` by its host and port. */
  readonly files?: Readonly<Record<string, string>>;
  /** Lines of the workflow. */
  readonly lines?: readonly string[];
  /** Variables that the workflow needs, in which `URL` is replaced, too. */
  readonly env?: Readonly<Record<string, string>>;
  /** Values of its vars that the input does not define. */
  readonly vars?: Readonly<Record<string, string>>;
  /** The parts that were not translated, each in the comment. */
  readonly notes?: readonly string[];
  /** Checks the requests that the server received. */
  readonly seen?: (requests: readonly Seen[]) => void;
  readonly respond?: (request: Seen) => Response | undefined;
}

/**
 * Translates an input, checks the workflow, which must be clean, and runs it, which must succeed.
 * The server answers with JSON that says what it was asked.
 */
export async function importCase(one: ImportCase): Promise<string> {
  const seen: Seen[] = [];
  await using server = withServer(async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const got = { method, path: pathname + search, headers, body: await request.text() };
    seen.push(got);
    return one.respond?.(got) ??
      Response.json({ method, path: got.path, id: 7, token: "issued-token-1", items: [1, 2] });
  });
  const fill = (text: string) =>
    text.replaceAll(/\bURL\b/g, server.url)
      .replaceAll(/\bADDRESS\b/g, server.url.replace("http://", ""));
  const files = Object.fromEntries(
    Object.entries(one.files ?? {}).map(([name, text]) => [name, fill(text)]),
  );
  return await withFiles(files, async (cwd) => {
    const made = await runMain(["new", "--from", ...one.args.map(fill)], { cwd });
    assertEquals(made.code, 0, made.stderr);
    const text = made.stdout;
    for (const line of one.lines ?? []) assertStringIncludes(text, fill(line));
    const notes = [...text.matchAll(/^ *# Not translated: (.*)$/gm)].map(([, note]) => note!);
    assertEquals(notes.length, one.notes?.length ?? 0, `${text}\n${made.stderr}`);
    for (const [index, note] of (one.notes ?? []).entries()) {
      assertStringIncludes(notes[index]!, fill(note));
    }
    if (notes.length > 0) assertStringIncludes(made.stderr, `${notes.length} part`);
    else assertEquals(/not translated/.test(made.stderr), false, made.stderr);
    await Deno.writeTextFile(`${cwd}/made.yml`, text);
    const checked = await runMain(["check", "made.yml"], { cwd });
    assertEquals([checked.code, checked.stderr], [0, ""], `${text}\n${checked.stdout}`);
    // A value of an earlier job may be missing, which is a hint.
    assert(/1 workflow checked: (?:ok|\d+ hints?)$/m.test(checked.stdout), checked.stdout);
    const env = Object.fromEntries(
      Object.entries(one.env ?? {}).map(([name, value]) => [name, fill(value)]),
    );
    const vars = Object.entries(one.vars ?? {}).map(([name, value]) =>
      `--var=${name}=${fill(value)}`
    );
    const run = await runMain([...vars, "made.yml"], { cwd, env });
    assertEquals([run.code, run.stderr], [0, ""], `${text}\n${run.stdout}`);
    assert(seen.length > 0, "nothing was sent");
    one.seen?.(seen);
    return text;
  });
}

/** Translates files and runs the workflow, whose text and exit code it returns. */
export async function runTranslated(
  from: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<{ readonly text: string; readonly code: number }> {
  return await withFiles(files, async (cwd) => {
    const { stdout: text } = await runMain(["new", "--from", ...from], { cwd });
    await Deno.writeTextFile(`${cwd}/made.yml`, text);
    const { code } = await runMain(["made.yml"], { cwd });
    return { text, code };
  });
}

/** Translates files that are wrong: each must be refused with these texts. */
export async function assertPlaces(
  from: string,
  cases: Readonly<Record<string, readonly [text: string, ...shown: string[]]>>,
): Promise<void> {
  const files = Object.fromEntries(Object.entries(cases).map(([name, [text]]) => [name, text]));
  await withFiles(files, async (cwd) => {
    for (const [name, [, ...shown]] of Object.entries(cases)) {
      const { code, stdout, stderr } = await runMain(["new", "--from", from, name], { cwd });
      assertEquals([code, stdout], [1, ""], stderr);
      assertStringIncludes(stderr, `cannot translate '${name}'`);
      for (const text of shown) assertStringIncludes(stderr, text);
    }
  });
}
