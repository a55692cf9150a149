// Types for the package pg, as far as this project uses it.

declare module "pg" {
  import type { Socket } from "node:net";

  export interface Config {
    readonly host?: string;
    readonly port?: number;
    readonly user?: string;
    readonly password?: string;
    readonly database?: string;
    readonly ssl?: boolean;
    readonly application_name?: string;
    readonly options?: string;
  }
  export interface QueryConfig {
    readonly text: string;
    readonly values?: readonly unknown[];
    readonly rowMode: "array";
    readonly types: { getTypeParser(oid: number): (text: string) => unknown };
  }
  export interface Query {
    on(event: "row", listener: (row: unknown[], result: Result) => void): void;
    on(event: "end", listener: (results: Result | Result[]) => void): void;
    on(event: "error", listener: (error: unknown) => void): void;
  }
  export interface Result {
    readonly command: string | null;
    readonly rowCount: number | null;
    readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
    readonly rows: readonly Record<"oid" | "typelem", number>[];
  }
  export interface Connection {
    stream: Socket;
    upgradeToSSL(host: string, onError: (error: unknown) => void): void;
    attachListeners(stream: Socket): void;
    emit(event: "sslconnect"): void;
    parse(statement: { readonly text: string; readonly name: string }): void;
    describe(what: { readonly type: "S"; readonly name: string }): void;
    sync(): void;
    once(
      event: "parameterDescription",
      listener: (message: { readonly dataTypeIDs: readonly number[] }) => void,
    ): void;
    off(event: "parameterDescription", listener: unknown): void;
  }
  /** What a client can carry out besides queries. */
  export interface Submittable {
    submit(connection: Connection): void;
    handleReadyForQuery(): void;
    handleError(error: unknown): void;
    handleRowDescription(): void;
    handleParseComplete?(): void;
  }
  export interface Client {
    readonly processID: number | null;
    readonly secretKey: number | null;
    readonly connection: Connection;
    connect(): Promise<void>;
    query(query: Query | Submittable): void;
    query(text: string): Promise<Result>;
    end(): Promise<void>;
    on(event: "error" | "end", listener: (error: unknown) => void): void;
    on(
      event: "notification",
      listener: (message: { readonly channel: string; readonly payload?: string }) => void,
    ): void;
  }
  const pg: {
    readonly Client: new (config: Config) => Client;
    readonly Query: new (config: QueryConfig) => Query;
  };
  export default pg;
}
