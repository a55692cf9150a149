/** Gives out ids that Mermaid can read, each once. */
export class NodeIds {
  readonly #taken = new Set<string>();

  /** The text as an id, with `_` for other characters and a number if it is taken. */
  take(text: string): string {
    const base = text.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "n") || "node";
    let id = base;
    for (let number = 2; this.#taken.has(id) || isReserved(id); number++) {
      id = `${base}_${number}`;
    }
    this.#taken.add(id);
    return id;
  }
}

/** Words of Mermaid's own, and names that every JavaScript object has, which it trips over. */
function isReserved(id: string): boolean {
  return WORDS.has(id) || id in Object.prototype;
}

const WORDS: ReadonlySet<string> = new Set([
  ...["end", "graph", "flowchart", "subgraph", "style", "linkStyle", "classDef", "class"],
  ...["click", "href", "call", "default", "interpolate", "_blank", "_self", "_top", "_parent"],
]);
