import type { Node } from "../../expr/parse/ast.ts";
import { checkExpression, checkTemplate } from "../../expr/check_expression.ts";
import { parseData, templatesIn } from "../../expr/parse/parse_data.ts";
import type { Expression, Template } from "../../expr/expression.ts";
import { parseExpression, parseTemplate } from "../../expr/parse/parse.ts";
import { loadRegexEngine } from "../../expr/evaluate/regex.ts";
import { holdsTemplate, plainTemplate } from "../../expr/template/template_data.ts";
import { callsToPrepare, loadersOf } from "../../expr/functions/registry.ts";
import type { FilesOfCalls } from "../../expr/functions/function.ts";
import { usesRegex } from "../../expr/parse/tree.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { checkName } from "./check_name.ts";
import type { ExpressionReader, ExpressionUse } from "./expression_reader.ts";
import type { Dict } from "../../base/value/value.ts";
import { type Reference, referencesIn } from "../../expr/references.ts";
import { markOmittedNil } from "./mark_omitted_nil.ts";
import type { NameRule } from "../model.ts";
import { addError, MOST_PROBLEMS, type Problem } from "../problem.ts";

/** A reader that adds what it finds to the problems. Each text is parsed and checked once. */
export function makeExpressionReader(problems: Problem[]): ExpressionReader {
  const uses: ExpressionUse[] = [];
  const parseOnce = {
    expression: remember(orError(parseExpression)),
    template: remember(orError(parseTemplate)),
  };
  const use = <T extends Expression | Template>(tree: T, path: Path, names: NameRule): T => {
    if (hasNodes(tree)) uses.push({ tree, path, names });
    return tree;
  };
  return {
    uses,
    expression(text, path, names) {
      const parsed = namesFile(text) ? orError(parseExpression)(text) : parseOnce.expression(text);
      if (!(parsed instanceof ExpressionError)) return use(parsed, path, names);
      reportError(problems, parsed, path);
      return undefined;
    },
    template(text, path, names) {
      if (!holdsTemplate(text)) return plainTemplate(text);
      const parsed = namesFile(text) ? orError(parseTemplate)(text) : parseOnce.template(text);
      if (!(parsed instanceof ExpressionError)) return use(parsed, path, names);
      reportError(problems, parsed, path);
      return undefined;
    },
    data(value, path, names, action) {
      const { template, errors } = parseData(value);
      for (const error of errors) reportError(problems, error, path);
      for (const { template: tree, path: inside } of templatesIn(template)) {
        use(tree, [...path, ...inside], names);
      }
      return action?.omitsNilIn
        ? markOmittedNil(template, action, action.omitsNilIn(value as Dict))
        : template;
    },
    async check(vars, filesAt) {
      const trees = new Set(uses.map(({ tree }) => tree));
      if ([...trees].some((tree) => nodesOf(tree).some(usesRegex))) await loadRegexEngine();
      const loaders = new Set([...trees].flatMap((tree) => nodesOf(tree).flatMap(loadersOf)));
      for (const load of loaders) await load();
      const mistakes = new Map<Expression | Template, readonly ExpressionError[]>();
      for (const { tree, path } of uses) {
        if (!mistakes.has(tree)) mistakes.set(tree, await prepareCalls(tree, filesAt(path)));
      }
      const checkOnce = remember(checkTree);
      let left = MOST_PROBLEMS;
      for (const { tree, path, names } of uses) {
        if (left < 0) break;
        const { errors, references } = checkOnce(tree);
        for (const error of [...errors, ...mistakes.get(tree) ?? []]) {
          reportError(problems, error, path);
          left--;
        }
        for (const reference of references) {
          checkName(problems, reference, tree.source, path, names, vars);
        }
      }
    },
  };
}

/** Prepares the calls of an expression; gives what is wrong with them. */
async function prepareCalls(
  tree: Expression | Template,
  files: FilesOfCalls,
): Promise<readonly ExpressionError[]> {
  const errors: ExpressionError[] = [];
  for (const [call, prepare] of nodesOf(tree).flatMap(callsToPrepare)) {
    const mistake = await prepare(call, files);
    if (!mistake) continue;
    const { node: { start, end }, message, hint } = mistake;
    errors.push(new ExpressionError(message, start, end, hint));
  }
  return errors;
}

/** Whether a text may name a file, which is relative to the place of the text. */
function namesFile(text: string): boolean {
  return text.includes("schema");
}

/** The same function, which answers a question that it has heard before from memory. */
function remember<K, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, value = compute(key));
    return value;
  };
}

/** Parses, and answers with the error instead of throwing it. */
function orError<T>(parse: (text: string) => T): (text: string) => T | ExpressionError {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof ExpressionError) return error;
      throw error;
    }
  };
}

function nodesOf(tree: Expression | Template): readonly Node[] {
  return "node" in tree ? [tree.node] : tree.parts.filter((part) => typeof part !== "string");
}

function hasNodes(tree: Expression | Template): boolean {
  return "node" in tree || tree.parts.some((part) => typeof part !== "string");
}

interface Checked {
  readonly errors: readonly ExpressionError[];
  readonly references: readonly Reference[];
}

function checkTree(tree: Expression | Template): Checked {
  const errors = "node" in tree ? checkExpression(tree) : checkTemplate(tree);
  return { errors, references: nodesOf(tree).flatMap(referencesIn) };
}

function reportError(problems: Problem[], error: ExpressionError, path: Path): void {
  const { message, start, end, hint } = error;
  const details = { range: { start, end }, ...hint === undefined ? {} : { hint } };
  addError(problems, "expression", [...path, ...error.path], message, details);
}
