import { type Figure, median, type Workbench } from "./bench.ts";

const ROUNDS = 21;

/** A workflow of one step with a test, as most steps have one. */
function workflow(step: string, test: string): string {
  return `name: n\njobs: [{name: j, steps: [{${step}, test: "${test}"}]}]\n`;
}

interface Start {
  readonly what: string;
  readonly argument: string;
  /** The longest time that it may take, in multiples of an empty script. */
  readonly max: number;
  /** The same where V8 compiles all code again, as in the first run on a machine. */
  readonly maxWithoutCache?: number;
}

/**
 * The time that the program takes to start, as a ratio to an empty script run in turn. Both
 * built forms are measured: the chunks that binaries embed and the one file that is run from a URL.
 */
export async function* benchStart(workbench: Workbench): AsyncGenerator<Figure> {
  const dist = await workbench.bundle();
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("hi"),
  );
  const hello = await workbench.write("hello.yml", workflow("uses: hello", "status == 0"));
  const get = `with: {get: "http://127.0.0.1:${server.addr.port}"}`;
  const http = await workbench.write(
    "http.yml",
    workflow(`uses: http, ${get}`, "res.code == 200"),
  );
  const starts: readonly Start[] = [
    { what: "--version", argument: "--version", max: 2 },
    { what: "--help", argument: "--help", max: 2 },
    { what: "a hello step with a test", argument: hello, max: 3, maxWithoutCache: 4 },
    { what: "a request with a test", argument: http, max: 5, maxWithoutCache: 7 },
  ];
  const empty = await workbench.write("empty.ts", "");
  const forms = [["chunks", `${dist}/split/cli.js`], ["one file", `${dist}/runner.js`]] as const;
  for (const { what, argument, max, maxWithoutCache } of starts) {
    for (const [form, program] of forms) {
      const measure = async (options: readonly string[]) => {
        const ratios: number[] = [];
        const seconds: number[] = [];
        // The first of each fills the caches.
        for (let i = -1; i < ROUNDS; i++) {
          const ours = await workbench.deno("run", "-A", ...options, program, argument);
          const theirs = await workbench.deno("run", ...options, empty);
          if (i < 0) continue;
          ratios.push(ours.seconds / theirs.seconds);
          seconds.push(ours.seconds);
        }
        const note = `${(median(seconds) * 1000).toFixed(0)} ms`;
        return { value: median(ratios), unit: "times", note };
      };
      const title = `${what} against an empty script`;
      yield { what: `${title} (${form})`, ...await measure([]), goal: { max } };
      if (maxWithoutCache === undefined) continue;
      yield {
        what: `${title} (${form}, no code cache)`,
        ...await measure(["--no-code-cache"]),
        goal: { max: maxWithoutCache },
      };
    }
  }
}
