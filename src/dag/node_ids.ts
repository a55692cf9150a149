/** Gives out ids that Mermaid can read, each once. */
export class NodeIds {
  readonly #taken = new Set<string>();

  /** The text with `_` for what cannot be in an id, and a number behind it where that is taken. */
  take(text: string): string {
    const base = text.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "n") || "node";
    let id = base;
    for (let number = 2; this.#taken.has(id) || RESERVED.test(id); number++) {
      id = `${base}_${number}`;
    }
    this.#taken.add(id);
    return id;
  }
}

/** Words of Mermaid's own. */
const RESERVED =
  /^(?:end|graph|flowchart|subgraph|style|linkStyle|classDef|class|click|href|call|default|interpolate|direction|LR|RL|TB|BT|TD)$/i;
