import { countOf } from "../../../../base/text/count_of.ts";
import { find, type PageElement } from "./dom.ts";
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
