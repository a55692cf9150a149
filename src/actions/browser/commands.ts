import { isDict } from "../../base/value/value.ts";
import type { Dict } from "../../action/action.ts";
import { isGiven } from "../../action/parameter.ts";
import {
  choice,
  duration,
  flag,
  integer,
  map,
  type Param,
  Rule,
  text,
  texts,
  type Values,
} from "../../action/rule.ts";

/** Something that a step can do in a page. What takes `selector` or `script` takes `frame` too. */
export interface CommandRule {
  /** A description for the docs: a sentence without its full stop. */
  readonly summary: string;
  readonly needs?: readonly Key[];
  /** Keys that it takes beside those, and beside `id` and `timeout`. */
  readonly takes?: readonly Key[];
  /** The field of `res` that has its result under its `id`, or else its name. */
  readonly result?: "results" | "filepaths";
}

type Key =
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

/** Every command, in the order of the docs. */
export const COMMANDS = {
  navigate: {
    summary: "Opens `url` and waits until it is loaded; it may be relative to the page's URL",
    needs: ["url"],
  },
  close_tab: {
    summary: "Closes the tab that was opened last; the next actions go on in the one before",
  },
  click: { summary: "Clicks an element", needs: SELECTOR },
  double_click: { summary: "Clicks an element twice", needs: SELECTOR },
  right_click: { summary: "Clicks an element with the right button", needs: SELECTOR },
  hover: { summary: "Moves the mouse over an element", needs: SELECTOR },
  focus: { summary: "Focuses an element", needs: SELECTOR },
  scroll: { summary: "Scrolls until an element is in view", needs: SELECTOR },
  fill: {
    summary:
      "Sets the value of a field at once; of a checkbox, `value` is `true` or `false`, and of a date `2026-01-31`",
    needs: ["selector", "value"],
  },
  send_keys: {
    summary: "Replaces what is in a field by typing `value`, key by key",
    needs: ["selector", "value"],
  },
  type: { summary: "The same as `send_keys`", needs: ["selector", "value"] },
  press: {
    summary:
      "Presses a key, like `Enter`, `Tab` or `Control+A`, or a list of them, in an element or where the focus is",
    needs: ["value"],
    takes: SELECTOR,
  },
  select: {
    summary: "Chooses the options of a list by their values or texts",
    needs: ["selector", "value"],
  },
  upload: {
    summary: "Gives the files of `path`, a path or a list of them, to a file field",
    needs: ["selector", "path"],
  },
  submit: { summary: "Submits the form that an element belongs to", needs: SELECTOR },
  wait_visible: { summary: "Waits until an element is visible", needs: SELECTOR },
  wait_not_visible: { summary: "Waits until an element is hidden or gone", needs: SELECTOR },
  wait_enabled: { summary: "Waits until an element is enabled", needs: SELECTOR },
  wait_ready: {
    summary: "Waits until an element is in the page, or else until the page is loaded",
    takes: SELECTOR,
  },
  wait_text: {
    summary: "Waits until an element has a text, or one that contains `value`",
    needs: SELECTOR,
    takes: ["value", "exact"],
    result: "results",
  },
  expect_text: {
    summary:
      "Fails unless the text of an element, or what is in a text field, comes to contain `value`",
    needs: ["selector", "value"],
    takes: ["exact"],
    result: "results",
  },
  expect_visible: { summary: "Fails unless an element becomes visible", needs: SELECTOR },
  expect_url: {
    summary: "Fails unless the URL of the page comes to contain `value`",
    needs: ["value"],
    takes: ["exact"],
  },
  expect_title: {
    summary: "Fails unless the title of the page comes to contain `value`",
    needs: ["value"],
    takes: ["exact"],
  },
  text: { summary: "Reads the visible text of an element", needs: SELECTOR, result: "results" },
  value: { summary: "Reads the value of a field", needs: SELECTOR, result: "results" },
  get_html: { summary: "Reads an element as HTML", needs: SELECTOR, result: "results" },
  get_attribute: {
    summary: "Reads the attribute `attribute` of an element; a map if a list names several",
    needs: ["selector", "attribute"],
    result: "results",
  },
  evaluate: {
    summary: "Evaluates the JavaScript expression `script` in the page",
    needs: ["script"],
    result: "results",
  },
  screenshot: {
    summary: "Saves a picture of an element to `path`, or else to a temporary file of the run",
    needs: SELECTOR,
    takes: ["path", "quality"],
    result: "filepaths",
  },
  capture_screenshot: {
    summary: "The same of the visible part of the page",
    takes: ["path", "quality"],
    result: "filepaths",
  },
  full_screenshot: {
    summary: "The same of the whole page",
    takes: ["path", "quality"],
    result: "filepaths",
  },
} as const satisfies Readonly<Record<string, CommandRule>>;

type CommandName = keyof typeof COMMANDS;

const FIELDS = {
  name: choice(Object.keys(COMMANDS) as CommandName[], "What to do").required(),
  id: text("The name of its result in `res.results` or `res.filepaths`")
    .with({ default: "its name" }),
  url: text("The URL to open"),
  selector: text(
    "A CSS selector, an XPath that begins with `/` or `(`, or `text=…` for the element with a text; the first match counts",
  ),
  frame: texts(
    "The selector of the frame (`iframe`) that the element is in; a list for a frame in a frame",
  ),
  value: texts("What to fill in, type, press, choose or expect"),
  exact: flag("Whether the whole text must be `value`, not a part of it").default(false),
  attribute: texts("The attributes to read"),
  path: texts(
    "The file to save a screenshot to, from the current directory; or the files to upload, relative to the workflow file",
  ),
  quality: integer(
    "The quality of a screenshot as JPEG, from 1 to 100; without it and `.jpg` it is PNG",
    { min: 0, max: 100 },
  ),
  script: text("A JavaScript expression"),
  timeout: duration("How long this action may take")
    .with({ default: "the timeout of the step's actions" }),
};

export type Command = Values<typeof FIELDS>;

/** Keys that every command takes. */
const COMMON: readonly string[] = ["name", "id", "timeout"];

/** Commands whose `value` or `path` may be a list. */
const LISTS: readonly string[] = ["press", "select", "upload"];

const fields = map(FIELDS, "");

/** A command, and the keys that fit it. */
export const command = new Rule<Command>(fields.form, (value, param) => {
  try {
    return fields.parse(value, param);
  } finally {
    if (isDict(value)) checkKeys(value, param);
  }
});

function checkKeys(command: Dict, param: Param): void {
  const name = String(command.name);
  if (!Object.hasOwn(COMMANDS, name)) return;
  const { needs = [], takes = [] }: CommandRule = COMMANDS[name as CommandName];
  const keys: readonly string[] = [...needs, ...takes];
  const isInFrame = keys.includes("selector") || keys.includes("script");
  const known = [...COMMON, ...keys, ...isInFrame ? ["frame"] : []];
  for (const key of needs) {
    if (isGiven(command, key)) continue;
    const hint = name === "screenshot"
      ? '"capture_screenshot" saves the visible part of the page, "full_screenshot" all of it'
      : FIELDS[key].form.summary;
    param.wrong(`the action "${name}" needs "${key}"`, hint);
  }
  for (const key of ["value", "path"]) {
    if (!Array.isArray(command[key]) || !keys.includes(key) || LISTS.includes(name)) continue;
    param.of(key).wrong(`"${key}" of the action "${name}" must be a text, not a list`);
  }
  // It would expect an empty text as a part of another.
  const { value } = command;
  const isEmpty = typeof value === "string" && value.trim() === "";
  if (/^(expect|wait)_/.test(name) && isEmpty && String(command.exact) !== "true") {
    const message = `an empty "value" of the action "${name}" is in every text`;
    param.of("value").wrong(message, '"exact: true" expects that there is no text');
  }
  for (const key of Object.keys(command)) {
    if (known.includes(key) || !Object.hasOwn(FIELDS, key) || !isGiven(command, key)) continue;
    const hint = `it takes ${known.filter((one) => one !== "name").join(", ")}`;
    param.of(key).wrong(`the action "${name}" takes no "${key}"`, hint, { at: "key" });
  }
}

/** A command in a few words: `click "#save"`. */
export function describeCommand(
  { name, url, selector, frame, value = [], exact, script, path = [] }: Command,
): string {
  const quoted = (text: string | undefined) => text === undefined ? [] : [JSON.stringify(text)];
  return [
    name,
    ...url === undefined ? [] : [url],
    ...quoted(selector),
    ...value.length > 1 ? [JSON.stringify(value)] : quoted(value[0]),
    ...exact ? ["exactly"] : [],
    ...quoted(script),
    ...frame ? [`in ${frame.map((one) => JSON.stringify(one)).join(" ")}`] : [],
    ...path,
  ].join(" ");
}

/** A command as `req` has it. */
export function requestOf(command: Command): Dict {
  const { name, id, url, selector, value, attribute, path, quality } = command;
  return {
    name,
    id: id ?? name,
    url: url ?? "",
    selector: selector ?? "",
    value: value?.[0] ?? "",
    attribute: attribute ?? [],
    path: path?.[0] ?? "",
    quality: quality ?? 0,
    does: describeCommand(command),
  };
}
