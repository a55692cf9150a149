import { countOf } from "../../../../base/text/count_of.ts";
import { formatElapsed } from "../../../../base/value/duration.ts";
import { parseExactly } from "../../../../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../../../../base/value/value.ts";
import type { MessageView } from "../../../../run/event.ts";
import { block, type Content, el, list, type PageElement, row, table } from "./dom.ts";

/** Larger values are folded, and so are deeper ones. */
const MAX_OPEN = 20;
const DEEPEST_OPEN = 3;
/** Entries that are shown at once. */
const AT_ONCE = 100;

/** A value as it is written in JSON; lists and maps can be folded. */
export function tree(value: Value | undefined): PageElement {
  return node(value, 0, "", []);
}

/** `head` is the name of the value, and `end` what follows it. */
function node(value: Value | undefined, depth: number, end: string, head: Content): PageElement {
  if (typeof value === "object" && value !== null) return branch(value, depth, end, head);
  return el("span", head, el("code.value", (JSON.stringify(value) ?? "") + end));
}

function branch(
  value: Dict | readonly Value[],
  depth: number,
  end: string,
  head: Content,
): PageElement {
  const isMap = isDict(value);
  const entries = Object.entries<Value>(value as Dict);
  const [open, close] = isMap ? ["{", `}${end}`] : ["[", `]${end}`];
  if (entries.length === 0) return el("span", head, el("code.value", open + close));
  const noun = isMap ? "key" : "item";
  const count = ` ${countOf(entries.length, noun)} `;
  const fold = el(
    "details.tree",
    el("summary", head, el("code", open), el("span.folded", count), el("code.folded", close)),
  );
  const items = entries.map(([key, item], index) => () => {
    const comma = index === entries.length - 1 ? "" : ",";
    const name = isMap && el("code.key", `${JSON.stringify(key)}: `);
    return el("li", node(item, depth + 1, comma, name));
  });
  // Most folds are never opened: their content is made when they are.
  const fill = () => {
    if (fold.childElementCount > 1) return;
    const list = el("ul");
    appendInParts(list, items, (button) => el("li", button));
    fold.append(list, el("code", close));
  };
  fold.addEventListener("toggle", fill);
  if (depth < DEEPEST_OPEN && (depth === 0 || entries.length <= MAX_OPEN)) {
    fill();
    fold.setAttribute("open", "");
  }
  return fold;
}

/** Appends the first items, and a button that appends more. */
function appendInParts(
  list: PageElement,
  items: readonly (() => PageElement)[],
  wrap: (button: PageElement) => PageElement,
): void {
  list.append(...items.slice(0, AT_ONCE).map((make) => make()));
  const rest = items.slice(AT_ONCE);
  if (rest.length === 0) return;
  const button = el("button", { type: "button" }, `${rest.length} more`);
  const last = wrap(button);
  button.addEventListener("click", () => {
    last.remove();
    appendInParts(list, rest, wrap);
  });
  list.append(last);
}

/** A text as it is, one that holds JSON as that, and anything else as a tree. */
function textOrTree(value: Value): PageElement {
  if (typeof value !== "string") return tree(value);
  if (/^\s*[[{]/.test(value)) {
    try {
      return tree(parseExactly(value));
    } catch {
      // It only looked like JSON.
    }
  }
  return value.includes("\n") || value.length > 80 ? block(value) : el("code.value", value);
}

/** A request or response: its fields by name, without those that the view shows elsewhere. */
export function fields(
  message: Value,
  { covered = [], asJson = [], asTable = [] }: MessageView,
): PageElement {
  if (!isDict(message)) return textOrTree(message);
  const shown = Object.entries(message).filter(([name, value]) =>
    value !== null && value !== "" && !covered.includes(name)
  );
  return list(shown.map(([name, value]) => {
    const isTable = asTable.includes(name) && Array.isArray(value) && value.length > 0;
    if (isTable) return [name, rowTable(value, message.columns)];
    if (!isFlat(value) || asJson.includes(name)) return [name, textOrTree(value)];
    const seconds = name === "timing";
    return [
      name,
      list(
        Object.entries(value).map(([key, item]) => [
          key,
          seconds && typeof item === "number" ? formatElapsed(item * 1000) : textOrTree(item),
        ]),
      ),
    ];
  }));
}

/** A map without lists and maps, like headers. */
function isFlat(value: Value): value is Dict {
  return isDict(value) && Object.keys(value).length > 0 &&
    Object.values(value).every((item) => typeof item !== "object" || item === null);
}

/** Rows as a table: maps by key, or lists, whose columns are named beside them. */
function rowTable(rows: readonly Value[], columns: Value | undefined): PageElement {
  const titles = Array.isArray(columns)
    ? columns.map(String)
    : [...new Set(rows.flatMap((row) => isDict(row) ? Object.keys(row) : []))];
  const cellsOf = (row: Value): readonly (Value | undefined)[] =>
    isDict(row) ? titles.map((title) => row[title]) : Array.isArray(row) ? row : [row];
  const body = el("tbody");
  const items = rows.map((each) => () =>
    row(cellsOf(each).map((cell) => cell !== undefined && textOrTree(cell)))
  );
  appendInParts(body, items, (button) => el("tr", el("td", button)));
  return table(titles, body);
}
