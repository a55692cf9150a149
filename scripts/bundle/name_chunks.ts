/**
 * Gives chunks names that depend on nothing but what is in them: the bundler puts a hash of the
 * paths of the sources into each. `chunks` are texts by file name, and each is found from `entry`;
 * those that are not are left out.
 */
export function nameChunks(
  entry: string,
  chunks: ReadonlyMap<string, string>,
): Map<string, string> {
  const reference = /"\.\/([\w.@-]+\.js)"/g;
  const names = new Map([[entry, entry]]);
  const used = new Set([entry]);
  for (const [file] of names) {
    for (const [, found = ""] of (chunks.get(file) ?? "").matchAll(reference)) {
      if (names.has(found) || !chunks.has(found)) continue;
      const stem = found.replace(/-[A-Z0-9]{8}\.js$/, "");
      let name = `${stem}.js`;
      for (let i = 2; used.has(name); i++) name = `${stem}_${i}.js`;
      names.set(found, name);
      used.add(name);
    }
  }
  return new Map(
    [...names].map(([file, name]) => {
      const text = chunks.get(file) ?? "";
      return [
        name,
        text.replace(reference, (whole, found) => {
          const known = names.get(found);
          return known === undefined ? whole : `"./${known}"`;
        }),
      ];
    }),
  );
}
