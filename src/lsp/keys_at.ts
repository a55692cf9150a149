import type { Action } from "../action/action.ts";
import type { Parameter } from "../action/parameter.ts";
import { SUITE } from "../suite/decode_suite.ts";
import { JOB_FILE, WORKFLOW } from "../workflow/decode/key_tree.ts";
import { fieldsOf, type RuleForm } from "../workflow/names.ts";
import { fieldOf, type FileKind, itemsOf, type Outline, scalarOf } from "./outline.ts";
import type { Path } from "../base/source.ts";
import type { YamlNode } from "../base/yaml/yaml_tree.ts";

/** The keys allowed at a place: those of the file format, or the parameters of an action. */
export type Keys =
  | {
    readonly kind: "fields";
    /** As messages name the map: `a step`. */
    readonly what: string;
    readonly fields: readonly Parameter[];
  }
  | {
    readonly kind: "parameters";
    readonly action: Action;
    readonly parameters: readonly Parameter[];
  }
  | { readonly kind: "actions" };

const ROOTS: Readonly<Record<FileKind, RuleForm>> = {
  workflow: WORKFLOW.form,
  "job file": JOB_FILE.form,
  suite: SUITE.form,
};

/** The keys of the mapping at a path; undefined where any may be written. */
export function keysAt(outline: Outline, path: Path, catalog: Catalog): Keys | undefined {
  let form: RuleForm | undefined = ROOTS[outline.kind];
  for (const [index, part] of path.entries()) {
    const inside = path.slice(index + 1);
    if (part === "with") return parametersAt(inside, actionAt(outline, path, catalog));
    if (part === "defaults") {
      if (inside.length === 0) return { kind: "actions" };
      return parametersAt(inside.slice(1), actionAt(outline, path, catalog));
    }
    form = typeof part === "number"
      ? form.key?.item
      : fieldsOf(form)?.find(({ name }) => name === part);
    if (!form) return undefined;
  }
  const fields = fieldsOf(form);
  return fields && { kind: "fields", what: (form.key?.item ?? form).key?.what ?? "", fields };
}

function parametersAt(path: Path, action: Action | undefined): Keys | undefined {
  let parameters = action?.parameters;
  for (const part of path) {
    if (typeof part === "number") continue;
    const parameter: Parameter | undefined = parameters?.find(({ name }) => name === part);
    parameters = parameter?.fields ?? parameter?.items;
  }
  return action && parameters ? { kind: "parameters", action, parameters } : undefined;
}

/** The step around a path: the path of it, or undefined. */
function stepPath(path: Path): Path | undefined {
  const index = path.findLastIndex((part, at) =>
    (part === "steps" || part === "finally") && typeof path[at + 1] === "number" && at <= 2
  );
  return index < 0 ? undefined : path.slice(0, index + 2);
}

/** The built-in actions, and the names of plugins. */
export interface Catalog {
  readonly actions: ReadonlyMap<string, Action>;
  readonly plugins: readonly string[];
}

export function nodeAt(
  root: YamlNode | undefined,
  path: Path,
): YamlNode | undefined {
  return path.reduce<YamlNode | undefined>(
    (node, part) => typeof part === "number" ? itemsOf(node)[part] : fieldOf(node, part),
    root,
  );
}

/** The action whose parameters are at a path: that of the step, or of the defaults of a job. */
function actionAt(
  { root }: Outline,
  path: Path,
  { actions }: Catalog,
): Action | undefined {
  const defaults = path.indexOf("defaults");
  const step = stepPath(path);
  if (step) {
    const uses = scalarOf(fieldOf(nodeAt(root, step), "uses"))?.text;
    return uses === undefined ? undefined : actions.get(uses);
  }
  return defaults < 0 ? undefined : actions.get(String(path[defaults + 1]));
}
