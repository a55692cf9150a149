/**
 * Checks the structure of src: a module imports only from its own directory and from the layers
 * listed for it here, and there is no import cycle. Types count too.
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
  openapi: ["base", "secrets", "expr"],
  importer: ["base", "secrets", "openapi"],
  schema: [...UP_TO_ACTION, "workflow"],
  suite: [...UP_TO_PLAN, "run", "report", "check"],
  spread: [...UP_TO_PLAN, "run", "report"],
  lsp: [...UP_TO_PLAN, "check", "suite"],
  library: [...UP_TO_PLAN, "run", "report", "check", "suite", "spread"],
  cli: [
    ...UP_TO_PLAN,
    ...["actions", "run", "report", "check", "suite", "spread", "dag", "openapi", "importer"],
    ...["schema", "lsp"],
  ],
};

/** Single files that a directory may import from another that it may not import otherwise. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  workflow: ["openapi/read/description.ts", "actions/registry.ts"],
  importer: ["expr/parse/scanner.ts"],
  report: [
    "run/event.ts",
    "run/cause_of_run.ts",
    "run/count_steps.ts",
    "run/step_trees.ts",
  ],
  library: ["cli/version.ts"],
  schema: ["suite/suite_fields.ts", "actions/plugin/plugin.ts"],
  lsp: ["actions/registry.ts", "actions/plugin/plugin.ts"],
};

/** Each library is imported in one file of ours; directories of one subject count as one. */
const ONE_DOOR = Object.keys(config.imports).filter((name) => !name.startsWith("@std/"));

interface Import {
  readonly specifier: string;
  readonly target: string | undefined;
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await Deno.readTextFile(file);
  const found: Import[] = [];
  for (
    const match of text.matchAll(
      /^\s*(?:import|export)\b[^"'`;]*?\bfrom\s*"([^"]+)"|^\s*import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm,
    )
  ) {
    const specifier = (match[1] ?? match[2] ?? match[3])!;
    const target = specifier.startsWith(".")
      ? new URL(specifier, `file:///${file}`).pathname.slice(1)
      : undefined;
    found.push({ specifier, target });
  }
  return found;
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
const doors = new Map<string, Set<string>>();
for (const file of await filesIn("src")) {
  const directory = file.split("/")[1]!;
  const allowed = LAYERS[directory];
  if (!allowed) problems.push(`${file}: the directory "${directory}" is not a layer`);
  const imports = await importsOf(file);
  graph.set(file, imports.flatMap(({ target }) => target ?? []));
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
  const lines = (await Deno.readTextFile(file)).split("\n").length;
  if (lines > 400) problems.push(`${file}: ${lines} lines; split files of more than 400 lines`);
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

if (problems.length > 0) {
  // deno-lint-ignore no-console
  console.error(problems.join("\n"));
  Deno.exit(1);
}
