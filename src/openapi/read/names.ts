/** A text as an identifier of expressions; undefined if nothing of it is left. */
function identifier(text: string): string | undefined {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^A-Za-z0-9]+/g, "_");
  const name = plain.replace(/^_+|_+$/g, "");
  if (name === "") return undefined;
  return /^\d/.test(name) ? `n${name}` : name;
}

/** A name in the form of variables: `petId` becomes `pet_id`. */
export function snakeCase(text: string): string | undefined {
  const words = text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(
    /([A-Z])([A-Z][a-z])/g,
    "$1_$2",
  );
  return identifier(words)?.toLowerCase();
}

/** A name in the form of environment variables: `PET_ID`. */
export function environmentName(text: string): string {
  return (snakeCase(text) ?? "value").toUpperCase();
}

/** A name without case and separators: `petId` and `pet_id` are equal. */
export function nameKey(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The singular of a word: `pet` for `pets`. */
export function singular(word: string): string {
  if (/ies$/i.test(word) && word.length > 4) return word.replace(/ies$/i, "y");
  if (/(?:ss|x|ch|sh|(?<!o)us)es$/i.test(word)) return word.replace(/es$/i, "");
  return /[^s]s$/i.test(word) ? word.slice(0, -1) : word;
}

/** Returns each name once; a name that is taken gets a number. */
export class UniqueNames {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  take(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free); number++) free = `${name}_${number}`;
    this.#taken.add(free);
    return free;
  }
}
