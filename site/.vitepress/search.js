// The search: what it reads of the pages, and the words by which people look for them.
import { readFile } from "node:fs/promises";

/** Words that a page is looked for by and that its title does not have: runner help knows the same. */
const SYNONYMS = JSON.parse(
  await readFile(new URL("../../src/cli/help/synonyms.json", import.meta.url), "utf8"),
);

/** The options of the search of a site below a path. */
export function searchIn(base) {
  return {
    _render: (text, env, md) => env.relativePath === "changelog.md" ? "" : md.render(text, env),
    miniSearch: {
      options: {
        fields: ["title", "titles", "text", "synonyms"],
        // A document is a section; the synonyms are those of the page, and go to its first one.
        extractField(document, field) {
          if (field !== "synonyms") return document[field];
          const page = document.id.slice(base.length).replace(/\.html(?:#.*)?$/, ".md");
          return document.titles.length === 0 ? SYNONYMS[page] ?? "" : "";
        },
      },
      searchOptions: {
        // All words must be on a page; the words for it and its title count most.
        combineWith: "AND",
        boost: { title: 6, synonyms: 10, titles: 2, text: 1 },
      },
    },
  };
}
