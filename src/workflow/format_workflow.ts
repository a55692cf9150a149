import type { Action } from "../action/action.ts";
import type { Parameter } from "../action/parameter.ts";
import { ACTIONS } from "../actions/registry.ts";
import type { Source } from "../base/source.ts";
import { formatYaml } from "../base/yaml/format_yaml.ts";
import { parseYaml, YamlFault } from "../base/yaml/parse_yaml.ts";
import { buildTree, type YamlNode, type YamlScalar } from "../base/yaml/yaml_tree.ts";
import { spaceExpression, spaceTemplate } from "../expr/space_expression.ts";
import { JOB_FILE, WORKFLOW } from "./decode/key_tree.ts";
import { fieldsOf, type RuleForm } from "./names.ts";

/**
 * The text of a workflow, a job file or a suite, laid out as `formatYaml` does it, with the spaces
 * of expressions written anew in workflows and job files. Throws LoadError if it is not YAML.
 */
export async function formatWorkflow(file: Source, what?: string): Promise<string> {
  return await formatYaml({ ...file, text: await spaceExpressions(file.text) }, what);
}

async function spaceExpressions(text: string): Promise<string> {
  const root = rootOf(text);
  const keys = new Set(pairsOf(root).map(([key]) => key));
  const form = keys.has("jobs") ? WORKFLOW.form : keys.has("steps") ? JOB_FILE.form : undefined;
  if (!root || !form) return text;
  const scalars = [...expressionsIn(root, form, await actionsIn(root))]
    .sort((a, b) => a.scalar.start - b.scalar.start);
  let [spaced, from] = ["", 0];
  for (const { scalar, space } of scalars) {
    const quote = scalar.style === "plain" ? 0 : 1;
    const [start, end] = [scalar.start + quote, scalar.end - quote];
    const source = text.slice(start, end);
    // An escape in the text would have to be written again.
    if (source !== scalar.text || scalar.style === "block") continue;
    const changed = space(source);
    // In a text without quotes this would begin a comment.
    if (quote === 0 && changed.includes(" #") && !source.includes(" #")) continue;
    spaced += text.slice(from, start) + changed;
    from = end;
  }
  return spaced + text.slice(from);
}

function rootOf(text: string): YamlNode | undefined {
  try {
    const { events } = parseYaml([{ name: "", text }]);
    return buildTree(events, text).roots[0];
  } catch (error) {
    if (error instanceof YamlFault) return undefined;
    throw error;
  }
}

function pairsOf(node: YamlNode | undefined): readonly (readonly [string, YamlNode])[] {
  if (node?.kind !== "map") return [];
  return node.pairs.flatMap(({ key, value }) =>
    key.kind === "scalar" ? [[key.text, value] as const] : []
  );
}

type Actions = ReadonlyMap<string, Action>;

/** The actions that the steps of a file use. */
async function actionsIn(root: YamlNode): Promise<Actions> {
  const names = new Set<string>();
  const collect = (node: YamlNode): void => {
    if (node.kind === "list") node.items.forEach(({ value }) => collect(value));
    for (const [key, value] of pairsOf(node)) {
      if (key === "uses" && value.kind === "scalar") names.add(value.text);
      if (key === "defaults") pairsOf(value).forEach(([name]) => names.add(name));
      collect(value);
    }
  };
  collect(root);
  const used = ACTIONS.filter(({ name }) => names.has(name));
  const actions = await Promise.all(used.map(({ load }) => load()));
  return new Map(actions.map((action) => [action.name, action]));
}

/** A text that is an expression, or that has some. */
interface Spaced {
  readonly scalar: YamlScalar;
  readonly space: (source: string) => string;
}

type Form = RuleForm | Parameter;

function* expressionsIn(node: YamlNode, form: Form, actions: Actions): Generator<Spaced> {
  const { kind, item } = form.key ?? {};
  const isCondition = form.expression !== undefined || kind === "expression" ||
    kind === "assertions";
  if (node.kind === "scalar") {
    const hasTemplates = kind !== undefined || [form.type].flat().includes("duration");
    if (isCondition) yield { scalar: node, space: spaceExpression };
    else if (hasTemplates) yield { scalar: node, space: spaceTemplate };
    return;
  }
  if (node.kind === "list") {
    for (const { value } of node.items) {
      const inside = value.kind === "map" && item ? item : isCondition || !item ? form : item;
      yield* expressionsIn(value, inside, actions);
    }
    return;
  }
  const fields = fieldsOf(form);
  const uses = pairsOf(node).find(([key]) => key === "uses")?.[1];
  for (const [key, value] of pairsOf(node)) {
    if (kind === "outputs") yield* expressionsIn(value, CONDITION, actions);
    else if (key === "with" && uses?.kind === "scalar") {
      yield* parametersIn(value, actions.get(uses.text)?.parameters ?? []);
    } else if (key === "defaults") {
      for (const [name, parameters] of pairsOf(value)) {
        yield* parametersIn(parameters, actions.get(name)?.parameters ?? []);
      }
    } else if (fields) {
      const field = fields.find(({ name }) => name === key);
      if (field) yield* expressionsIn(value, field, actions);
    } else if (kind !== undefined && kind !== "names") {
      yield* expressionsIn(value, form, actions);
    }
  }
}

const CONDITION: Form = { type: "string", summary: "", key: { kind: "expression" } };

/** The parameters of an action: all texts in them are templates, but for conditions. */
function* parametersIn(node: YamlNode, parameters: readonly Parameter[]): Generator<Spaced> {
  if (node.kind === "scalar") yield { scalar: node, space: spaceTemplate };
  if (node.kind === "list") {
    for (const { value } of node.items) yield* parametersIn(value, parameters);
  }
  for (const [key, value] of pairsOf(node)) {
    const parameter = parameters.find(({ name }) => name === key);
    if (parameter?.expression && value.kind === "scalar") {
      yield { scalar: value, space: spaceExpression };
    } else yield* parametersIn(value, parameter?.fields ?? parameter?.items ?? []);
  }
}
