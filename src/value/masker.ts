import { secretForms } from "./secret_forms.ts";

/** What stands in a report in place of a secret. */
export const MASK = "***";

/** As many characters of a form decide whether it is looked for at a place. */
const HEAD = 4;

/**
 * Knows the secrets of a run and takes them out of texts.
 *
 * Secrets come up while a run goes on, a cookie with each response perhaps, so adding one must
 * not cost more when there are many: a table of the heads of all forms tells at each place of a
 * text whether a secret can begin there, and only then forms of each length are looked up.
 */
export class Masker {
  readonly #known = new Set<string>();
  readonly #heads = new Uint8Array(1 << 16);
  /** By head, then by length, longest first. */
  readonly #forms = new Map<string, Map<number, Set<string>>>();

  /** Makes a text secret, in every form in which it may turn up. Short texts are left alone. */
  add(secret: string): void {
    if (this.#known.has(secret)) return;
    this.#known.add(secret);
    for (const form of secretForms(secret)) this.#addForm(form);
  }

  #addForm(form: string): void {
    this.#heads[headHash(form, 0)] = 1;
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

  /**
   * The first `limit` characters of a text with `***` for each secret, in one piece where
   * secrets overlap. A secret that begins before the limit is seen whole.
   */
  mask(text: string, limit = Infinity): string {
    const stop = Math.min(text.length, limit);
    if (this.#known.size === 0 || text.length < HEAD) return text.slice(0, stop);
    let out = "";
    let copied = 0;
    let hidden = 0; // the end of the secret that is being passed over
    const last = Math.min(stop, text.length - HEAD + 1);
    for (let at = 0; at < last; at++) {
      if (this.#heads[headHash(text, at)] === 0) continue;
      const length = this.#lengthAt(text, at);
      if (length === 0) continue;
      if (at >= hidden) {
        out += text.slice(copied, at) + MASK;
      }
      hidden = copied = Math.max(hidden, at + length);
    }
    return copied < stop ? out + text.slice(copied, stop) : out;
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
