/** The same items in another order, the same for the same seed. */
export function shuffle<T>(items: readonly T[], seed: string): T[] {
  const random = randomFrom(seed);
  const shuffled = [...items];
  for (let end = shuffled.length - 1; end > 0; end--) {
    const other = Math.floor(random() * (end + 1));
    [shuffled[end], shuffled[other]] = [shuffled[other]!, shuffled[end]!];
  }
  return shuffled;
}

/** Numbers from 0 to 1 (xorshift32, begun with the FNV-1a hash of the seed). */
function randomFrom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (const character of seed) {
    state = Math.imul(state ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  }
  state ||= 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
