import type { PageElement } from "./dom.ts";

/**
 * While there is text to search for, everything is searched: the choice of a state returns with an
 * empty field, unless a reader chooses another one. Returns what empties the field.
 */
export function widenSearch(
  search: PageElement,
  filter: PageElement,
  show: () => void,
): () => void {
  let before: string | undefined;
  const showFound = () => {
    const isEmpty = search.value.trim() === "";
    if (!isEmpty && before === undefined) {
      before = filter.value;
      filter.value = "all";
    } else if (isEmpty && before !== undefined) {
      filter.value = before;
      before = undefined;
    }
    show();
  };
  search.addEventListener("input", showFound);
  filter.addEventListener("change", () => {
    if (before !== undefined) before = filter.value;
    show();
  });
  return () => {
    search.value = "";
    showFound();
  };
}
