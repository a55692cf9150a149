import { relative } from "@std/path/relative";
import { findLiteralSecrets, findSentSecrets } from "../../check/literal_secrets.ts";
import type { LiteralSecret } from "../../check/model.ts";
import type { Host } from "../../host/host.ts";
import { filesBelow, isEntered } from "../../host/walk_directories.ts";
import type { Draft } from "../../openapi/gen/draft.ts";
import { hideDraftSecrets } from "../../importer/hide_secrets.ts";
import { type Importer, IMPORTERS } from "../../importer/registry.ts";
import { countNotes, renderDraft } from "../../openapi/gen/draft.ts";
import {
  type ImportFile,
  type ImportInput,
  readYamlFile,
  translateInput,
} from "../../importer/input.ts";
import { LoadError, UsageError } from "../../base/errors.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import { relativeTo } from "../../workflow/files_of.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { printWarnings } from "../messages.ts";
import { logLevel } from "../output_mode.ts";
import { writeTextFile } from "../write_text_file.ts";
import { commentMistakes } from "./comment_mistakes.ts";

/** Prints a workflow to begin with, or one that is made of something else, or writes it. */
export async function newCommand(
  { operands, switches, values }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  const out = values.get("out");
  if (out !== undefined && await host.files.isFile(out).catch(() => false)) {
    throw new LoadError(`'${out}' already exists`, [], "give the name of a new file");
  }
  const from = values.get("from") ?? await recognize(operands, host);
  const mayRun = switches.has("and-run");
  if (mayRun && from !== "curl" && from !== "har") {
    throw new UsageError("--and-run requires a curl command or a HAR file");
  }
  const level = logLevel(host.env, switches);
  const { text, warnings } = from === undefined
    ? { text: starter(operands), warnings: [] }
    : await translate(IMPORTERS.find(({ name }) => name === from)!, operands, mayRun, out, host);
  if (out === undefined) host.stdout.write(text);
  else await writeTextFile(out, text, host);
  const notes = warnings.map((message) =>
    ({ severity: "warning", code: "import", message }) as const
  );
  printWarnings(notes, level, program);
  return 0;
}

function starter([first]: readonly string[]): string {
  if (first === undefined) return STARTER;
  throw new UsageError(
    `new cannot tell what '${first}' is`,
    "--from says what to translate; -o writes the workflow to a file",
  );
}

/** The formats of files by the ends of their names. */
const BY_NAME: readonly (readonly [pattern: RegExp, format: string])[] = [
  [/^curl(?:\.exe)?(?:\s|$)/, "curl"],
  [/\.har$/i, "har"],
  [/\.hurl$/i, "hurl"],
  [/\.(?:http|rest)$/i, "http"],
  [/\.bru$/i, "bruno"],
];

/** The format of an input whose name, or else its content, says it. */
async function recognize([first]: readonly string[], host: Host): Promise<string | undefined> {
  if (first === undefined) return undefined;
  const [, named] = BY_NAME.find(([pattern]) => pattern.test(first)) ?? [];
  if (named !== undefined) return named;
  if (/\.(?:json|ya?ml)$/i.test(first)) {
    const value = readYamlFile(await readTextFile(first, host, "file"));
    if (!isDict(value)) return undefined;
    const { log, info, item, tests, opencollection } = value;
    if (opencollection !== undefined) return "bruno";
    if (info !== undefined && item !== undefined) return "postman";
    return log !== undefined ? "har" : tests !== undefined ? "stepci" : undefined;
  }
  const entries = await host.files.entries(first).catch(() => []);
  return entries?.some(({ name }) => /^(?:bruno\.json|opencollection\.ya?ml)$/.test(name))
    ? "bruno"
    : undefined;
}

async function translate(
  importer: Importer,
  operands: readonly string[],
  mayRun: boolean,
  out: string | undefined,
  host: Host,
): Promise<{ readonly text: string; readonly warnings: readonly string[] }> {
  const input = await readInput(importer, operands, host);
  const translated = await translateInput(await importer.load(), input);
  const target = (out ?? "").replace(/[^/\\]*$/, "");
  const moved = moveFiles(translated, (path) => relativeTo(target, `${input.directory}/${path}`));
  // Before secrets are hidden, since a comment may have one.
  const { draft: clean, mistakes: [mistake] } = await commentMistakes(moved, host);
  const hidden = hideDraftSecrets(clean, findSecrets);
  const environment = Object.keys(hidden.environment);
  const read = new Set([...environment, ...variablesOf(hidden.draft)]);
  const head = [
    `Made by "runner new --from ${importer.name}".`,
    ...read.size === 0 ? [] : [`Set in the environment: ${[...read].join(", ")}.`],
  ];
  const render = (draft: Draft) => renderDraft(draft, head);
  const { draft, failures } = mayRun
    ? await (await import("./add_seen_tests.ts")).addSeenTests(
      hidden,
      render,
      out ?? "new.yml",
      host,
    )
    : { draft: hidden.draft, failures: [] };
  const count = countNotes(draft);
  const text = render(draft);
  return {
    text,
    warnings: [
      ...failures,
      ...mistake ? [`the workflow does not load as it is: ${mistake.message}`] : [],
      ...environment.length === 0
        ? []
        : [`the input has secrets, which the workflow reads from ${environment.join(", ")}`],
      ...count === 0 ? [] : [
        `${count} ${count === 1 ? "part was" : "parts were"} not translated: comments that begin ` +
        'with "Not translated" say why',
      ],
    ],
  };
}

/** A draft with other paths of the files that its requests send or need. */
function moveFiles(draft: Draft, move: (path: string) => string): Draft {
  const moveIn = (value: Value, key = ""): Value => {
    if (Array.isArray(value)) return value.map((one) => moveIn(one, key));
    if (isDict(value) && !/^(?:auth|form|graphql|headers|json|query)$/.test(key)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, one]) => // The names of parts are those of the user.
        [name, moveIn(one, key === "multipart" ? "" : name)]),
      );
    }
    // Where a variable leads is not known.
    const isMoved = /^(?:file|cookie_file|ca|cert|key|pfx)$/.test(key) &&
      typeof value === "string" && !/^(?:\{\{|[/\\]|[A-Za-z]:|-----)/.test(value);
    return isMoved ? move(value) : value;
  };
  const jobs = draft.jobs.map((job) => ({
    ...job,
    steps: job.steps.map(({ data, notes }) => ({
      data: data.with === undefined ? data : { ...data, with: moveIn(data.with) },
      notes,
    })),
  }));
  return { ...draft, jobs };
}

/** The variables that the vars of a workflow read. */
function variablesOf({ vars }: Draft): readonly string[] {
  return Object.values(vars).flatMap((value) =>
    typeof value === "string"
      ? [...value.matchAll(/\{\{([A-Z_]\w*)\}\}/g)].map(([, name]) => name!)
      : []
  );
}

function findSecrets(workflow: unknown): readonly LiteralSecret[] {
  const literal = findLiteralSecrets(workflow, [{ text: JSON.stringify(workflow) }]);
  // One after the other: both may find the same secret.
  return literal.length > 0 ? literal : findSentSecrets(workflow);
}

async function readInput(
  { name, input }: Importer,
  operands: readonly string[],
  host: Host,
): Promise<ImportInput & { readonly directory: string }> {
  const [path] = operands;
  const example = { command: "'curl https://example.com'", file: "file", directory: "directory" };
  if (path === undefined) {
    throw new UsageError(
      `new --from ${name} needs a ${input}`,
      `runner new --from ${name} ${example[input]}`,
    );
  }
  if (input !== "command" && operands.length > 1) {
    throw new UsageError(`new --from ${name} takes one ${input}, and '${operands[1]}' is another`);
  }
  if (input === "command") return { words: operands, files: [], directory: "." };
  // A file of a collection is one of a directory, too.
  const isDirectory = input === "directory" && !await host.files.isFile(path);
  const files = isDirectory
    ? await readDirectory(path, host)
    : [await readTextFile(path, host, "file")];
  const directory = isDirectory ? path : path.replace(/[^/\\]*$/, "") || ".";
  return { words: [], files, directory };
}

/** The files in a directory and below it that are not too large to be text. */
async function readDirectory(root: string, host: Host): Promise<ImportFile[]> {
  const isWanted = (name: string) => /\.(?:bru|ya?ml|json|env)$/.test(name);
  const paths = await filesBelow(root, host.files, isWanted, isEntered);
  if (paths.length === 0 && (await host.files.entries(root))?.length === 0) {
    throw new LoadError(`'${root}' is not a directory, or it is empty`);
  }
  const files: ImportFile[] = [];
  for (const path of paths) {
    const { text } = await readTextFile(path, host, "file");
    files.push({ name: relative(root, path).replaceAll("\\", "/"), text });
  }
  return files;
}

/** A workflow to begin with, which explains itself. */
const STARTER =
  `# A workflow is a graph of jobs. Jobs run in parallel unless one needs another; the steps of a
# job run in order, and each does one thing: "runner actions" lists what they can do.
#
#   runner check workflow.yml   finds mistakes and runs nothing
#   runner workflow.yml         runs it; -v shows every request and response
name: My first workflow

# Values for the whole file. A name in capitals reads the environment, and ?? gives a default:
# URL=https://api.example.com runner workflow.yml
vars:
  url: "{{URL ?? 'https://example.com'}}"

jobs:
  - name: Website
    id: website
    steps:
      - name: answers with a page
        id: page
        uses: http
        with:
          get: "{{vars.url}}"
        # The step passes if its test is true: res is the response, rt the time that it took.
        test: res.code == 200 && rt.sec < 10
        # Until the test is true, it is tried again.
        retry: { max_attempts: 3, interval: 1s }
        # What later steps and jobs can read, here as outputs.page.type.
        outputs:
          type: res.headers["Content-Type"]

  - name: Summary
    # It starts when that job has passed.
    needs: [website]
    steps:
      - name: the page is HTML
        uses: echo
        with:
          message: "{{vars.url}} sends {{outputs.page.type}}"
        test: res.message contains "text/html"
`;
