import { type Path, type Span, spanInFile } from "../base/source.ts";
import { positionsOf } from "../base/yaml/positions.ts";
import { valueAt } from "../base/value/value.ts";
import type { CheckedStep, CheckModel, Reading } from "../check/model.ts";
import { contentOf, itemsOf, type Outline, pairsOf, type Spot, type TextRange } from "./outline.ts";
import { join } from "@std/path/join";
import { isAbsolute } from "../workflow/read_files.ts";
import { type Catalog, keysAt } from "./keys_at.ts";
import { stepAt, varsAt } from "./members.ts";
import type { YamlNode, YamlScalar } from "../base/yaml/yaml_tree.ts";

/** Where the name at an offset is defined: in the file itself, or in a job file that it embeds. */
export function definitionAt(
  model: CheckModel,
  { path, isKey }: Spot,
  offset: number,
): Span | undefined {
  if (isKey) return undefined;
  const { document } = model;
  const embedder = stepAt(model, path);
  if (embedder && path.slice(embedder.draft.path.length).join(".") === "with.path") {
    const source = model.embeddedBy(embedder.draft)?.document.files[0];
    return source && { source, start: 0, end: 0 };
  }
  if (path.at(-2) === "needs") {
    return definitionOf(model, "needs", undefined, [String(valueAt(document.value, path))]);
  }
  const source = positionsOf(document).text(path);
  if (!source) return undefined;
  const at = path.join("\0");
  for (const { root, keys, step, path: readAt } of model.readings) {
    if (readAt.join("\0") !== at) continue;
    const index = keys.findIndex(({ start, end }) => {
      const span = spanInFile({ source, start, end });
      return span.start <= offset && offset <= span.end;
    });
    const names = keys.slice(0, index + 1).map(({ name }) => name);
    if (names.length > 0) return definitionOf(model, root, step, names);
  }
  return undefined;
}

function definitionOf(
  model: CheckModel,
  root: Reading["root"],
  step: CheckedStep | undefined,
  [first, second, third]: readonly (string | undefined)[],
): Span | undefined {
  const { document, jobs, stepsById, publishers } = model;
  const locate = (path: Path) => positionsOf(document).locate(path, "key");
  const idOf = ({ path }: { readonly path: Path }) => positionsOf(document).locate([...path, "id"]);
  if (first === undefined) return undefined;
  switch (root) {
    case "vars": {
      const found = varsAt({ document, step, path: [] }).get(first);
      return found && locate(found);
    }
    case "outputs": {
      const byId = stepsById.get(first)?.[0];
      const [owner, name] = byId ? [byId, second] : [publishers.get(first)?.[0], first];
      if (!owner) return undefined;
      return name === undefined
        ? idOf(owner.draft)
        : locate([...owner.draft.path, "outputs", name]);
    }
    case "needs": {
      const job = jobs.find(({ draft }) => draft.id === first);
      return job && idOf(job.draft);
    }
    case "res": {
      const embedded = step && model.embeddedBy(step.draft);
      return embedded && first === "outputs"
        ? definitionOf(embedded, "outputs", undefined, [second, third])
        : undefined;
    }
    default:
      return undefined;
  }
}

/** A part of a file that names another file. */
interface FileLink extends TextRange {
  readonly path: string;
}

/** The files that keys, parameters and the `$ref`s of an OpenAPI description name. */
export function fileLinksIn(
  outline: Outline,
  from: string,
  catalog: Catalog,
): readonly FileLink[] {
  const links: FileLink[] = [];
  eachScalar(outline.root, (scalar, path) => {
    const { text } = scalar;
    if (text === "" || /\{\{|\n|:\/\//.test(text)) return;
    const key = path.findLast((part) => typeof part === "string");
    const isReference = key === "$ref";
    if (!isReference && !namesFile(outline, path, catalog)) return;
    const name = isReference ? text.replace(/#.*$/, "") : text;
    if (name === "") return;
    const target = isAbsolute(name) ? join(name) : join(from, "..", name);
    const { start } = contentOf(scalar);
    links.push({ path: target, start, end: start + name.length });
  });
  return links;
}

/** Visits all texts in a node but for keys, each with its path. */
function eachScalar(
  node: YamlNode | undefined,
  visit: (scalar: YamlScalar, path: Path) => void,
  path: Path = [],
): void {
  if (node?.kind === "scalar") visit(node, path);
  for (const [index, item] of itemsOf(node).entries()) eachScalar(item, visit, [...path, index]);
  for (const { key, value } of pairsOf(node)) eachScalar(value, visit, [...path, key.text]);
}

/** Whether the value at a path is the name of a file. */
export function namesFile(
  outline: Outline,
  path: Path,
  catalog: Catalog,
): "any" | "yaml" | undefined {
  const key = path.at(-1);
  if (typeof key === "number") {
    return path.length === 2 && outline.kind === "suite" && path[0] === "workflows"
      ? "yaml"
      : undefined;
  }
  const keys = keysAt(outline, path.slice(0, -1), catalog);
  if (keys?.kind === "parameters") {
    return keys.parameters.find(({ name }) => name === key)?.namesFile;
  }
  if (keys?.kind !== "fields" || key === undefined) return undefined;
  return keys.fields.find(({ name }) => name === key)?.namesFile;
}
