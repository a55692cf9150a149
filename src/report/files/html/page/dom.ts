/**
 * The part of the DOM that the page uses. The DOM library of TypeScript would declare its names for
 * every module of the program.
 */
interface Browser {
  readonly document: {
    readonly activeElement: PageElement | null;
    readonly body: PageElement;
    readonly documentElement: PageElement;
    execCommand(command: "copy"): boolean;
    createElement(tag: string): PageElement;
    createElementNS(namespace: string, tag: string): PageElement;
    createRange(): TextRange;
    createTreeWalker(root: PageElement, nodes: number): { nextNode(): TextNode | null };
    getElementById(id: string): PageElement | null;
  };
  readonly location: { readonly hash: string; readonly href: string; reload(): void };
  readonly history: { replaceState(state: null, unused: "", url: string): void };
  readonly navigator: { readonly clipboard?: { writeText(text: string): Promise<void> } };
  readonly CSS: { readonly highlights?: Map<string, unknown> };
  readonly Highlight: new (...ranges: readonly TextRange[]) => unknown;
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
  matchMedia(query: string): { readonly matches: boolean };
}

/** An element of any kind; some properties are those of inputs. */
export interface PageElement {
  readonly childElementCount: number;
  readonly clientHeight: number;
  readonly clientWidth: number;
  readonly offsetWidth: number;
  readonly scrollHeight: number;
  readonly scrollWidth: number;
  readonly tagName: string;
  readonly classList: { toggle(name: string, isOn: boolean): void };
  readonly style:
    & Record<"top" | "left" | "width" | "height" | "paddingLeft" | "marginRight", string>
    & {
      setProperty(name: string, value: string): void;
    };
  textContent: string | null;
  scrollTop: number;
  hidden: boolean;
  /** Whether a dialog or a `details` element is open. */
  readonly open: boolean;
  value: string;
  append(...children: (PageElement | string)[]): void;
  replaceChildren(...children: (PageElement | string)[]): void;
  remove(): void;
  select(): void;
  focus(options?: { readonly preventScroll: true }): void;
  showModal(): void;
  close(): void;
  getBoundingClientRect(): { readonly top: number };
  querySelectorAll(selector: string): Iterable<PageElement>;
  scrollIntoView(options: { readonly block: "start" | "nearest" }): void;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  contains(other: unknown): boolean;
  addEventListener(
    type: string,
    listener: (event: PageEvent) => void,
    options?: { readonly passive?: boolean },
  ): void;
}

/** A key that was pressed, a click, or a move of the pointer. */
export interface PageEvent {
  readonly target: unknown;
  readonly offsetX: number;
  readonly key: string;
  readonly altKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  preventDefault(): void;
}

interface TextNode {
  readonly textContent: string;
}

/** A part of the text of the page. */
export interface TextRange {
  setStart(node: TextNode, offset: number): void;
  setEnd(node: TextNode, offset: number): void;
}

/** What the browser offers; all of it is missing in tests without one. */
export const {
  addEventListener,
  CSS,
  document,
  Highlight,
  history,
  location,
  matchMedia,
  navigator,
} = globalThis as unknown as Browser;

type Attributes = Readonly<Record<string, string | number | false | undefined>>;

/** Children of an element: elements and texts, never markup. */
export type Content = PageElement | string | undefined | false | readonly Content[];

/** Makes an element: `el("p.muted", { title: "t" }, "text")`, or `el("svg:rect")` in a drawing. */
export function el(tag: string, ...parts: readonly (Attributes | Content)[]): PageElement {
  const [name = "", ...classes] = tag.split(".");
  const element = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  for (const part of parts) addPart(element, part);
  return element;
}

function addPart(element: PageElement, part: Attributes | Content): void {
  if (typeof part === "string") element.append(part);
  else if (isList(part)) { for (const each of part) addPart(element, each); }
  else if (part && "append" in part) element.append(part as PageElement);
  else if (part) {
    for (const [name, value] of Object.entries(part)) {
      if (value !== undefined && value !== false) element.setAttribute(name, String(value));
    }
  }
}

function isList(part: Attributes | Content): part is readonly Content[] {
  return Array.isArray(part);
}

/** Shows other content in an element. */
export function show(element: PageElement, ...content: readonly Content[]): void {
  element.replaceChildren();
  addPart(element, content);
}

/** An element that the page has from the start. */
export function find(id: string): PageElement {
  return document.getElementById(id)!;
}

/** A title with what belongs to it. */
export function section(title: string, ...content: readonly Content[]): PageElement {
  return el("section", el("h3", title), content);
}

/** A text with its line ends. */
export function block(text: string): PageElement {
  return el("pre", { tabindex: 0 }, text);
}

/** A table with a line of titles, which scrolls where it is too wide; `name` is its class. */
export function table(
  titles: readonly string[],
  rows: readonly PageElement[] | PageElement,
  name = "plain",
): PageElement {
  return el(
    "div.scrolls",
    el(
      `table.${name}`,
      el("thead", el("tr", titles.map((title) => el("th", { scope: "col" }, title)))),
      isList(rows) ? el("tbody", rows) : rows,
    ),
  );
}

/** A row of a table. */
export function row(cells: readonly Content[]): PageElement {
  return el("tr", cells.map((cell) => el("td", cell)));
}

/** Names and what belongs to each. */
export function list(entries: readonly (readonly [name: string, content: Content])[]): PageElement {
  return el("dl", entries.map(([name, content]) => [el("dt", name), el("dd", content)]));
}

/** Lets the keyboard reach tables that scroll in an element. */
export function reachScrolled(element: PageElement): void {
  for (const part of element.querySelectorAll(".scrolls")) {
    if (part.scrollWidth > part.clientWidth) part.setAttribute("tabindex", "0");
  }
}

/** Whether a key was pressed together with another one, which is for the browser. */
export function hasModifier({ altKey, ctrlKey, metaKey }: PageEvent): boolean {
  return altKey || ctrlKey || metaKey;
}

/** Makes a button that copies a text, which is made when it is pressed. */
export function copyButton(label: string, text: () => string): PageElement {
  const status = el("span", { role: "status" }, label);
  const button = el("button.copy", { type: "button" }, status);
  const report = (isCopied: boolean) => {
    status.textContent = isCopied ? "Copied" : "Cannot copy";
    setTimeout(() => status.textContent = label, 2000);
  };
  button.addEventListener("click", () => {
    const copied = text();
    // Pages from a file or from http: may not use the clipboard in every browser.
    const fallBack = () => report(copySelected(copied));
    if (!navigator.clipboard) return fallBack();
    navigator.clipboard.writeText(copied).then(() => report(true), fallBack);
  });
  return button;
}

/** Copies by the older way, which copies what is selected. */
function copySelected(text: string): boolean {
  const field = el("textarea.outside", { readonly: "", tabindex: -1 });
  field.value = text;
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return isCopied;
}
