// Types for the package pg, as far as this project uses it.

declare module "pg" {
  export interface Config {
    readonly host?: string;
    readonly port?: number;
    readonly user?: string;
    readonly password?: string;
    readonly database?: string;
    readonly ssl?: object | false;
    readonly application_name?: string;
  }
  export interface Query {
    readonly text: string;
    readonly values?: readonly unknown[];
    readonly rowMode: "array";
    readonly types: { getTypeParser(oid: number): (text: string) => unknown };
  }
  export interface Result {
    readonly command: string | null;
    readonly rowCount: number | null;
    readonly rows: unknown[][];
    readonly fields: readonly { readonly name: string }[];
  }
  export interface Client {
    readonly processID: number | null;
    readonly secretKey: number | null;
    readonly connection: { readonly stream: { destroy(): void } };
    connect(): Promise<void>;
    query(query: Query): Promise<Result | Result[]>;
    query(text: string): Promise<unknown>;
    end(): Promise<void>;
    on(event: "error" | "end", listener: (error: unknown) => void): void;
  }
  const pg: { readonly Client: new (config: Config) => Client };
  export default pg;
}
