import { fromFileUrl } from "@std/path/from-file-url";

/** Something that users wait for: a record in the registry. */
export interface Bench {
  /** The name that `deno task bench <name>` takes. */
  readonly name: string;
  /** Measures, and reports each figure as soon as it is known. */
  readonly measure: (workbench: Workbench) => AsyncIterable<Figure>;
}

/** One figure of a bench, and what it should be. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  /** The unit of the value: `s`, `times`. */
  readonly unit: string;
  /** Further figures, which have no goal. */
  readonly note?: string;
  /** A bound on the value; a figure without one is there for comparison. */
  readonly goal?: { readonly max: number } | { readonly min: number };
}

/** A program that has ended. */
export interface Measured {
  readonly seconds: number;
  /** Peak memory in megabytes, if the system reports it. */
  readonly megabytes: number;
  readonly stdout: string;
}

/** The program as a checkout runs it. */
export const CHECKOUT = fromFileUrl(new URL("../../cli.ts", import.meta.url));

const BUNDLE = fromFileUrl(new URL("../bundle.ts", import.meta.url));

/** Runs programs and keeps their files. */
export class Workbench {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The path of a file or directory that is removed when the bench ends. */
  path(name: string): string {
    return `${this.#directory}/${name}`;
  }

  async write(name: string, text: string): Promise<string> {
    await Deno.writeTextFile(this.path(name), text);
    return this.path(name);
  }

  /**
   * Bundles the program, and returns the directory that has it: `runner.js` and the chunks in
   * `split`.
   */
  async bundle(): Promise<string> {
    const dist = this.path("dist");
    await this.deno("run", "-A", BUNDLE, dist);
    return dist;
  }

  /** Runs the checkout to its end. */
  runner(...args: readonly string[]): Promise<Measured> {
    return this.deno("run", "-A", CHECKOUT, ...args);
  }

  /** Runs deno to its end. Throws where it fails. */
  async deno(...args: readonly string[]): Promise<Measured> {
    const began = performance.now();
    const child = new Deno.Command(Deno.execPath(), {
      args: [...args],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    let megabytes = 0;
    const watch = setInterval(() => {
      megabytes = Math.max(megabytes, peakMemory(child.pid));
    }, 20);
    const { success, stdout } = await child.output();
    clearInterval(watch);
    if (!success) throw new Error(`deno ${args.join(" ")} failed`);
    const seconds = (performance.now() - began) / 1000;
    return { seconds, megabytes, stdout: new TextDecoder().decode(stdout) };
  }

  /** The median of the extra seconds that the checkout needs for one command line over another. */
  async ownTime(
    args: readonly string[],
    without: readonly string[],
    rounds = 5,
  ): Promise<number> {
    const seconds: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const start = await this.runner(...without);
      seconds.push((await this.runner(...args)).seconds - start.seconds);
    }
    return median(seconds);
  }
}

/** Peak memory of a process so far, in megabytes; 0 if it has ended or is unknown. */
function peakMemory(pid: number): number {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** The middle one by size. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN;
}

/** A workflow of one step, which shows the overhead of a run. */
export const HELLO = "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n";
