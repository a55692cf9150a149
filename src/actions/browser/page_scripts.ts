// These functions run in the page, and get there as text: each is self-contained.

import type { Value } from "../../action/action.ts";

/** The part of the DOM that they use. The library of types would affect every module. */
interface PageElement {
  readonly tagName: string;
  readonly id: string;
  readonly classList: Iterable<string>;
  readonly parentElement: PageElement | null;
  readonly isConnected: boolean;
  readonly innerText?: string;
  readonly textContent: string | null;
  readonly outerHTML: string;
  readonly isContentEditable?: boolean;
  readonly labels?: Iterable<PageElement> | null;
  readonly form?: PageElement | null;
  readonly options?: Iterable<PageOption>;
  readonly multiple?: boolean;
  value?: string;
  type?: string;
  checked?: boolean;
  getBoundingClientRect(): ElementBox;
  getClientRects(): Iterable<ElementBox>;
  getAttribute(name: string): string | null;
  getRootNode(): PageRoot;
  matches(selector: string): boolean;
  closest(selector: string): PageElement | null;
  contains(other: PageElement): boolean;
  scrollIntoView(options: object): void;
  dispatchEvent(event: object): void;
  select?(): void;
  requestSubmit?(): void;
  click(): void;
}

interface PageOption {
  readonly value: string;
  readonly label: string;
  selected: boolean;
}

interface PageRoot {
  elementFromPoint(x: number, y: number): PageElement | null;
}

interface ElementBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly right: number;
  readonly bottom: number;
}

declare const document: PageRoot & {
  readonly body: PageElement | null;
  readonly title: string;
  readonly documentElement: PageElement;
  readonly readyState: string;
  querySelectorAll(selector: string): Iterable<PageElement>;
  addEventListener(type: string, listener: () => void): void;
  createRange(): { selectNodeContents(element: PageElement): void };
};
declare const performance: {
  getEntriesByType(
    type: string,
  ): readonly { readonly name: string; readonly responseStatus?: number }[];
};
declare const innerWidth: number;
declare const innerHeight: number;
declare function getComputedStyle(
  element: PageElement,
): { readonly visibility: string; readonly display: string };
declare function getSelection(): { removeAllRanges(): void; addRange(range: object): void } | null;
declare function requestAnimationFrame(callback: () => void): void;

/** The state of an element that an action waits for. */
export interface Wanted {
  readonly visible?: true;
  readonly enabled?: true;
  /** In view and not covered, so that the mouse reaches it. */
  readonly reachable?: true;
}

/** What keeps an element from being used, after scrolling it into view if asked to. */
export function obstacleOf(
  element: PageElement,
  { visible, enabled, reachable }: Wanted,
): string | undefined {
  const nameOf = (one: PageElement) =>
    one.tagName.toLowerCase() + (one.id ? `#${one.id}` : "") +
    Array.from(one.classList, (name) => `.${name}`).slice(0, 2).join("");
  const whyHidden = () => {
    if (!element.isConnected) return "it was removed from the page";
    for (let one: PageElement | null = element; one; one = one.parentElement) {
      if (getComputedStyle(one).display !== "none") continue;
      return one === element ? "display: none" : `${nameOf(one)} around it has display: none`;
    }
    if (getComputedStyle(element).visibility !== "visible") return "visibility: hidden";
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 ? undefined : "it has no size";
  };
  const hidden = visible ? whyHidden() : undefined;
  if (hidden !== undefined) return `is not visible: ${hidden}`;
  if (enabled && (element.matches(":disabled") || element.closest('[aria-disabled="true"]'))) {
    return "is disabled";
  }
  if (!reachable) return undefined;
  const { x, y, right, bottom } = element.getBoundingClientRect();
  if (x < 0 || y < 0 || right > innerWidth || bottom > innerHeight) {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  }
  // The mouse goes to the middle of the visible part of its first line.
  const line = Array.from(element.getClientRects())
    .find(({ width, height }) => width >= 1 && height >= 1) ?? element.getBoundingClientRect();
  const middle = (from: number, to: number, end: number) =>
    (Math.max(from, 0) + Math.min(to, end - 1)) / 2;
  const hit = element.getRootNode().elementFromPoint(
    middle(line.x, line.right, innerWidth),
    middle(line.y, line.bottom, innerHeight),
  );
  const isHit = !hit || element.contains(hit) || hit.contains(element) ||
    Array.from(element.labels ?? []).some((label) => label.contains(hit));
  return isHit ? undefined : `is covered by ${nameOf(hit)}`;
}

export function isPassword(element: PageElement): boolean {
  return element.matches("input[type=password]");
}

/** The visible text of an element, or the value of a text field. */
export function textOf(element: PageElement): string {
  if (element.matches("input, textarea")) return String(element.value).trim();
  return (element.innerText ?? element.textContent ?? "").trim();
}

/** Selects the value of a field, so that typing replaces it. */
export function selectContent(element: PageElement): void {
  if (element.select) return element.select();
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

/** Sets the value of a field as its user would; returns what is wrong, if anything. */
export function fillField(element: PageElement, value: string): string {
  const isBox = element.matches("input[type=checkbox], input[type=radio]");
  if (isBox) {
    if (value !== "true" && value !== "false") {
      return `the value of a checkbox is true or false, not "${value}"`;
    }
    if (element.checked !== (value === "true")) element.click();
    return element.checked === (value === "true") ? "" : "it does not change when it is clicked";
  }
  if (element.isContentEditable) {
    (element as { textContent: string }).textContent = value;
  } else if (element.matches("input, textarea")) {
    if (element.matches("[readonly]")) return "it is read-only";
    // Frameworks replace the property of the element itself and miss what is set there.
    const prototype = Object.getPrototypeOf(element);
    Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(element, value);
    if (element.value !== value) return `its type "${element.type}" does not take "${value}"`;
  } else {
    return "it is not a field that can be filled";
  }
  for (const type of ["input", "change"]) {
    element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  }
  return "";
}

/** Chooses options by value or text; returns what is wrong, if anything. */
export function selectOptions(element: PageElement, wanted: readonly string[]): string {
  if (!element.options) return "it is not a list of options";
  const options = Array.from(element.options);
  const chosen = wanted.map((one) =>
    options.find(({ value }) => value === one) ?? options.find(({ label }) => label.trim() === one)
  );
  const missing = chosen.indexOf(undefined);
  if (missing >= 0) {
    const there = options.slice(0, 20).map(({ value }) => JSON.stringify(value)).join(", ");
    return `it has no option "${wanted[missing]}"; its options are ${there}`;
  }
  if (wanted.length > 1 && !element.multiple) return "only one of its options can be chosen";
  for (const option of options) option.selected = chosen.includes(option);
  for (const type of ["input", "change"]) {
    element.dispatchEvent(new Event(type, { bubbles: true }));
  }
  return "";
}

/** Why an element does not take that number of files; empty if it does. */
export function refuseFiles(element: PageElement, count: number): string {
  if (!element.matches("input[type=file]")) return "it is not a file field";
  return count > 1 && !element.multiple ? "it takes only one file" : "";
}

/** Submits the form of an element; returns what is wrong, if anything. */
export function submitForm(element: PageElement): string {
  const form = element.matches("form") ? element : element.form ?? element.closest("form");
  if (!form?.requestSubmit) return "it is in no form";
  form.requestSubmit();
  return "";
}

/** The value of a script as data: an element as HTML, a date as JSON writes it; else null. */
export function dataOf(value: unknown): Value {
  if (typeof value === "number" || typeof value === "string") return value;
  if (value === undefined || value === null) return null;
  try {
    const html = (value as Partial<PageElement>).outerHTML;
    if (typeof html === "string") return html;
    return JSON.parse(JSON.stringify(value, (_key, one) => {
      if (one instanceof Map) return Object.fromEntries(one);
      if (one instanceof Set) return [...one];
      return typeof one === "bigint" ? String(one) : one;
    }));
  } catch {
    return null;
  }
}

/** Elements that a selector may have meant: how they could be selected, and where they are. */
export interface Candidate {
  readonly names: readonly string[];
  /** Where it is, and its text if that is short. */
  readonly path: string;
  readonly element: string;
}

/** The elements of the page by what selects them, of the largest pages the first. */
export function listCandidates(): Candidate[] {
  const nameOf = (one: PageElement) =>
    one.tagName.toLowerCase() + (one.id ? `#${one.id}` : "") +
    Array.from(one.classList, (name) => `.${name}`).slice(0, 2).join("");
  const found: Candidate[] = [];
  for (const element of document.querySelectorAll("body *")) {
    if (found.length >= 2000) break;
    const tag = element.tagName.toLowerCase();
    if (tag === "script" || tag === "style") continue;
    const path: string[] = [];
    for (let one: PageElement | null = element; one; one = one.parentElement) {
      path.unshift(nameOf(one));
      if (one.tagName === "BODY") break;
    }
    const text = (element.textContent ?? "").trim().replace(/\s+/g, " ");
    const shown = text !== "" && text.length <= 40 ? ` "${text}"` : "";
    const attributes = ["name", "data-testid", "aria-label", "placeholder", "type", "href"]
      .flatMap((name) => element.getAttribute(name) ?? []);
    found.push({
      names: [
        ...element.id ? [`#${element.id}`] : [],
        ...Array.from(element.classList, (name) => `.${name}`),
        ...attributes,
        ...shown === "" ? [] : [text],
        tag,
      ],
      path: path.join(" > ") + shown,
      element: path.join(" > "),
    });
  }
  return found;
}

/** The beginning of the visible text, long enough to find secrets before a message cuts it. */
export function pageText(): string {
  return (document.body?.innerText ?? "").trim().replace(/\s+/g, " ").slice(0, 11_000);
}

/** Resolves after the handlers of the last action have run and the page was drawn. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve, 0));
    setTimeout(resolve, 100);
  });
}

/** The responses of the page so far, its own first; a code is 0 if the page may not know it. */
export function listResponses(): readonly (readonly [url: string, code: number])[] {
  return ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
    .map(({ name, responseStatus = 0 }) => [name, responseStatus] as const);
}

/** Resolves when the page has been read. */
export function untilRead(): Promise<void> {
  return new Promise((resolve) => {
    if (document.readyState !== "loading") resolve();
    document.addEventListener("DOMContentLoaded", () => resolve());
  });
}

export function isLoaded(): boolean {
  return document.readyState === "complete";
}
