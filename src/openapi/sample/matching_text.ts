/**
 * A text that a regular expression of a schema accepts; undefined where it uses more of the
 * language than this knows, or no text of that length was found.
 */
export function matchingText(pattern: string, least: number, most: number): string | undefined {
  const check = compile(pattern);
  if (!check) return undefined;
  // With more turns of each "*" and "+" the text becomes longer.
  for (let turns = 0; turns <= 40; turns++) {
    const text = new TextMaker(pattern, turns).make();
    if (text === undefined) return undefined;
    if (text.length > Math.max(most, 200)) return undefined;
    if (text.length < least || text.length > most) continue;
    // A long text is taken without a look: some patterns would take hours over it.
    if (text.length > LONGEST_CHECKED || check.test(text)) return text;
  }
  return undefined;
}

const LONGEST_CHECKED = 20;

/** Patterns are written for many engines, of which some know escapes that others refuse. */
function compile(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // The next flags may be right.
    }
  }
  return undefined;
}

class Unknown extends Error {}

/** Reads a pattern from left to right and writes what it asks for. */
class TextMaker {
  #at = 0;

  constructor(readonly pattern: string, readonly turns: number) {}

  make(): string | undefined {
    try {
      const text = this.#alternatives();
      return this.#at === this.pattern.length ? text : undefined;
    } catch (error) {
      if (error instanceof Unknown) return undefined;
      throw error;
    }
  }

  /** The first of several; the others are read and left out. */
  #alternatives(): string {
    let chosen = this.#sequence();
    while (this.#take("|")) {
      const other = this.#sequence();
      if (chosen === "") chosen = other;
    }
    return chosen;
  }

  #sequence(): string {
    let text = "";
    while (this.#at < this.pattern.length && !/[|)]/.test(this.pattern[this.#at]!)) {
      const start = this.#at;
      const part = this.#part();
      const [least, most] = this.#count();
      const times = Math.min(Math.max(least, this.turns), most, 100);
      text += part.repeat(times);
      if (this.#at === start) throw new Unknown();
    }
    return text;
  }

  #part(): string {
    if (this.#take("^") || this.#take("$")) return "";
    if (this.#take("(")) {
      if (this.#take("?") && !this.#take(":")) {
        const named = /^<[A-Za-z]\w*>/.exec(this.pattern.slice(this.#at));
        if (!named) throw new Unknown();
        this.#at += named[0].length;
      }
      const text = this.#alternatives();
      if (!this.#take(")")) throw new Unknown();
      return text;
    }
    if (this.#take("[")) return this.#set();
    if (this.#take(".")) return "a";
    if (this.#take("\\")) return this.#escape();
    const character = String.fromCodePoint(this.pattern.codePointAt(this.#at)!);
    this.#at += character.length;
    return character;
  }

  #escape(): string {
    const letter = this.pattern[this.#at++] ?? "";
    if (/[dDwWsS]/.test(letter)) return CLASSES[letter]!;
    if (letter === "b") return "";
    if (letter === "p" || letter === "P") {
      const property = /^\{(\w+)\}/.exec(this.pattern.slice(this.#at));
      if (!property || letter === "P") throw new Unknown();
      this.#at += property[0].length;
      return property[1]!.startsWith("N") ? "1" : property[1] === "Lu" ? "A" : "a";
    }
    if (/[nrtfv0-9ckxuB]/.test(letter)) throw new Unknown();
    return letter;
  }

  /** One character of a set: of those that are likely, the first that is in it. */
  #set(): string {
    const rest = this.pattern.slice(this.#at);
    const [whole] = /^\^?\]?(?:\\.|[^\]\\])*\]/.exec(rest) ?? [];
    if (whole === undefined) throw new Unknown();
    this.#at += whole.length;
    const set = compile(`^[${whole}`);
    if (!set) throw new Unknown();
    const own = whole.slice(0, -1).replace(/^\^/, "");
    const found = [..."aA1bB2 -_.", ...own].find((character) => set.test(character));
    if (found === undefined) throw new Unknown();
    return found;
  }

  #count(): [least: number, most: number] {
    const rest = this.pattern.slice(this.#at);
    const [mark, least, comma, most] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(rest) ?? [];
    if (mark === undefined) return [1, 1];
    this.#at += mark.length;
    if (mark.startsWith("*")) return [0, Infinity];
    if (mark.startsWith("+")) return [1, Infinity];
    if (mark.startsWith("?")) return [0, 1];
    const from = Number(least);
    return [from, comma === "" ? from : most === "" ? Infinity : Number(most)];
  }

  #take(mark: string): boolean {
    if (!this.pattern.startsWith(mark, this.#at)) return false;
    this.#at += mark.length;
    return true;
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  d: "1",
  D: "a",
  w: "a",
  W: "-",
  s: " ",
  S: "a",
};
