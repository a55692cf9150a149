/** The same items, with a number behind names that are already taken. */
export function withDistinctNames<T extends { readonly name: string }>(items: readonly T[]): T[] {
  const taken = new Set(items.map(({ name }) => name));
  const seen = new Map<string, number>();
  return items.map((item) => {
    const { name } = item;
    let number = (seen.get(name) ?? 0) + 1;
    let unique = name;
    if (number > 1) {
      while (taken.has(unique = `${name} (${number})`)) number++;
      taken.add(unique);
    }
    seen.set(name, number);
    return unique === name ? item : { ...item, name: unique };
  });
}
