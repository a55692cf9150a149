import type { Value } from "../../../../base/value/value.ts";
import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";

/** Shows plain data. */
export interface Values {
  /** A value as it is written in JSON; lists and maps can be folded. */
  readonly tree: (value: Value | undefined) => PageElement;
  /** A text as it is, one that holds JSON as that, and anything else as a tree. */
  readonly text: (value: Value) => PageElement;
  /** A map as names and values beside each other, without some of its fields. */
  readonly fields: (
    message: Value,
    without?: readonly string[],
    tables?: readonly string[],
  ) => PageElement;
}

/** Ways to show plain data. */
export function makeValues(el: MakeElement, parse: (json: string) => unknown): Values {
  /** Larger ones are folded, deeper ones too, and of the largest only so much is shown at once. */
  const [MOST_OPEN, DEEPEST_OPEN, AT_ONCE] = [20, 3, 100];
  const isTree = (value: unknown): value is object => typeof value === "object" && value !== null;
  const kindOf = (value: unknown) =>
    value === null ? "nil" : typeof value === "bigint" ? "number" : typeof value;

  /** `head` is the name of the value: it is in the line that folds. */
  const branch = (
    value: object,
    depth: number,
    end: string,
    head: readonly PageElement[],
  ): PageElement => {
    const isList = Array.isArray(value);
    const entries = Object.entries(value as Record<string, Value>);
    const [open, close] = isList ? ["[", `]${end}`] : ["{", `}${end}`];
    if (entries.length === 0) {
      return el("span", {}, ...head, el("code", { class: "value" }, `${open}${close}`));
    }
    const noun = isList ? "item" : "key";
    const count = ` ${entries.length} ${noun}${entries.length === 1 ? "" : "s"} `;
    const summary = el(
      "summary",
      {},
      ...head,
      el("code", {}, open),
      el("span", { class: "folded" }, count),
      el("code", { class: "folded" }, close),
    );
    const fold = el("details", { class: "tree" }, summary);
    const list = el("ul", {});

    const show = (from: number) => {
      const to = from + AT_ONCE;
      list.append(
        ...entries.slice(from, to).map(([key, item], index) => {
          const comma = from + index === entries.length - 1 ? "" : ",";
          const name = isList ? [] : [el("code", { class: "key" }, `${JSON.stringify(key)}: `)];
          return el("li", {}, node(item, depth + 1, comma, name));
        }),
      );
      const left = entries.length - to;
      if (left <= 0) return;
      const more = el("button", { type: "button" }, `${left} more`);
      const item = el("li", {}, more);
      more.addEventListener("click", () => {
        item.remove();
        show(to);
      });
      list.append(item);
    };
    // Most folds are never opened: what is in them is made when they are.
    const fill = () => {
      if (fold.childElementCount > 1) return;
      show(0);
      fold.append(list, el("code", {}, close));
    };
    fold.addEventListener("toggle", fill);
    if (depth < DEEPEST_OPEN && (depth === 0 || entries.length <= MOST_OPEN)) {
      fill();
      fold.setAttribute("open", "");
    }
    return fold;
  };

  const node = (
    value: Value | undefined,
    depth: number,
    end: string,
    head: readonly PageElement[],
  ): PageElement => {
    if (isTree(value)) return branch(value, depth, end, head);
    const text = `${JSON.stringify(value) ?? ""}${end}`;
    return el("span", {}, ...head, el("code", { class: `value ${kindOf(value)}` }, text));
  };

  const tree = (value: Value | undefined) => node(value, 0, "", []);

  const text = (value: Value): PageElement => {
    if (typeof value !== "string") return tree(value);
    if (/^\s*[[{]/.test(value)) {
      try {
        return tree(parse(value) as Value);
      } catch {
        // It only looked like it.
      }
    }
    return value.includes("\n") || value.length > 80
      ? el("pre", { tabindex: "0" }, value)
      : el("code", { class: "value" }, value);
  };

  /** Rows as a table: maps by column, or lists, whose columns are named beside them. */
  const table = (rows: readonly Value[], names: Value | undefined): PageElement => {
    const maps = rows.filter((row) => isTree(row)) as Record<string, Value>[];
    const head = Array.isArray(names)
      ? names.map(String)
      : [...new Set(maps.flatMap((row) => Object.keys(row)))];
    const cellsOf = (row: Value): readonly (Value | undefined)[] => {
      if (Array.isArray(row)) return row;
      return isTree(row) ? head.map((name) => (row as Record<string, Value>)[name]) : [row];
    };
    const cell = (value: Value | undefined) =>
      el("td", {}, value === undefined ? "" : isTree(value) ? tree(value) : text(value));
    const line = (row: Value) => el("tr", {}, ...cellsOf(row).map(cell));
    const body = el("tbody", {}, ...rows.slice(0, AT_ONCE).map(line));
    const titles = head.map((name) => el("th", { scope: "col" }, name));
    const all = el("table", {}, el("thead", {}, el("tr", {}, ...titles)), body);
    if (rows.length <= AT_ONCE) return all;
    const more = el("button", { type: "button" }, `${rows.length - AT_ONCE} more`);
    more.addEventListener("click", () => {
      more.remove();
      body.append(...rows.slice(AT_ONCE).map(line));
    });
    return el("div", {}, all, more);
  };

  const fields = (
    message: Value,
    without: readonly string[] = [],
    tables: readonly string[] = [],
  ): PageElement => {
    if (!isTree(message) || Array.isArray(message)) return text(message);
    const list = el("dl", {});
    for (const [name, value] of Object.entries(message)) {
      if (value === null || value === "" || without.includes(name)) continue;
      const isTable = tables.includes(name) && Array.isArray(value) && value.length > 0;
      const shown = isTable
        ? table(value, (message as Record<string, Value>).columns)
        : text(value as Value);
      list.append(el("dt", {}, name), el("dd", {}, shown));
    }
    return list;
  };

  return { tree, text, fields };
}
