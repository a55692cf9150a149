import { formatValue } from "../../base/value/format_value.ts";
import type { Value } from "../../base/value/value.ts";
import type { Node } from "../parse/ast.ts";
import { childrenOf } from "../parse/tree.ts";
import { evaluateNode, evaluateResult } from "../evaluate/evaluate.ts";
import { Evaluation } from "../evaluate/evaluation.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { ParsedTemplate, RenderOptions, Scope } from "../expression.ts";
import { isRead, LIMITS, limitValue } from "../limits.ts";
import { isOfMissing, locateFault, missingHint } from "../evaluate/locate_fault.ts";
import { neededIn } from "../references.ts";

/** The value of a template that is one expression, whatever its type. */
export function renderOnly(
  only: Node,
  source: string,
  scope: Scope,
  { nilOmits }: RenderOptions = {},
): Value {
  const run = new Evaluation(scope);
  const value = evaluateResult(only, run, source);
  if (value === null && nilOmits !== undefined) throw nilError(only, run, source, nilOmits);
  return value;
}

/** A template as text. nil in it would leave a gap, and is an error. */
export function renderText(
  template: ParsedTemplate,
  scope: Scope,
  { display = false, nilOmits }: RenderOptions = {},
): string {
  const [first] = template.parts;
  if (template.parts.length === 1 && typeof first === "string") return first;
  const run = new Evaluation(scope);
  let text = "";
  for (const part of template.parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = evaluateNode(part, run, template.source);
    if (value === null && !display) throw nilError(part, run, template.source, nilOmits);
    text += formatPart(value, part, run, template.source);
    if (text.length > LIMITS.text + template.source.length) {
      throw new ExpressionError(
        `this makes a text longer than ${LIMITS.text} characters`,
        part.start,
        part.end,
      );
    }
  }
  return text;
}

function formatPart(value: Value, part: Node, run: Evaluation, source: string): string {
  try {
    limitValue(value, part);
    return formatValue(value);
  } catch (error) {
    run.at = part;
    throw locateFault(error, run, source, part);
  }
}

/** Only short parts of names and keys are quoted in a message. */
const SHORT_READ = /^[\w.?[\]"'`-]{1,60}$/;

function nilError(
  part: Node,
  { missing }: Evaluation,
  source: string,
  nilOmits: string | undefined,
): ExpressionError {
  const { start, end } = part;
  const read = source.slice(start, end);
  const what = SHORT_READ.test(read) ? read : "this";
  const hint = missing && isOfMissing(part, missing) ? missingHint(missing, source) : undefined;
  const [harm, meant] = nilOmits === undefined
    ? ["would leave a gap in the text", 'if that is right, add ?? ""']
    : [`${nilOmits} would be left out`, "if that is right, add ?? nil"];
  const message = `${what} is nil, and ${harm}`;
  const isThere = hint === undefined && isRead(part);
  const reads = neededIn(part);
  // With `?.` and of find() the author may expect that it is missing.
  const isExpected = read.includes("?.") || missing && "within" in missing;
  const hints = hint === undefined ? [meant] : isExpected ? [hint, meant] : [hint];
  return new ExpressionError(message, start, end, hints.join("; "), { isNil: isThere, reads });
}

/** The parts of a template that `??` replaces by a default, as written. */
export function nilDefaults({ parts, source }: ParsedTemplate, scope: Scope): readonly string[] {
  const find = (node: Node): string[] => {
    // A predicate reads other values for each item.
    if (node.type === "Predicate") return [];
    const inside = childrenOf(node).flatMap(find);
    if (node.type !== "LogicalExpression" || node.operator !== "??") return inside;
    const { left } = node;
    const isNil = evaluateNode(left, new Evaluation(scope), source) === null;
    return isNil ? [source.slice(left.start, left.end), ...inside] : inside;
  };
  return parts.flatMap((part) => typeof part === "string" ? [] : find(part));
}
