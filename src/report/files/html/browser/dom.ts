// The code in this directory runs in a browser, which receives the text of its functions: each
// is self-contained, and receives the others that it uses (`parts.ts`).

/**
 * The part of the DOM that the page uses. The whole of it, as a library of types, would reach every
 * module of the program.
 */
export interface PageDocument {
  readonly readyState: string;
  readonly activeElement: PageElement | null;
  readonly body: PageElement;
  readonly documentElement: PageElement;
  /** The older way to copy what is selected. */
  execCommand(command: "copy"): boolean;
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
  after(...siblings: PageElement[]): void;
  /** Of a text field: selects all of it. */
  select(): void;
  scrollIntoView(how: { readonly block: "start" | "nearest" }): void;
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
