// What is in this directory runs in a browser, and gets there as the text of its functions: each
// is self-contained, and receives the others that it uses (`parts.ts`).

/**
 * As much of the DOM as the page uses. The whole of it, as a library of types, would reach every
 * module of the program.
 */
export interface PageDocument {
  readonly readyState: string;
  createElement(tag: string): PageElement;
  createElementNS(namespace: string, tag: string): PageElement;
  getElementById(id: string): PageElement | null;
  addEventListener(type: string, hear: () => void): void;
}

/** An element of any kind; properties of specific kinds need a check first. */
export interface PageElement {
  readonly childElementCount: number;
  readonly clientHeight: number;
  readonly clientWidth: number;
  readonly offsetWidth: number;
  readonly style: PageStyle;
  textContent: string | null;
  scrollTop: number;
  hidden: boolean;
  /** Of an input or a select. */
  value: string;
  append(...children: (PageElement | string)[]): void;
  replaceChildren(...children: (PageElement | string)[]): void;
  remove(): void;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  contains(other: unknown): boolean;
  focus(): void;
  addEventListener(
    type: string,
    hear: (event: PageEvent) => void,
    options?: { readonly passive?: boolean },
  ): void;
}

/** Lengths with their units. */
interface PageStyle {
  top: string;
  left: string;
  width: string;
  height: string;
  paddingLeft: string;
  marginRight: string;
  setProperty(name: string, value: string): void;
}

/** A click, or a key that was pressed. */
export interface PageEvent {
  readonly target: unknown;
  readonly key: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  preventDefault(): void;
}
