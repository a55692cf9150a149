import {
  decodings,
  joinBase64,
  LONGEST_CODE,
  type Range,
  type Rewritten,
  withoutLastCodes,
} from "./decoded.ts";
import { FormTable } from "./form_table.ts";
import { secretForms, SHORTEST_SECRET } from "./secrets.ts";

/** What stands in a report in place of a secret. */
export const MASK = "***";

/**
 * Knows the secrets of a run and takes them out of texts. Secrets come up while a run goes on, a
 * cookie with each response perhaps, so adding one must not cost more when there are many.
 */
export class Masker {
  readonly #known = new Set<string>();
  readonly #forms = new FormTable();
  /** Of all forms, those that may be broken into lines. */
  readonly #base64 = new FormTable();
  #longest = 0;

  /** The length of the longest form in which a secret may turn up. */
  get longest(): number {
    return Math.max(this.#forms.longest, LONGEST_CODE * this.#longest);
  }

  /** Makes a text secret, in every form in which it may turn up. Short texts are left alone. */
  add(secret: string): void {
    if (this.#known.has(secret)) return;
    this.#known.add(secret);
    this.#longest = Math.max(this.#longest, secret.length);
    const { plain, base64 } = secretForms(secret);
    for (const form of plain) this.#forms.add(form);
    for (const form of base64) {
      this.#forms.add(form);
      this.#base64.add(form);
    }
  }

  /**
   * The first `limit` characters of a text with `***` for each secret, in one piece where
   * secrets overlap. A secret that begins before the limit is seen whole.
   */
  mask(text: string, limit = Infinity): string {
    const stop = Math.min(text.length, limit);
    // Nearly all texts are short, or nothing is secret.
    if (this.#known.size === 0 || text.length < SHORTEST_SECRET) {
      return stop === text.length ? text : text.slice(0, stop);
    }
    let out = "";
    let copied = 0;
    for (const { start, end } of this.#secretsIn(text, stop)) {
      out += text.slice(copied, start) + MASK;
      copied = end;
    }
    return copied < stop ? out + text.slice(copied, stop) : out;
  }

  /** Where secrets stand in a text, those that overlap as one. */
  find(text: string): readonly Range[] {
    return this.#secretsIn(text, text.length);
  }

  /** The first `limit` characters of a text, without the beginning of a secret that is cut. */
  cut(text: string, limit: number): string {
    const severed = this.#secretsIn(text, limit).find(({ end }) => end > limit);
    return text.slice(0, severed ? severed.start : limit);
  }

  /**
   * A text from `start` on, without the rest of a secret that is cut, nor one that nothing finds
   * without what stood before it: base64 in lines, of which the first is now a short one.
   */
  cutStart(text: string, start: number): string {
    const reach = 2 * this.longest;
    for (let at = start;;) {
      const end = at + reach;
      const wasThere = this.#secretsBetween(text, Math.max(0, at - reach), end);
      const isThere = this.#secretsBetween(text, at, end);
      const lost = firstOutside(wasThere.filter((secret) => secret.end > at), isThere);
      if (!lost) return text.slice(at);
      // Another one may begin in it that goes on behind what was looked at.
      at = lost.end;
    }
  }

  /** A text whose rest never came, without the beginning of a secret at its end. */
  cutEnd(text: string): string {
    const start = this.#begunAtEnd(text);
    // Another one may be whole and go on in it.
    return start === undefined ? text : this.cut(text, start);
  }

  /** Where a secret begins that the end of a text cuts. */
  #begunAtEnd(text: string): number | undefined {
    const from = Math.max(0, text.length - 2 * this.longest);
    const tail = text.slice(from);
    const lines = tail.trimEnd().replace(/(?:\\r)?(?:\\[rn]?)?$/, "");
    const starts = [this.#base64.begun(lines), begunIn(joinBase64(lines), this.#base64)];
    for (const whole of withoutLastCodes(tail)) {
      starts.push(this.#forms.begun(whole));
      for (const decoded of decodings(whole)) starts.push(begunIn(decoded, this.#forms));
    }
    const start = Math.min(...starts.filter((start) => start !== undefined));
    return start < tail.length ? from + start : undefined;
  }

  /** Where secrets stand in a part of a text, as if there were no more of it. */
  #secretsBetween(text: string, from: number, to: number): Range[] {
    return this.#secretsIn(text.slice(from, to), Infinity)
      .map(({ start, end }) => ({ start: from + start, end: from + end }));
  }

  /** Where secrets stand that begin before `stop`, those that overlap as one. */
  #secretsIn(text: string, stop: number): Range[] {
    if (this.#known.size === 0) return [];
    const found = this.#forms.find(text, stop);
    const direct = found.length;
    const findIn = (rewritten: Rewritten, forms: FormTable) => {
      for (const range of forms.find(rewritten.text, rewritten.text.length)) {
        const origin = rewritten.origin(range);
        if (origin.start < stop) found.push(origin);
      }
    };
    for (const decoded of decodings(text.slice(0, stop + this.longest))) {
      findIn(decoded, this.#forms);
    }
    // Lines are wider than what stands between them, so a form is not twice as long with breaks.
    const unbroken = joinBase64(text.slice(0, stop + 2 * this.#base64.longest));
    if (unbroken) findIn(unbroken, this.#base64);
    if (found.length > direct) found.sort((a, b) => a.start - b.start);
    return merge(found);
  }
}

function merge(sorted: Range[]): Range[] {
  if (sorted.length < 2) return sorted;
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && range.start < last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    } else {
      merged.push(range);
    }
  }
  return merged;
}

/** Where a form begins, in the text before it was rewritten, that the end of it cuts. */
function begunIn(rewritten: Rewritten | undefined, forms: FormTable): number | undefined {
  const start = rewritten && forms.begun(rewritten.text);
  return start === undefined
    ? undefined
    : rewritten!.origin({ start, end: rewritten!.text.length }).start;
}

/** The first of some ranges that is in none of others; both are in order and do not overlap. */
function firstOutside(ranges: readonly Range[], others: readonly Range[]): Range | undefined {
  let at = 0;
  return ranges.find(({ start, end }) => {
    while (at < others.length && others[at]!.end < end) at++;
    return at === others.length || others[at]!.start > start;
  });
}
