import * as acorn from "acorn";

/** A part of a script of JavaScript. */
export type SyntaxNode = acorn.AnyNode;

/** The statements of a script of JavaScript; throws SyntaxError. */
export function parseScript(text: string): readonly SyntaxNode[] {
  const options = { allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true };
  return acorn.parse(text, { ...options, ecmaVersion: "latest" }).body;
}
