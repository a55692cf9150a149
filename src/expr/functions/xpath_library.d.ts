/** The package xpath, as far as this project uses it. */
export interface XpathLibrary {
  /** Throws an `Error` for invalid syntax. */
  parse(expression: string): {
    evaluate(
      options: { readonly node: unknown; readonly namespaces?: Readonly<Record<string, string>> },
    ): XpathResult;
  };
}

/** The result of an expression: a value of one type, or a set of nodes. */
export interface XpathResult {
  stringValue(): string;
  /** Of a set of nodes alone, in the order of the document. */
  toArray?(): unknown[];
  /** Of a boolean alone. */
  readonly b?: boolean;
  /** Of a number alone. */
  readonly num?: number;
}

export function importXpath(): Promise<XpathLibrary>;
