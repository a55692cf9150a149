// Types for the @std modules, which the npm package deno-std ships as plain JavaScript.
// Only what this project uses is declared; moving to jsr: makes this file unnecessary.

declare module "@std/assert" {
  export function assert(expr: unknown, msg?: string): asserts expr;
  export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertStringIncludes(actual: string, expected: string, msg?: string): void;
  export function assertMatch(actual: string, expected: RegExp, msg?: string): void;
  export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;
  // deno-lint-ignore no-explicit-any
  type ErrorClass<E extends Error> = new (...args: any[]) => E;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    errorClass?: ErrorClass<E>,
    msgIncludes?: string,
  ): E;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    errorClass?: ErrorClass<E>,
    msgIncludes?: string,
  ): Promise<E>;
  export function fail(msg?: string): never;
}

declare module "@std/cli/parse-args" {
  export interface ParseArgs {
    readonly _: readonly (string | number)[];
    readonly [name: string]: unknown;
  }
  export interface ParseArgsOptions {
    readonly boolean?: readonly string[];
    readonly string?: readonly string[];
    readonly collect?: readonly string[];
    readonly alias?: Readonly<Record<string, string | readonly string[]>>;
    readonly "--"?: boolean;
    readonly unknown?: (arg: string, key?: string, value?: unknown) => unknown;
  }
  export function parseArgs(args: readonly string[], options?: ParseArgsOptions): ParseArgs;
}

declare module "@std/csv/parse-stream" {
  /** Gives the fields of each row. */
  export class CsvParseStream implements TransformStream<string, string[]> {
    constructor(options?: { readonly separator?: string });
    readonly readable: ReadableStream<string[]>;
    readonly writable: WritableStream<string>;
  }
}

declare module "@std/fmt/colors" {
  export function setColorEnabled(value: boolean): void;
  export function bold(text: string): string;
  export function dim(text: string): string;
  export function red(text: string): string;
  export function green(text: string): string;
  export function yellow(text: string): string;
  export function blue(text: string): string;
  export function cyan(text: string): string;
  export function gray(text: string): string;
  export function stripAnsiCode(text: string): string;
}

declare module "@std/path/from-file-url" {
  export function fromFileUrl(url: string | URL): string;
}
declare module "@std/path/glob-to-regexp" {
  export function globToRegExp(glob: string): RegExp;
}
declare module "@std/path/join" {
  export function join(...paths: string[]): string;
}
declare module "@std/path/relative" {
  export function relative(from: string, to: string): string;
}

declare module "@std/path/resolve" {
  export function resolve(...paths: string[]): string;
}
declare module "@std/path/to-file-url" {
  export function toFileUrl(path: string): URL;
}

declare module "@std/yaml/parse" {
  export interface ParseOptions {
    readonly schema?: "core" | "default" | "failsafe" | "json" | "extended";
  }
  export function parse(text: string, options?: ParseOptions): unknown;
}

declare module "@std/yaml/stringify" {
  export interface StringifyOptions {
    readonly lineWidth?: number;
    readonly useAnchors?: boolean;
    readonly quoteStyle?: "'" | '"';
  }
  export function stringify(data: unknown, options?: StringifyOptions): string;
}
