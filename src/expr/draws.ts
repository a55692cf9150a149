/** Where random functions get their numbers. */
export interface RandomSource {
  /** An integer from 0 to 2^32 - 1; each is as likely as the next. */
  next(): number;
}

/** Random numbers without a seed. */
export const UNSEEDED: RandomSource = {
  next: () => crypto.getRandomValues(new Uint32Array(1))[0]!,
};

/**
 * The random numbers of a run, which its seed repeats: each place draws from a sequence of its own,
 * whatever runs at the same time.
 */
export class Draws {
  #seed: string | undefined;
  #isUsed = false;

  /** Without a seed, it uses a random one. */
  constructor(seed?: string) {
    this.#seed = seed;
  }

  /** The seed, once something was drawn. */
  get usedSeed(): string | undefined {
    return this.#isUsed ? this.#seed : undefined;
  }

  /** The seed, for another process that may draw. */
  get seed(): string {
    return this.#seed ??= crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(36);
  }

  /** Something is drawn, here or by another process. */
  use(): void {
    this.#isUsed = true;
  }

  /** The sequence of a place, which is named when something is drawn first. */
  at(nameOf: () => string): RandomSource {
    let next: (() => number) | undefined;
    return {
      next: () => {
        this.use();
        next ??= numbersFrom(`${this.seed}\n${nameOf()}`);
        return next();
      },
    };
  }
}

/** Random numbers of an owner, for whom few expressions ask. */
export class RandomNumbers implements RandomSource {
  readonly #draws: Draws;
  readonly #document: { readonly name: string };
  readonly #owner: { readonly label: string };
  #source: RandomSource | undefined;

  /** The label of the owner is unlike that of any other in its document. */
  constructor(
    draws: Draws,
    document: { readonly name: string },
    owner: { readonly label: string },
  ) {
    this.#draws = draws;
    this.#document = document;
    this.#owner = owner;
  }

  next(): number {
    this.#source ??= this.#draws.at(() => `${this.#document.name} ${this.#owner.label}`);
    return this.#source.next();
  }
}

/** xoshiro128**, begun with a hash of a text. */
function numbersFrom(text: string): () => number {
  let [a, b, c, d] = [hash(text, 1), hash(text, 2), hash(text, 3), hash(text, 4)];
  const rotate = (value: number, by: number) => (value << by) | (value >>> (32 - by));
  return () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  };
}

/** FNV-1a, with the mixing at its end that MurmurHash3 has. */
function hash(text: string, lane: number): number {
  let state = Math.imul(0x811c9dc5 ^ lane, 0x9e3779b1);
  for (let at = 0; at < text.length; at++) {
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193 + (lane << 9));
  }
  state ^= state >>> 16;
  state = Math.imul(state, 0x85ebca6b);
  state ^= state >>> 13;
  state = Math.imul(state, 0xc2b2ae35);
  return (state ^ state >>> 16) >>> 0 || lane;
}
