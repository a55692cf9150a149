import type { IndexEntry } from "../page_data.ts";
import type { PageDocument, PageElement, PageEvent } from "./dom.ts";

declare const document: PageDocument;
declare function addEventListener(type: string, hear: (event: PageEvent) => void): void;

/** Shows the list of workflows, and of it what is looked for. */
export function startIndex(): void {
  const find = (id: string): PageElement => document.getElementById(id)!;
  const entries: readonly IndexEntry[] = JSON.parse(find("index-data").textContent!);
  const [search, filter] = [find("index-search"), find("index-show")];
  find("index").hidden = false;
  find("index-filters").hidden = false;

  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let count = 0;
    entries.forEach(({ state, text }, index) => {
      const fits = (filter.value === "all" || filter.value === state) &&
        words.every((word) => text.includes(word));
      find(`run-row-${index}`).hidden = !fits;
      if (fits) count++;
    });
    find("index-count").textContent = `${count} of ${entries.length} workflow${
      entries.length === 1 ? "" : "s"
    }`;
  };

  search.addEventListener("input", show);
  filter.addEventListener("change", show);
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "/" && event.target !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      show();
    }
  });
  if (entries.some(({ state }) => state === "failed")) filter.value = "failed";
  show();
}
