/**
 * Checks the structure of src: a module imports only from its own directory and from the layers
 * listed for it here, and there is no import cycle. Types count too. Prints how much a run of
 * `hello` loads, how large the kernel is and how many exports have one user, and bounds these.
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };

/** The kernel imports the kernel alone, but for the files in `DOORS`. */
const UP_TO_ACTION = ["base", "secrets", "host", "expr", "action"];
const UP_TO_PLAN = [...UP_TO_ACTION, "workflow", "plan"];

/** The directories from which each directory may import. src/README.md has the same table. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  secrets: ["base"],
  host: [],
  expr: ["base"],
  action: ["base", "secrets", "host", "expr"],
  actions: ["base", "secrets", "host", "expr", "action", "openapi"],
  workflow: UP_TO_ACTION,
  plan: [...UP_TO_ACTION, "workflow"],
  run: UP_TO_PLAN,
  report: ["base", "secrets", "host"],
  check: UP_TO_PLAN,
  dag: UP_TO_PLAN,
  draft: ["base", "secrets"],
  openapi: ["base", "secrets", "expr", "draft"],
  importer: ["base", "secrets", "draft"],
  schema: [...UP_TO_ACTION, "workflow"],
  suite: [...UP_TO_PLAN, "run", "report", "check"],
  spread: [...UP_TO_PLAN, "run", "report", "suite"],
  lsp: [...UP_TO_PLAN, "check", "suite"],
  library: [...UP_TO_PLAN, "run", "report", "check", "suite", "spread"],
  cli: [
    ...UP_TO_PLAN,
    ...["actions", "run", "report", "check", "suite", "spread", "dag", "draft", "openapi"],
    ...["importer", "schema", "lsp"],
  ],
};

/** Single files that a directory may import from another that it may not import otherwise. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  workflow: ["openapi/read/description.ts", "actions/registry.ts"],
  importer: ["expr/parse/tokenizer.ts"],
  report: [
    "run/event.ts",
    "run/count_steps.ts",
    "run/failure/summarize_failure.ts",
    "run/load/load_stats.ts",
    "run/step_trees.ts",
  ],
  library: ["cli/version.ts"],
  schema: ["suite/decode_suite.ts", "actions/plugin/plugin.ts"],
  lsp: ["actions/registry.ts", "actions/plugin/plugin.ts"],
};

/** Each library is imported in one file of ours; directories of one subject count as one. */
const ONE_DOOR = Object.keys(config.imports).filter((name) => !name.startsWith("@std/"));

/** What the program starts with, and what a run of `hello` imports when it gets there. */
const HELLO = [
  "src/cli/main.ts",
  "src/cli/run/run_command.ts",
  "src/cli/run/run_reported.ts",
  "src/actions/hello.ts",
];

/** What a newcomer reads to understand a run: these directories and files, but for `APART`. */
const KERNEL = /^src\/(?:base|host|secrets|expr|action|workflow|plan|run|report\/text)\//;
const APART = /^src\/(?:expr\/functions|run\/load|run\/snapshots)\//;

/** The largest allowed measures: lower them after each change that makes room. */
const BOUNDS = {
  "files that hello loads": 107,
  "lines that hello loads": 18_380,
  "lines of the kernel": 30_340,
  "exports that one other file uses": 1_060,
};

interface Import {
  readonly specifier: string;
  readonly target: string | undefined;
  /** The imported names, as they are called where they are from. */
  readonly names: readonly string[];
  /** Whether it is loaded with the module, and not later or for its types alone. */
  readonly isStatic: boolean;
}

function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  for (
    const match of text.matchAll(
      /^\s*(?:import|export)\b([^"'`;]*?)\bfrom\s*"([^"]+)"|^\s*import\s*"([^"]+)"|(?:const\s*\{([^}]*)\}\s*=\s*)?(?:\(?await\s+)?\bimport\(\s*"([^"]+)"\s*\)(?:\)\s*\.\s*(\w+))?/gm,
    )
  ) {
    const [, clause = "", from, alone, taken = "", lazy, member] = match;
    const specifier = (from ?? alone ?? lazy)!;
    const target = specifier.startsWith(".")
      ? new URL(specifier, `file:///${file}`).pathname.slice(1)
      : undefined;
    const parts = `${/\{([^}]*)\}/.exec(clause)?.[1] ?? ""},${taken},${member ?? ""}`.split(",")
      .map((part) => part.trim()).filter((part) => part !== "");
    const names = parts.map((part) => part.replace(/^type\s+/, "").split(/\s+as\s+|:/)[0]!.trim());
    const isForTypes = /^\s*type\b/.test(clause) ||
      parts.length > 0 && parts.every((part) => /^type\s/.test(part));
    found.push({ specifier, target, names, isStatic: lazy === undefined && !isForTypes });
  }
  return found;
}

/** The names that a module exports. */
function exportsOf(text: string): string[] {
  const declared =
    /^export (?:async )?(?:function\*?|const|let|class|abstract class|interface|type|enum) (\w+)/gm;
  return [...text.matchAll(declared)].map(([, name]) => name!);
}

async function filesIn(directory: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory) files.push(...await filesIn(path));
    else if (path.endsWith(".ts")) files.push(path);
  }
  return files.sort();
}

/** A cycle in the imports, if there is one. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const found = visit(next, [...trail, file]);
      if (found) return found;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const found = visit(file, []);
    if (found) return found;
  }
  return undefined;
}

const problems: string[] = [];
const graph = new Map<string, string[]>();
const loaded = new Map<string, string[]>();
const lines = new Map<string, number>();
const exported = new Map<string, string[]>();
const users = new Map<string, Set<string>>();
const doors = new Map<string, Set<string>>();
for (const file of await filesIn("src")) {
  const directory = file.split("/")[1]!;
  const allowed = LAYERS[directory];
  if (!allowed) problems.push(`${file}: the directory "${directory}" is not a layer`);
  const text = await Deno.readTextFile(file);
  const imports = importsOf(file, text);
  graph.set(file, imports.flatMap(({ target }) => target ?? []));
  loaded.set(file, imports.flatMap(({ target, isStatic }) => isStatic && target || []));
  lines.set(file, text.split("\n").length - 1);
  exported.set(file, exportsOf(text));
  for (const { target, names } of imports) {
    for (const name of names) {
      const key = `${target} ${name}`;
      users.set(key, (users.get(key) ?? new Set()).add(file));
    }
  }
  for (const { specifier, target } of imports) {
    if (!target) {
      if (ONE_DOOR.includes(specifier)) {
        doors.set(specifier, (doors.get(specifier) ?? new Set()).add(file));
      }
      continue;
    }
    const [top, to = ""] = target.split("/");
    if (top !== "src") {
      problems.push(`${file}: imports ${target}, outside src`);
    } else if (
      to !== directory && !allowed?.includes(to) &&
      !DOORS[directory]?.includes(target.slice("src/".length))
    ) {
      problems.push(`${file}: ${directory} may not import ${target}`);
    }
  }
}
for (const [specifier, files] of doors) {
  if (files.size > 1) {
    problems.push(
      `"${specifier}" is imported in ${[...files].join(" and ")}: import it in one file only`,
    );
  }
}
const found = findCycle(graph);
if (found) problems.push(`import cycle: ${found.join(" → ")}`);

/** The files that are loaded with these. */
function closure(roots: readonly string[]): string[] {
  const all = new Set(roots);
  for (const file of all) for (const next of loaded.get(file) ?? []) all.add(next);
  return [...all];
}

const linesOf = (files: readonly string[]) =>
  files.reduce((sum, file) => sum + (lines.get(file) ?? 0), 0);
const hello = closure(HELLO);
const kernel = [...lines.keys()].filter((file) => KERNEL.test(file) && !APART.test(file));
const usedOnce = [...exported].flatMap(([file, names]) =>
  names.filter((name) => users.get(`${file} ${name}`)?.size === 1)
);
const measures: Readonly<Record<keyof typeof BOUNDS, number>> = {
  "files that hello loads": hello.length,
  "lines that hello loads": linesOf(hello),
  "lines of the kernel": linesOf(kernel),
  "exports that one other file uses": usedOnce.length,
};
for (const name of Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]) {
  const text = `${name}: ${measures[name]} (at most ${BOUNDS[name]})`;
  // deno-lint-ignore no-console
  console.log(text);
  if (measures[name] > BOUNDS[name]) problems.push(text);
}
if (Deno.args.includes("--list")) {
  // deno-lint-ignore no-console
  for (const file of hello.sort()) console.log(`${`${lines.get(file)}`.padStart(5)} ${file}`);
}

if (problems.length > 0) {
  // deno-lint-ignore no-console
  console.error(problems.join("\n"));
  Deno.exit(1);
}
