import { relative } from "@std/path/relative";
import { findDraftSecrets } from "../../check/literal_secrets.ts";
import type { Host } from "../../host/host.ts";
import { filesBelow, isEntered } from "../../host/walk_directories.ts";
import { hideSecrets } from "../../draft/hide_secrets.ts";
import { type Importer, IMPORTERS } from "../../importer/registry.ts";
import { type Draft, type DraftJob, type DraftStep, renderDraft } from "../../draft/draft.ts";
import {
  type ImportFile,
  type ImportInput,
  readYamlFile,
  translateInput,
} from "../../importer/input.ts";
import { LoadError, UsageError } from "../../base/errors.ts";
import { hintForValue } from "../../base/other_tools.ts";
import { type Dict, isDict, type Value, valueAt } from "../../base/value/value.ts";
import { shellWord } from "../../base/text/shell_word.ts";
import { relativeTo } from "../../workflow/files_of.ts";
import { parseDocument, readTextFile } from "../../workflow/read_files.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { printWarnings } from "../messages.ts";
import { logLevel } from "../output_mode.ts";
import { countDraft, printWritten, runHint, writeTextFile } from "../write_text_file.ts";
import { readInputFile } from "./fmt_command.ts";
import { NO_FAILURE } from "../../draft/request_draft.ts";
import { decodeDocument } from "../../workflow/decode/decode_document.ts";
import { decodeWorkflow } from "../../workflow/decode/decode_workflow.ts";
import { readLimits } from "../../workflow/limits.ts";
import type { Problem } from "../../workflow/problem.ts";

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
  const level = logLevel(host.env, switches);
  const { text, count, variables, vars, warnings } = from === undefined
    ? starter(await urlToTest(operands, host), out)
    : await translate(IMPORTERS.find(({ name }) => name === from)!, operands, out, host);
  if (out === undefined) host.stdout.write(text);
  else await writeTextFile(out, text, host);
  const notes = warnings.map((message) =>
    ({ severity: "warning", code: "import", message }) as const
  );
  printWarnings(notes, level, program);
  if (out !== undefined) printWritten(out, count, runHint(out, variables, vars), level, host);
  return 0;
}

/** A new workflow. */
interface Made {
  readonly text: string;
  /** `3 jobs, 5 requests` */
  readonly count: string;
  /** The environment variables that it reads and that have no default. */
  readonly variables: readonly string[];
  /** Its vars without a value. */
  readonly vars: readonly string[];
  readonly warnings: readonly string[];
}

/** The URL for the first workflow: the operand, the answer on a terminal, or an example. */
async function urlToTest([first]: readonly string[], { stdin }: Host): Promise<string> {
  const answer = first === undefined && stdin.isTerminal
    ? await stdin.ask(`URL to test (${EXAMPLE}): `, new AbortController().signal)
    : first;
  const url = answer?.trim() || EXAMPLE;
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(
    `new cannot tell what '${url}' is`,
    /\.[cm]?js$/i.test(url)
      ? hintForValue("k6")
      : "a URL begins with http:// or https://; --from says what to translate, and -o writes the " +
        "workflow to a file",
  );
}

const EXAMPLE = "https://example.com";

function starter(url: string, out = "workflow.yml"): Made {
  const text = STARTER.replaceAll("workflow.yml", () => shellWord(out))
    .replace(EXAMPLE, () => url.replaceAll("'", "%27").replaceAll('"', "%22"));
  return { text, count: "2 jobs, 2 steps", variables: [], vars: [], warnings: [] };
}

/** The formats of files by the ends of their names. */
const BY_NAME: readonly (readonly [pattern: RegExp, format: string])[] = [
  [/^curl(?:\.exe)?(?:\s|$)|\.(?:sh|bash)$|^-$/, "curl"],
  [/\.har$/i, "har"],
  [/\.hurl$/i, "hurl"],
  [/\.(?:http|rest)$/i, "http"],
  [/\.bru$/i, "bruno"],
];

/** The format of an input, by its name or else by its content. */
async function recognize([first]: readonly string[], host: Host): Promise<string | undefined> {
  if (first === undefined) return undefined;
  const [, named] = BY_NAME.find(([pattern]) => pattern.test(first)) ?? [];
  if (named !== undefined) return named;
  if (/\.ya?ml$/i.test(first) && !await host.files.isFile(first).catch(() => false)) {
    const hint = `to write a new workflow to it: runner new -o ${shellWord(first)}`;
    throw new LoadError(`file '${first}' not found`, [], hint);
  }
  if (/\.(?:json|ya?ml)$/i.test(first)) {
    const value = await readYamlFile(await readTextFile(first, host, "file"));
    if (!isDict(value)) return undefined;
    const { log, info, item, opencollection } = value;
    if (opencollection !== undefined) return "bruno";
    if (info !== undefined && item !== undefined) return "postman";
    return log !== undefined ? "har" : undefined;
  }
  const entries = await host.files.entries(first).catch(() => []);
  return entries?.some(({ name }) => /^(?:bruno\.json|opencollection\.ya?ml)$/.test(name))
    ? "bruno"
    : undefined;
}

async function translate(
  importer: Importer,
  operands: readonly string[],
  out: string | undefined,
  host: Host,
): Promise<Made> {
  const input = await readInput(importer, operands, host);
  const translated = await translateInput(await importer.load(), input);
  const target = (out ?? "").replace(/[^/\\]*$/, "");
  const moved = moveFiles(translated, (path) => relativeTo(target, `${input.directory}/${path}`));
  // Before secrets are hidden, since a comment may have one.
  const { draft: clean, mistakes: [mistake] } = await commentMistakes(moved, host);
  const hidden = hideSecrets(clean, findDraftSecrets);
  const environment = Object.keys(hidden.environment);
  const read = new Set([...environment, ...variablesOf(hidden.draft)]);
  const { draft } = hidden;
  const unset = Object.keys(draft.vars).filter((name) => draft.vars[name] === null);
  const head = [
    `Made by "runner new --from ${importer.name}".`,
    ...read.size === 0 ? [] : [`Set in the environment: ${[...read].join(", ")}.`],
    ...unset.length === 0 ? [] : [`Set here or by --var: ${unset.join(", ")}.`],
  ];
  const count = countNotes(draft);
  const text = renderDraft(draft, head);
  return {
    text,
    count: countDraft(draft),
    variables: [...read],
    vars: unset,
    warnings: [
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
    // The value of a variable is not known here.
    const isMoved = /^(?:file|cookie_file|ca|cert|key|pfx)$/.test(key) &&
      typeof value === "string" && !/^(?:\{\{|[/\\]|[A-Za-z]:|-----)/.test(value);
    if (isMoved) return move(value);
    return typeof value !== "string" ? value : value.replace(
      /\b(read_(?:json|text))\('([^'\\/][^'\\]*)'\)/g,
      (_, name, path) => `${name}('${move(path)}')`,
    );
  };
  const jobs = draft.jobs.map((job) => ({
    ...job,
    keys: job.keys && moveIn(job.keys) as Dict,
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
  if (operands.length > 1 && (input !== "command" || path === "-")) {
    throw new UsageError(`new --from ${name} takes one ${input}, and '${operands[1]}' is another`);
  }
  if (input === "command" && path !== "-" && !await host.files.isFile(path).catch(() => false)) {
    return { words: operands, files: [], directory: "." };
  }
  // A single file of a collection may be given, too.
  const isDirectory = input === "directory" && !await host.files.isFile(path);
  const files = isDirectory ? await readDirectory(path, host) : [await readInputFile(path, host)];
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
#   runner workflow.yml         runs it; -v shows every request, command and result
name: My first workflow

# Values for the whole file. A name in capitals reads the environment, and ?? gives a default.
# To see a failure: runner --var most=0 workflow.yml
vars:
  url: "{{BASE_URL ?? '${EXAMPLE}'}}"
  most: 10

jobs:
  - name: Smoke test
    id: smoke
    steps:
      - name: the site answers
        id: answer
        uses: http
        with:
          get: "{{vars.url}}"
        # The step passes if its test is true: res is the response, rt the time that it took.
        test: res.code < 400 && rt.sec < vars.most
        # Until the test is true, it is tried again.
        retry: { max_attempts: 3, interval: 1s }
        # What later steps and jobs can read, here as outputs.answer.bytes.
        outputs:
          bytes: res.size

  - name: Release
    # It starts when that job has passed.
    needs: [smoke]
    steps:
      - name: say what came
        uses: echo
        with:
          message: "{{vars.url}} answered with {{outputs.answer.bytes}} bytes"
        test: res.message contains vars.url
`;

/** Rounds in which one mistake of each step is commented out: another may be its consequence. */
const MAX_ROUNDS = 20;

/** Parameters that a request cannot do without. */
const ESSENTIAL = /^(?:method|url|get|post|put|patch|delete|head|options)$/;

/**
 * Comments out what a workflow must not have: an invalid value such as a timeout, a part of
 * a test, or a whole step. `mistakes` are the errors that remain.
 */
async function commentMistakes(
  original: Draft,
  host: Host,
): Promise<{ readonly draft: Draft; readonly mistakes: readonly Problem[] }> {
  let draft = original;
  for (let round = 0;; round++) {
    const document = await parseDocument([{
      name: "workflow",
      text: renderDraft(draft, []),
    }]);
    const { problems } = await decodeDocument(decodeWorkflow, document, readLimits(host.env), host);
    const mistakes = problems.filter(({ severity }) => severity === "error");
    const jobs = [...draft.jobs];
    const seen = new Set<DraftStep>();
    // From the last step to the first, because a removal changes the indexes after it.
    for (const mistake of mistakes.toSorted((a, b) => Number(b.path[3]) - Number(a.path[3]))) {
      const [, job, , at] = mistake.path.map(Number);
      const step = draft.jobs[job!]?.steps[at!];
      if (mistake.path[2] !== "steps" || !step || seen.has(step)) continue;
      seen.add(step);
      jobs[job!] = withoutMistake(jobs[job!]!, mistake) ?? jobs[job!]!;
    }
    const isSame = jobs.every((job, index) => job === draft.jobs[index]);
    if (isSame || round === MAX_ROUNDS) return { draft, mistakes };
    draft = { ...draft, jobs };
  }
}

/** The job without what is wrong; undefined if nothing would be left. */
function withoutMistake(job: DraftJob, { path, range, message }: Problem): DraftJob | undefined {
  const at = Number(path[3]);
  const { data, notes } = job.steps[at]!;
  let inside = path.slice(4);
  while (valueAt(data as Dict, inside) === undefined) inside = inside.slice(0, -1);
  const [key, parameter] = inside;
  const put = (changed: Dict, note: string): DraftJob => ({
    ...job,
    steps: job.steps.with(at, { data: changed, notes: [...notes, `${note} (${message})`] }),
  });
  if (key === "test") {
    const tests = String(data.test).split("\n&& ");
    let end = 0;
    const wrong = tests.findIndex((test) => (end += test.length + 4) > (range?.start ?? 0));
    const test = tests.toSpliced(wrong, 1).join("\n&& ") || NO_FAILURE;
    return put({ ...data, test }, `the test ${tests[wrong]}`);
  }
  const isWhole = key === undefined || key === "with" && ESSENTIAL.test(String(parameter ?? "url"));
  if (!isWhole) return put(without(data, inside), inside.join("."));
  if (job.steps.length === 1) return undefined;
  const note = `the step "${data.name}": ${message}`;
  const steps = job.steps.toSpliced(at, 1);
  return { ...job, steps, notes: [...job.notes ?? [], ...notes, note] };
}

function without(data: Dict, path: readonly (string | number)[]): Dict {
  const copy = structuredClone(data);
  const around = valueAt(copy, path.slice(0, -1));
  if (Array.isArray(around)) around.splice(Number(path.at(-1)), 1);
  else delete (around as Record<string, Value>)[path.at(-1)!];
  return copy;
}

/** The number of parts that could not be translated. */
function countNotes({ notes, jobs }: Draft): number {
  const all = jobs.flatMap(({ notes = [], steps }) => [notes, ...steps.map(({ notes }) => notes)]);
  return [notes, ...all].flat().length;
}
