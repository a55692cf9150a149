import { countOf } from "../../../../base/text/count_of.ts";
import { addEventListener, find, hasModifier, type PageElement, type PageEvent } from "./dom.ts";
import { wordsIn } from "./search.ts";

/** The state and the text that a list is filtered by, as the address has them. */
export interface FilterSettings {
  readonly show?: string;
  readonly find?: string;
}

/**
 * The filter and the search of a list. Every state is searched while there is a text to look for:
 * the chosen state returns with an empty field, unless the reader chooses another one.
 */
export class Filters {
  readonly field: PageElement;
  readonly keysButton: PageElement;
  readonly #filter: PageElement;
  readonly #byDefault: string;
  readonly #onChange: () => void;
  /** The state that returns with an empty field. */
  #chosen: string | undefined;

  /** `prefix` begins the ids of the elements, and `byDefault` is the state that is shown first. */
  constructor(prefix: string, byDefault: string, onChange: () => void) {
    find(`${prefix}filters`).hidden = false;
    this.field = find(`${prefix}search`);
    this.keysButton = find(`${prefix}keys`);
    this.#filter = find(`${prefix}show`);
    this.#filter.value = this.#byDefault = byDefault;
    this.#onChange = onChange;
    this.field.addEventListener("input", () => this.#search());
    this.#filter.addEventListener("change", () => {
      if (this.#chosen !== undefined) this.#chosen = this.state;
      onChange();
    });
  }

  get state(): string {
    return this.#filter.value;
  }

  get words(): RegExp[] {
    return wordsIn(this.field.value);
  }

  /** What is not as it is by default. */
  get settings(): FilterSettings {
    return {
      show: this.state === this.#byDefault ? undefined : this.state,
      find: this.field.value.trim() || undefined,
    };
  }

  /** Does not report the change. */
  set({ show = this.#byDefault, find = "" }: FilterSettings): void {
    this.field.value = find;
    this.#filter.value = show;
    // The address may have been written by hand.
    if (this.state !== show) this.#filter.value = this.#byDefault;
    this.#chosen = find === "" ? undefined : this.#byDefault;
  }

  clearSearch(): void {
    this.field.value = "";
    this.#search();
  }

  #search(): void {
    const isEmpty = this.field.value.trim() === "";
    if (!isEmpty && this.#chosen === undefined) {
      [this.#chosen, this.#filter.value] = [this.state, "all"];
    } else if (isEmpty && this.#chosen !== undefined) {
      [this.#chosen, this.#filter.value] = [undefined, this.#chosen];
    }
    this.#onChange();
  }
}

/** `3 of 5 steps`. */
export function countText(count: number, total: number, noun: string): string {
  return `${count} of ${countOf(total, noun)}`;
}

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
