import type { Identifier, Node } from "../../expr/parse/ast.ts";
import { checkExpression, checkTemplate } from "../../expr/check.ts";
import { parseData, templatesIn } from "../../expr/parse/parse_data.ts";
import type { Expression, Template } from "../../expr/expression.ts";
import { parseExpression, parseTemplate } from "../../expr/parse/parse.ts";
import { loadRegexEngine } from "../../expr/evaluate/regex.ts";
import { holdsTemplate, plainTemplate } from "../../expr/template/template_data.ts";
import { loadersOf } from "../../expr/functions/registry.ts";
import { usesRegex } from "../../expr/parse/tree.ts";
import { ExpressionError } from "../../source/errors.ts";
import type { Path } from "../../source/source.ts";
import { checkName } from "./check_name.ts";
import type { ExpressionReader, ExpressionUse } from "./expression_reader.ts";
import type { Dict } from "../../value/value.ts";
import { freeNames } from "../../expr/references.ts";
import { markOmittedNil } from "./mark_omitted_nil.ts";
import type { NameRule } from "../model.ts";
import { addError, type Problem } from "../problem.ts";

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
      const parsed = parseOnce.expression(text);
      if (!(parsed instanceof ExpressionError)) return use(parsed, path, names);
      tellError(problems, parsed, path);
      return undefined;
    },
    template(text, path, names) {
      if (!holdsTemplate(text)) return plainTemplate(text);
      const parsed = parseOnce.template(text);
      if (!(parsed instanceof ExpressionError)) return use(parsed, path, names);
      tellError(problems, parsed, path);
      return undefined;
    },
    data(value, path, names, action) {
      const { template, errors } = parseData(value);
      for (const error of errors) tellError(problems, error, path);
      for (const { template: tree, path: inside } of templatesIn(template)) {
        use(tree, [...path, ...inside], names);
      }
      return action?.omitsNilIn
        ? markOmittedNil(template, action, action.omitsNilIn(value as Dict))
        : template;
    },
    async check(vars) {
      const trees = new Set(uses.map(({ tree }) => tree));
      if ([...trees].some((tree) => nodesOf(tree).some(usesRegex))) await loadRegexEngine();
      const loaders = new Set([...trees].flatMap((tree) => nodesOf(tree).flatMap(loadersOf)));
      for (const load of loaders) await load();
      const checkOnce = remember(checkTree);
      for (const { tree, path, names } of uses) {
        const { errors, identifiers } = checkOnce(tree);
        for (const error of errors) tellError(problems, error, path);
        for (const identifier of identifiers) {
          checkName(problems, identifier, tree.source, path, names, vars);
        }
      }
    },
  };
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
  readonly identifiers: readonly Identifier[];
}

function checkTree(tree: Expression | Template): Checked {
  const errors = "node" in tree ? checkExpression(tree) : checkTemplate(tree);
  return { errors, identifiers: nodesOf(tree).flatMap(freeNames) };
}

function tellError(problems: Problem[], error: ExpressionError, path: Path): void {
  const { message, start, end, hint } = error;
  const details = { range: { start, end }, ...hint === undefined ? {} : { hint } };
  addError(problems, "expression", [...path, ...error.path], message, details);
}
