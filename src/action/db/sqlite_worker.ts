/** A message to the worker: the database to open, statements to carry out, or the end. */
export type SqliteOrder =
  | { readonly type: "open"; readonly path: string; readonly mayAttach: boolean }
  | {
    readonly type: "run";
    /** The text, cut after each `;`. */
    readonly pieces: readonly string[];
    readonly values: readonly SqliteValue[] | undefined;
    readonly most: number;
  }
  | { readonly type: "close" };

export type SqliteValue = null | number | bigint | string | Uint8Array;

export interface SqliteColumn {
  readonly name: string;
  /** The type declared by its table: `BOOLEAN`; null for an expression. */
  readonly type: string | null;
}

export interface SqliteResult {
  readonly columns: readonly SqliteColumn[];
  readonly rows: readonly SqliteValue[][];
  readonly changes: number;
  readonly isTruncated: boolean;
}

/** The worker's answer to an order. */
export interface SqliteReply {
  readonly results: readonly SqliteResult[];
  readonly error?: { readonly message: string; readonly code: number };
}

interface Port {
  on(event: "message", listen: (order: SqliteOrder) => void): void;
  postMessage(reply: SqliteReply): void;
}

interface Prepared {
  columns(): readonly SqliteColumn[];
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
  iterate(...values: readonly SqliteValue[]): Iterable<SqliteValue[]>;
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
}

interface Database {
  readonly limits: { attach: number };
  prepare(text: string): Prepared;
  close(): void;
}

/**
 * The program of the worker, which is passed to it as text. SQLite works without a pause, so
 * that only ending the thread it works in can end it.
 */
export function sqliteMain(port: Port, require: (name: string) => unknown): void {
  const { DatabaseSync } = require("node:sqlite") as {
    readonly DatabaseSync: new (path: string, options: object) => Database;
  };
  let database: Database | undefined;

  const runOne = (statement: Prepared, values: readonly SqliteValue[], most: number) => {
    const columns = statement.columns().map(({ name, type }) => ({ name, type }));
    if (columns.length === 0) {
      const { changes } = statement.run(...values);
      return { columns, rows: [], changes: Number(changes), isTruncated: false };
    }
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const rows: SqliteValue[][] = [];
    let count = 0;
    for (const row of statement.iterate(...values)) if (count++ < most) rows.push(row);
    return { columns, rows, changes: count, isTruncated: count > most };
  };

  const runAll = (
    { pieces, values, most }: SqliteOrder & { readonly type: "run" },
    results: SqliteResult[],
  ) => {
    let text = "";
    for (const [index, piece] of pieces.entries()) {
      text += piece;
      let statement: Prepared;
      try {
        statement = database!.prepare(text);
      } catch (error) {
        // A trigger holds statements that end in ";" too.
        const isPart = index < pieces.length - 1 && /incomplete input/.test(String(error));
        if (isPart) continue;
        throw error;
      }
      text = "";
      results.push(runOne(statement, values ?? [], most));
    }
  };

  port.on("message", (order) => {
    const results: SqliteResult[] = [];
    try {
      if (order.type === "open") {
        database = new DatabaseSync(order.path, { timeout: 5000 });
        if (!order.mayAttach) database.limits.attach = 0;
        // The file is first read by a statement.
        runAll({ type: "run", pieces: ["PRAGMA schema_version"], values: [], most: 1 }, []);
      } else if (order.type === "run") {
        runAll(order, results);
      } else {
        database?.close();
      }
      port.postMessage({ results });
    } catch (error) {
      const { message, errcode } = error as { readonly message: string; readonly errcode?: number };
      port.postMessage({ results, error: { message, code: errcode ?? 1 } });
    }
  });
}
