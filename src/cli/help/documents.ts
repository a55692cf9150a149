/**
 * The pages that `runner help <topic>` prints, by their paths below docs/. A checkout has none here
 * and reads its files; a build puts a file in the place of this one, by which binaries contain the
 * pages and the one file loads them when they are first asked for.
 */
export function loadDocuments(): Promise<Readonly<Record<string, string>> | undefined> {
  return Promise.resolve(undefined);
}
