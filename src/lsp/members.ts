import type { ResponseField } from "../action/action.ts";
import type { Path } from "../base/source.ts";
import { isDict, listIn, typeName, valueAt } from "../base/value/value.ts";
import { printYaml } from "../base/yaml/print_yaml.ts";
import type { CheckedJob, CheckedStep, CheckModel } from "../check/model.ts";
import type { NameRule } from "../expr/expression.ts";
import { JOB_MATRIX } from "../workflow/decode/decode_matrix.ts";
import { NAMES, nameText, sentence, typeOfField } from "../workflow/names.ts";
import { ALL } from "../workflow/step_facts.ts";
import type { Checked } from "./diagnose.ts";

/** A name, or a part of a value, that an expression can read. */
interface Member {
  readonly name: string;
  /** Its type, if known. */
  readonly type?: string;
  /** A description in Markdown. */
  readonly text?: string;
  /** Its value in the file, as YAML. */
  readonly written?: string;
}

/** What is around a place of a file, and what an expression there sees. */
export interface ExpressionContext extends Pick<Checked, "document" | "model"> {
  readonly path: Path;
  readonly job?: CheckedJob;
  readonly step?: CheckedStep;
  /** The names that an expression at the place sees; undefined if there is none. */
  readonly names?: NameRule;
  /** Whether the whole text is the expression, rather than what it has in braces. */
  readonly isExpression: boolean;
}

/** What is around a path of a file that was checked. */
export function contextAt({ document, model, uses = [] }: Checked, path: Path): ExpressionContext {
  const at = path.join("\0");
  const use = uses.find((one) => one.path.join("\0") === at);
  return {
    ...{ document, model, path, names: use?.names },
    job: model?.jobs.find(({ draft }) => isAround(draft.path, path)),
    step: model && stepAt(model, path),
    isExpression: use !== undefined && "node" in use.tree,
  };
}

/** The step that a path leads into. */
export function stepAt({ steps }: CheckModel, path: Path): CheckedStep | undefined {
  return steps.find(({ draft }) => isAround(draft.path, path));
}

function isAround(outer: Path, path: Path): boolean {
  return outer.every((part, index) => path[index] === part);
}

/** A member in Markdown; `owner` is the expression that it is a part of. */
export function describeMember({ name, type, text, written }: Member, owner = ""): string {
  const whole = owner === "" ? name : `${owner}.${name}`;
  return [
    `\`${whole}\`${type === undefined ? "" : `: ${type}`}`,
    text,
    written === undefined ? undefined : `\`\`\`yaml\n${written}\n\`\`\``,
  ].filter((part) => part).join("\n\n");
}

const CHAIN_BEFORE =
  /(?<![\w.$])([A-Za-z_$][\w$]*)((?:\s*\??\.\s*[A-Za-z_]\w*|\[\s*\\?["'][^"'\\\]]+\\?["']\s*\])*)\s*\??\.\s*$/;
const LONGEST_CHAIN = 1000;
const KEY = /\.\s*([A-Za-z_]\w*)|\[\s*\\?["']([^"'\\\]]+)/g;

/** The names that a text ends with, up to its last dot: `res`, `body` of `1 + res.body.`. */
export function chainBefore(text: string): readonly string[] | undefined {
  const [, root, rest = ""] = CHAIN_BEFORE.exec(text.slice(-LONGEST_CHAIN)) ?? [];
  if (root === undefined) return undefined;
  return [root, ...[...rest.matchAll(KEY)].map(([, name, key]) => (name ?? key)!)];
}

/** What an expression can read: the names that it sees, or the parts of the value of a chain. */
export function membersOf(
  chain: readonly string[] | undefined,
  context: ExpressionContext,
): readonly Member[] {
  const { document, model, job, step, names } = context;
  if (!chain) return (names?.known ?? []).map((name) => memberOf([name]));
  const [root, first, ...rest] = chain;
  const isWhole = first === undefined;
  switch (root) {
    case "vars": {
      const vars = varsAt(context);
      const at = isWhole ? undefined : vars.get(first);
      const inside = at && valueAt(document?.value, [...at, ...rest]);
      if (!isWhole) return isDict(inside) ? Object.entries(inside).map(written) : [];
      return [...vars].map(([name, path]) => written([name, valueAt(document?.value, path)]));
    }
    case "outputs":
      return model && rest.length === 0 ? outputsOf(first, model, job) : [];
    case "needs":
      if (isWhole) {
        return (job?.draft.needs ?? []).map((name) => ({ name, type: "map", text: "A job." }));
      }
      if (rest.length > 0) return [];
      return [
        "state",
        ...hasMatrix(model?.jobs.find(({ draft }) => draft.id === first)) ? [ALL] : [],
      ]
        .map((name) => memberOf(["needs", first, name]));
    case "matrix":
      return isWhole ? matrixAt(context) : [];
    case "res": {
      const embedded = first === "outputs" && step && model?.embeddedBy(step.draft);
      if (embedded && rest.length < 2) return outputsOf(rest[0], embedded, embedded.jobs[0]);
      return isWhole ? listFields(step?.draft.action?.responseFields) : [];
    }
    case "message":
      return isWhole ? fieldsOfMessage(context) : [];
    default: {
      const parts = names?.members?.[chain.join(".")] ??
        (isWhole ? Object.keys(NAMES).flatMap(partBelow(`${root}.`)) : []);
      return parts.map((name) => memberOf([...chain, name]));
    }
  }
}

function partBelow(prefix: string) {
  return (name: string) =>
    name.startsWith(prefix) && !name.includes("*") ? name.slice(prefix.length) : [];
}

function memberOf(path: readonly string[]): Member {
  const found = nameText(path);
  const name = path.at(-1)!;
  return found ? { name, type: found.type, text: `${sentence(found.summary)}.` } : { name };
}

/** The fields of a message: of the steps that receive names, or of the step itself. */
function fieldsOfMessage({ model, step }: ExpressionContext): readonly Member[] {
  const { action } = step?.draft ?? {};
  if (!action?.resultNames) return listFields(action?.messageFields);
  const ids = [valueAt(step!.raw, ["with", "from"])].flat();
  const fields = ids.flatMap((id) =>
    model?.stepsById.get(String(id))?.[0]?.draft.action?.messageFields ?? []
  );
  return [...new Map(listFields(fields).map((one) => [one.name, one])).values()];
}

function listFields(fields: readonly ResponseField[] = []): readonly Member[] {
  return fields.map((field) => ({
    name: field.name,
    type: typeOfField(field),
    text: `${sentence(field.summary)}.`,
  }));
}

/** The outputs of a step, or those of a file by their names and steps, as `reader` sees them. */
function outputsOf(
  id: string | undefined,
  { stepsById, publishers }: CheckModel,
  reader: CheckedJob | undefined,
): readonly Member[] {
  if (id === undefined) {
    const steps = [...stepsById.values()].flatMap(([step]) =>
      step!.published?.size ? describePublisher(step!) : []
    );
    return [...steps, ...[...publishers].map(([name, [step]]) => outputOf(step!, name))];
  }
  const owner = stepsById.get(id)?.[0];
  if (!owner) return [];
  const isOfAll = owner.job !== reader && hasMatrix(owner.job);
  const names = isOfAll ? [] : owner.published ?? [];
  const isList = isOfAll || owner.draft.iteration !== undefined;
  return [...new Set([...names, ...isList ? [ALL] : []])].map((name) => outputOf(owner, name));
}

function describePublisher({ draft: { id, action } }: CheckedStep): Member {
  const text = `The outputs of this step${action ? `, which uses ${action.name}` : ""}.`;
  return { name: id!, type: "map", text };
}

/** An output; one that is a field of `res` has its type. */
export function outputOf({ draft: { id, action }, raw }: CheckedStep, name: string): Member {
  const value = valueAt(raw, ["outputs", name]);
  if (value === undefined) return memberOf(["outputs", id!, name]);
  const [, read] = /^\s*res\.(\w+)\s*$/.exec(String(value)) ?? [];
  const field = listFields(action?.responseFields).find((one) => one.name === read);
  const what = `An output of the step \`${id}\`.`;
  return {
    ...written([name, value]),
    type: field?.type === "any" ? undefined : field?.type,
    text: field ? `${what} ${field.text}` : what,
  };
}

/** Where a step, or an entry of a suite, defines vars. */
const OWN_VARS: readonly Path[] = [
  ...[["iteration", 0], ["iteration", "list", 0], ["iteration", "matrix"], ["vars"]],
];

/** The vars that a place sees, each with the path of its value. */
export function varsAt({ document, path, step }: Omit<ExpressionContext, "isExpression">) {
  const owner = step?.draft.path ?? path.slice(0, 2);
  return definedIn(document?.value, [["vars"], ...OWN_VARS.map((own) => [...owner, ...own])]);
}

function matrixAt({ document, path, job }: ExpressionContext): readonly Member[] {
  const at = [...job?.draft.path ?? path.slice(0, 2), "matrix"];
  const value = document?.value;
  const included = listIn(valueAt(value, at), "include").map((
    _,
    index,
  ) => [...at, "include", index]);
  return [...definedIn(value, [...included.toReversed(), at])]
    .filter(([name]) => !Object.hasOwn(JOB_MATRIX, name))
    .map(([name, path]) => ({
      ...written([name, valueAt(value, path)]),
      ...{ type: undefined, text: "A value of the matrix." },
    }));
}

/** The keys of the maps at some paths, each with its own path; the last one counts. */
function definedIn(value: unknown, paths: readonly Path[]): ReadonlyMap<string, Path> {
  return new Map(paths.flatMap((path) => {
    const map = valueAt(value, path);
    return isDict(map) ? Object.keys(map).map((name) => [name, [...path, name]] as const) : [];
  }));
}

/** A value that is written in the file, with its type unless a template gives it. */
function written([name, value]: readonly [string, unknown]): Member {
  const isKnown = value !== null && !(typeof value === "string" && value.includes("{{"));
  return {
    name,
    type: isKnown ? typeOfField({ type: typeName(value) }) : undefined,
    written: typeof value === "string" ? value : printYaml(value).trimEnd(),
  };
}

function hasMatrix(job: CheckedJob | undefined): boolean {
  return job?.draft.matrix !== undefined;
}
