/// <reference lib="dom" />
// What is in this folder runs in a browser, and gets there as the text of its functions: each
// stands alone, and is given what it needs of the others.

/** Makes an element; its children are nodes and texts, never markup. */
export type MakeElement = (
  tag: string,
  attributes?: Readonly<Record<string, string>>,
  ...children: (Node | string)[]
) => HTMLElement;

/** Makes an element. */
export function makeElement(
  tag: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
