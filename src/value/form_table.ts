import type { Range } from "./decodings.ts";

/** The number of characters of a form that decide whether it is searched for at a place. */
const HEAD = 4;

/**
 * Finds texts in other texts, and takes no longer when it knows many: a table of the heads of all
 * forms decides at each place whether one can begin there, and only then forms of each length are
 * looked up.
 */
export class FormTable {
  /** Undefined while there is no form, as in most runs. */
  #heads: Uint8Array | undefined;
  /** By head, then by length, longest first. */
  readonly #forms = new Map<string, Map<number, Set<string>>>();
  #longest = 0;

  /** The length of the longest form. */
  get longest(): number {
    return this.#longest;
  }

  /** Adds a text to look for, which must have four characters at least. */
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

  /** The positions of forms in a text, in order; some may overlap. */
  find(text: string): Range[] {
    const found: Range[] = [];
    const heads = this.#heads;
    if (!heads) return found;
    for (let start = 0; start <= text.length - HEAD; start++) {
      if (heads[headHash(text, start)] === 0) continue;
      const length = this.#lengthAt(text, start);
      if (length > 0) found.push({ start, end: start + length });
    }
    return found;
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
