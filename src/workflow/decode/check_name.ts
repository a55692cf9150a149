import type { Identifier } from "../../expr/parse/ast.ts";
import type { Reference } from "../../expr/references.ts";
import { hyphenHint } from "../../expr/hints/hyphen_hint.ts";
import { hintForMisspeltName, hintForName } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Path } from "../../base/source.ts";
import { WHOLE_SCOPE } from "./name_rules.ts";
import type { NameRule } from "../model.ts";
import { addError, addWarning, type Problem } from "../problem.ts";

/**
 * Checks that what an expression reads is known at the place of the expression. `vars` are the
 * variables of the workflow.
 */
export function checkName(
  problems: Problem[],
  { base: identifier, keys: [key] }: Reference,
  source: string,
  path: Path,
  rule: NameRule,
  vars: readonly string[],
): void {
  const { name, start, end } = identifier;
  const { where, known, hints = {}, empty = {}, members = {} } = rule;
  const names = Object.hasOwn(members, name) ? members[name]! : undefined;
  if (names && key && !names.includes(key.name)) {
    addError(problems, "unknown-name", path, `unknown field "${key.name}" of ${name}`, {
      range: { start: key.start, end: key.end },
      hint: didYouMean(key.name, names) ?? `${name} has ${names.join(", ")}`,
    });
  }
  if (Object.hasOwn(empty, name)) {
    addWarning(problems, "empty-name", path, `"${name}" is always ${empty[name]} here`, {
      range: { start, end },
      hint: "this is evaluated before the action; what earlier steps published is in outputs",
    });
  }
  const isMistaken = Object.hasOwn(hints, name);
  if (name === WHOLE_SCOPE || (known ? known.includes(name) : !isMistaken)) return;
  const hint = isMistaken ? hints[name]! : hintFor(identifier, source, known ?? [], vars);
  const message = `unknown name "${name}" ${where}`;
  addError(problems, "unknown-name", path, message, { range: { start, end }, hint });
}

function hintFor(
  identifier: Identifier,
  source: string,
  known: readonly string[],
  vars: readonly string[],
): string {
  const { name } = identifier;
  if (vars.includes(name) && known.includes("vars")) return `write vars.${name}`;
  return hintForName(name) ?? hyphenHint(identifier, source) ?? didYouMean(name, known) ??
    hintForMisspeltName(name) ?? environmentHint(name) ?? quoteHint(identifier, source) ??
    namesHint(known);
}

/** A word on the right of a comparison was meant to be a text. */
function quoteHint({ name, start, end }: Identifier, source: string): string | undefined {
  const isWord = !/^\s*[.?[(]/.test(source.slice(end));
  const isCompared = isWord && COMPARISON_BEFORE.test(source.slice(0, start));
  return isCompared ? `put text in quotes: "${name}"` : undefined;
}

const COMPARISON_BEFORE = /(?:[!=]=|\b(?:contains|startsWith|endsWith|matches))\s*$/;

/** A name in capitals was meant to be an environment variable. */
function environmentHint(name: string): string | undefined {
  if (!/^[A-Z][A-Z\d_]+$/.test(name)) return undefined;
  return `environment variables are read in the vars of the workflow: ${name}: "{{${name}}}"`;
}

function namesHint(known: readonly string[]): string {
  return known.length === 1
    ? `the only name here is ${known[0]}`
    : `the names here are ${known.join(", ")}`;
}
