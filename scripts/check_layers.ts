/**
 * Checks the structure of src: a module imports from its own folder or from the layers that are
 * listed for it here, and no imports go in a circle. Types count too.
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };

const UP_TO_ACTION = ["source", "value", "host", "expr", "action"];
const UP_TO_PLAN = [...UP_TO_ACTION, "workflow", "plan"];

/** Which folders each folder may import from. src/README.md draws the same picture. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  source: [],
  value: [],
  host: [],
  expr: ["source", "value"],
  action: ["source", "value", "host", "expr"],
  workflow: UP_TO_ACTION,
  plan: [...UP_TO_ACTION, "workflow"],
  run: UP_TO_PLAN,
  report: ["source", "value", "host"],
  check: UP_TO_PLAN,
  dag: UP_TO_PLAN,
  openapi: ["source", "value", "host"],
  schema: [...UP_TO_ACTION, "workflow"],
  library: [...UP_TO_PLAN, "run", "report", "check"],
  cli: [...UP_TO_PLAN, "run", "report", "check", "dag", "openapi", "schema"],
};

/** Single files that a folder may use of a folder that is closed to it otherwise. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  report: ["run/event.ts"],
  library: ["cli/version.ts"],
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

async function filesIn(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) files.push(...await filesIn(path));
    else if (path.endsWith(".ts")) files.push(path);
  }
  return files.sort();
}

/** A way round in the imports, or nothing. */
function circle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
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
  const folder = file.split("/")[1]!;
  const allowed = LAYERS[folder];
  if (!allowed) problems.push(`${file}: the folder "${folder}" is no layer`);
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
      to !== folder && !allowed?.includes(to) &&
      !DOORS[folder]?.includes(target.slice("src/".length))
    ) {
      problems.push(`${file}: ${folder} may not import ${target}`);
    }
  }
  const lines = (await Deno.readTextFile(file)).split("\n").length;
  if (lines > 400) problems.push(`${file}: ${lines} lines; more than 400 are two subjects`);
}
for (const [specifier, files] of doors) {
  if (files.size > 1) {
    problems.push(`"${specifier}" is imported in ${[...files].join(" and ")}: one door is enough`);
  }
}
const found = circle(graph);
if (found) problems.push(`imports go in a circle: ${found.join(" -> ")}`);

if (problems.length > 0) {
  // deno-lint-ignore no-console
  console.error(problems.join("\n"));
  Deno.exit(1);
}
