/** Caches the results of a function for the last `size` arguments. */
export function remember<V>(make: (key: string) => V, size = 200): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (known.size >= size) known.delete(known.keys().next().value!);
    known.set(key, made);
    return made;
  };
}
