import type { Parameter } from "../../action/action.ts";

/** Something that a step can do in a page. What takes `selector` or `script` takes `frame` too. */
export interface BrowserAction {
  readonly name: string;
  /** A description for the docs: a sentence without its full stop. */
  readonly summary: string;
  /** Keys that it needs. */
  readonly needs?: readonly Key[];
  /** Keys that it takes beside those, and beside `id` and `timeout`. */
  readonly takes?: readonly Key[];
  /** The field of `res` that has its result under its `id`, or else its name. */
  readonly result?: "results" | "filepaths";
}

/** The keys of all actions; each action takes some of them. */
export type Key =
  | "url"
  | "selector"
  | "frame"
  | "value"
  | "exact"
  | "attribute"
  | "path"
  | "quality"
  | "script";

const SELECTOR = ["selector"] as const;

/** Every action, in the order of the docs. */
export const BROWSER_ACTIONS = [
  {
    name: "navigate",
    summary: "Opens `url` and waits until it is loaded; it may be relative to the page's URL",
    needs: ["url"],
  },
  {
    name: "close_tab",
    summary: "Closes the tab that was opened last; the next actions go on in the one before",
  },
  { name: "click", summary: "Clicks an element", needs: SELECTOR },
  { name: "double_click", summary: "Clicks an element twice", needs: SELECTOR },
  { name: "right_click", summary: "Clicks an element with the right button", needs: SELECTOR },
  { name: "hover", summary: "Moves the mouse over an element", needs: SELECTOR },
  { name: "focus", summary: "Focuses an element", needs: SELECTOR },
  { name: "scroll", summary: "Scrolls until an element is in view", needs: SELECTOR },
  {
    name: "fill",
    summary:
      "Sets the value of a field at once; of a checkbox, `value` is `true` or `false`, and of a date `2026-01-31`",
    needs: ["selector", "value"],
  },
  {
    name: "send_keys",
    summary: "Replaces what is in a field by typing `value`, key by key",
    needs: ["selector", "value"],
  },
  { name: "type", summary: "The same as `send_keys`", needs: ["selector", "value"] },
  {
    name: "press",
    summary:
      "Presses a key, like `Enter`, `Tab` or `Control+A`, or a list of them, in an element or where the focus is",
    needs: ["value"],
    takes: SELECTOR,
  },
  {
    name: "select",
    summary: "Chooses the options of a list by their values or texts",
    needs: ["selector", "value"],
  },
  {
    name: "upload",
    summary: "Gives the files of `path`, a path or a list of them, to a file field",
    needs: ["selector", "path"],
  },
  { name: "submit", summary: "Submits the form that an element belongs to", needs: SELECTOR },
  {
    name: "wait_visible",
    summary: "Waits until an element is visible",
    needs: SELECTOR,
  },
  {
    name: "wait_not_visible",
    summary: "Waits until an element is hidden or gone",
    needs: SELECTOR,
  },
  { name: "wait_enabled", summary: "Waits until an element is enabled", needs: SELECTOR },
  {
    name: "wait_ready",
    summary: "Waits until an element is in the page, or else until the page is loaded",
    takes: SELECTOR,
  },
  {
    name: "wait_text",
    summary: "Waits until an element has a text, or one that contains `value`",
    needs: SELECTOR,
    takes: ["value", "exact"],
    result: "results",
  },
  {
    name: "expect_text",
    summary:
      "Fails unless the text of an element, or what is in a text field, comes to contain `value`",
    needs: ["selector", "value"],
    takes: ["exact"],
    result: "results",
  },
  {
    name: "expect_visible",
    summary: "Fails unless an element becomes visible",
    needs: SELECTOR,
  },
  {
    name: "expect_url",
    summary: "Fails unless the URL of the page comes to contain `value`",
    needs: ["value"],
    takes: ["exact"],
  },
  {
    name: "expect_title",
    summary: "Fails unless the title of the page comes to contain `value`",
    needs: ["value"],
    takes: ["exact"],
  },
  {
    name: "text",
    summary: "Reads the visible text of an element",
    needs: SELECTOR,
    result: "results",
  },
  { name: "value", summary: "Reads the value of a field", needs: SELECTOR, result: "results" },
  {
    name: "get_html",
    summary: "Reads an element as HTML",
    needs: SELECTOR,
    result: "results",
  },
  {
    name: "get_attribute",
    summary: "Reads the attribute `attribute` of an element; a map if a list names several",
    needs: ["selector", "attribute"],
    result: "results",
  },
  {
    name: "evaluate",
    summary: "Evaluates the JavaScript expression `script` in the page",
    needs: ["script"],
    result: "results",
  },
  {
    name: "screenshot",
    summary: "Saves a picture of an element to `path`, or else to a temporary file of the run",
    needs: SELECTOR,
    takes: ["path", "quality"],
    result: "filepaths",
  },
  {
    name: "capture_screenshot",
    summary: "The same of the visible part of the page",
    takes: ["path", "quality"],
    result: "filepaths",
  },
  {
    name: "full_screenshot",
    summary: "The same of the whole page",
    takes: ["path", "quality"],
    result: "filepaths",
  },
] as const satisfies readonly BrowserAction[];

/** The name of an action. */
export type ActionName = typeof BROWSER_ACTIONS[number]["name"];

/** The keys that an action may have. */
export const ACTION_KEYS: readonly Parameter[] = [
  {
    name: "name",
    type: "string",
    summary: "What to do",
    required: true,
    values: BROWSER_ACTIONS.map(({ name }) => name),
  },
  {
    name: "id",
    type: "string",
    summary: "The name of its result in `res.results` or `res.filepaths`",
    default: "its name",
  },
  { name: "url", type: "string", summary: "The URL to open" },
  {
    name: "selector",
    type: "string",
    summary:
      "A CSS selector, an XPath that begins with `/` or `(`, or `text=…` for the element with a text; the first match counts",
  },
  {
    name: "frame",
    type: ["string", "list"],
    summary:
      "The selector of the frame (`iframe`) that the element is in; a list for a frame in a frame",
  },
  {
    name: "value",
    type: ["string", "list"],
    summary: "What to fill in, type, press, choose or expect",
  },
  {
    name: "exact",
    type: "boolean",
    summary: "Whether the whole text must be `value`, not a part of it",
    default: "false",
  },
  { name: "attribute", type: ["string", "list"], summary: "The attributes to read" },
  {
    name: "path",
    type: ["string", "list"],
    summary:
      "The file to save a screenshot to, from the current directory; or the files to upload, relative to the workflow file",
  },
  {
    name: "quality",
    type: "integer",
    summary: "The quality of a screenshot as JPEG, from 1 to 100; without it and `.jpg` it is PNG",
  },
  { name: "script", type: "string", summary: "A JavaScript expression" },
  {
    name: "timeout",
    type: "duration",
    summary: "How long this action may take",
    default: "the timeout of the step's actions",
  },
];
