// Types for the package ssh2, as far as this project and its tests use it.

declare module "ssh2" {
  import type { Duplex, Readable } from "node:stream";

  export interface ParsedKey {
    readonly type: string;
    getPrivatePEM(): string | null;
    getPublicSSH(): Uint8Array;
    isPrivateKey(): boolean;
  }
  export interface ConnectOptions {
    readonly sock: Duplex;
    readonly username: string;
    readonly password?: string;
    readonly privateKey?: string;
    readonly passphrase?: string;
    readonly agent?: string;
    readonly readyTimeout: number;
    readonly keepaliveInterval?: number;
    readonly algorithms?: { readonly serverHostKey?: readonly string[] };
    readonly hostVerifier: (key: Uint8Array) => boolean;
    readonly authHandler: (
      left: readonly string[] | null,
      partial: boolean | null,
      next: (method: unknown) => void,
    ) => void;
  }
  export interface ClientError extends Error {
    readonly level?: string;
    readonly code?: string | number;
    readonly reason?: number | string;
  }
  export interface Channel extends Duplex {
    readonly stderr: Readable;
    readonly outgoing: { readonly id: number };
    close(): void;
  }
  export interface Attributes {
    readonly size: number;
    readonly mode: number;
    isDirectory(): boolean;
  }
  type Done<T> = (error: ClientError | undefined | null, value: T) => void;
  export interface Sftp {
    open(path: string, flags: "r" | "w", done: Done<Uint8Array>): void;
    close(handle: Uint8Array, done: Done<void>): void;
    read(
      handle: Uint8Array,
      buffer: Uint8Array,
      offset: number,
      length: number,
      position: number,
      done: Done<number>,
    ): void;
    write(
      handle: Uint8Array,
      buffer: Uint8Array,
      offset: number,
      length: number,
      position: number,
      done: Done<void>,
    ): void;
    stat(path: string, done: Done<Attributes>): void;
    fstat(handle: Uint8Array, done: Done<Attributes>): void;
    fchmod(handle: Uint8Array, mode: number, done: Done<void>): void;
    on(event: "close", listener: () => void): void;
    end(): void;
  }
  export interface Client {
    readonly _protocol: { signal(channel: number, name: string): void };
    connect(options: ConnectOptions): void;
    exec(command: string, options: { readonly pty?: object }, done: Done<Channel>): void;
    sftp(done: Done<Sftp>): void;
    forwardOut(
      fromHost: string,
      fromPort: number,
      host: string,
      port: number,
      done: Done<Channel>,
    ): void;
    on(event: "ready" | "close" | "end", listener: () => void): Client;
    on(event: "error", listener: (error: ClientError) => void): Client;
    end(): void;
    destroy(): void;
  }
  const ssh2: {
    readonly Client: new () => Client;
    // deno-lint-ignore no-explicit-any
    readonly Server: new (options: object, connected: (client: any) => void) => any;
    readonly utils: {
      parseKey(text: string | Uint8Array, passphrase?: string): ParsedKey | ParsedKey[] | Error;
      generateKeyPairSync(type: string, options?: object): {
        readonly private: string;
        readonly public: string;
      };
      // deno-lint-ignore no-explicit-any
      readonly sftp: any;
    };
  };
  export default ssh2;
}
