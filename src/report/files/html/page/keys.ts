import { addEventListener, find, hasModifier, type PageElement, type PageEvent } from "./dom.ts";
import type { Filters } from "./filters.ts";

/** What keys do, wherever the focus is. */
interface KeyActions {
  /** Goes to the next failure, or to the one before. */
  readonly toFailure: (direction: 1 | -1) => void;
  /** Escape, unless it empties the search. */
  readonly onEscape?: (target: unknown) => void;
  /** Any other key. */
  readonly onKey?: (event: PageEvent) => void;
}

const FIELDS = ["INPUT", "SELECT", "TEXTAREA"];

/** Listens to the keys of the page, and to the button that lists them. */
export function addKeys(filters: Filters, { toFailure, onEscape, onKey }: KeyActions): void {
  const help = find("help");
  const { field } = filters;
  filters.keysButton.addEventListener("click", () => help.showModal());
  find("help-close").addEventListener("click", () => help.close());
  const actions: Readonly<Record<string, () => void>> = {
    "/": () => field.focus(),
    "?": () => help.showModal(),
    n: () => toFailure(1),
    p: () => toFailure(-1),
  };
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    // The dialog has its own keys.
    if (hasModifier(event) || help.open) return;
    if (key === "Escape") {
      if (target === field && field.value !== "") filters.clearSearch();
      else onEscape?.(target);
    } else if (FIELDS.includes((target as PageElement).tagName)) return;
    else if (actions[key]) {
      event.preventDefault();
      actions[key]();
    } else onKey?.(event);
  });
}
