import type { PageDocument, PageElement } from "./dom.ts";

declare const document: PageDocument;

/** Makes an element; its children are elements and texts, never markup. */
export type MakeElement = typeof makeElement;

/** Makes an element. */
export function makeElement(
  tag: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (PageElement | string)[]
): PageElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
