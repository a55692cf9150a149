import type { Range } from "./decoded.ts";

/** As many characters of a form decide whether it is looked for at a place. */
const HEAD = 4;

/**
 * Finds texts in other texts, and takes no longer when it knows many: a table of the heads of all
 * forms tells at each place whether one can begin there, and only then forms of each length are
 * looked up.
 */
export class FormTable {
  /** None as long as there is no form, as in most runs. */
  #heads: Uint8Array | undefined;
  /** By head, then by length, longest first. */
  readonly #forms = new Map<string, Map<number, Set<string>>>();
  #longest = 0;

  /** The length of the longest form. */
  get longest(): number {
    return this.#longest;
  }

  /** Has a form looked for, which must have four characters at least. */
  add(form: string): void {
    this.#heads ??= new Uint8Array(1 << 16);
    this.#heads[headHash(form, 0)] = 1;
    this.#longest = Math.max(this.#longest, form.length);
    const head = form.slice(0, HEAD);
    const lengths = this.#forms.get(head) ?? new Map<number, Set<string>>();
    const forms = lengths.get(form.length);
    if (forms) {
      forms.add(form);
      return;
    }
    lengths.set(form.length, new Set([form]));
    this.#forms.set(head, new Map([...lengths].sort(([a], [b]) => b - a)));
  }

  /** Where forms stand that begin before `stop`, in order; some may overlap. */
  find(text: string, stop: number): Range[] {
    const found: Range[] = [];
    const heads = this.#heads;
    if (!heads) return found;
    const last = Math.min(stop, text.length - HEAD + 1);
    for (let start = 0; start < last; start++) {
      if (heads[headHash(text, start)] === 0) continue;
      const length = this.#lengthAt(text, start);
      if (length > 0) found.push({ start, end: start + length });
    }
    return found;
  }

  /** Where a form begins whose first characters, four or more, are the end of a text. */
  begun(text: string): number | undefined {
    const heads = this.#heads;
    if (!heads) return undefined;
    const last = text.length - HEAD;
    for (let start = Math.max(0, text.length - this.#longest + 1); start <= last; start++) {
      if (heads[headHash(text, start)] !== 0 && this.#isBegun(text.slice(start))) return start;
    }
    return undefined;
  }

  #isBegun(beginning: string): boolean {
    for (const [length, forms] of this.#forms.get(beginning.slice(0, HEAD)) ?? []) {
      if (length <= beginning.length) return false;
      for (const form of forms) if (form.startsWith(beginning)) return true;
    }
    return false;
  }

  #lengthAt(text: string, at: number): number {
    const lengths = this.#forms.get(text.slice(at, at + HEAD));
    if (!lengths) return 0;
    for (const [length, forms] of lengths) {
      if (forms.has(text.slice(at, at + length))) return length;
    }
    return 0;
  }
}

function headHash(text: string, at: number): number {
  return (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1) * 961 +
    text.charCodeAt(at + 2) * 29791 + text.charCodeAt(at + 3) * 923521) & 0xffff;
}
