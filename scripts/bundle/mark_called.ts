import { type AnyNode, parse } from "acorn";
import { childrenOf } from "./walk.ts";

/** The ends of functions in a text, as `start:end`. */
export type Ranges = ReadonlySet<string>;

/**
 * Puts the functions that every run calls into parentheses, which have V8 compile them at once and
 * keep them in its code cache; it compiles all others when they are called, at each start anew.
 * Declarations go to the top of the text as variables: there they are as early as before.
 */
export function markCalled(code: string, called: Ranges): string {
  const tree = parse(code, { ecmaVersion: "latest", sourceType: "module" });
  const marks = new Map<number, string>();
  const note = (at: number, text: string) => marks.set(at, (marks.get(at) ?? "") + text);
  for (const { start, end } of expressionsOf(tree)) {
    if (!called.has(`${start}:${end}`)) continue;
    note(start, "(");
    note(end, ")");
  }
  const places = [...marks.keys()].sort((a, b) => a - b);
  const marked = (start: number, end: number) => {
    let text = "";
    let at = start;
    for (const place of places) {
      if (place < start || place > end) continue;
      text += code.slice(at, place) + marks.get(place);
      at = place;
    }
    return text + code.slice(at, end);
  };
  let rest = "";
  let at = 0;
  const moved: string[] = [];
  for (const node of tree.body) {
    if (node.type !== "FunctionDeclaration" || !called.has(`${node.start}:${node.end}`)) continue;
    const { name, start, end } = node.id;
    // Without a name of its own: that would be another binding, and one that cannot be assigned.
    moved.push(`${name}=(${code.slice(node.start, start).trimEnd()}${marked(end, node.end)})`);
    rest += marked(at, node.start);
    at = node.end;
  }
  rest += marked(at, code.length);
  return moved.length === 0 ? rest : `var ${moved.join(",")};${rest}`;
}

/** Functions that are expressions; methods are none. */
function* expressionsOf(node: AnyNode): Generator<AnyNode> {
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") yield node;
  const isMethod = node.type === "MethodDefinition" ||
    node.type === "Property" && (node.method || node.kind !== "init");
  for (const child of childrenOf(node)) {
    if (!isMethod || child !== node.value) yield* expressionsOf(child);
    else for (const inner of childrenOf(child)) yield* expressionsOf(inner);
  }
}
