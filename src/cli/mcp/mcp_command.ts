import { RunnerError } from "../../base/errors.ts";
import { makeMasker } from "../../secrets/find_secrets.ts";
import type { CommandTable, RunCommand } from "../command.ts";
import { loadDocuments } from "../help/documents.ts";
import { listPages } from "../help/pages.ts";
import { explainError } from "../messages.ts";
import { VERSION } from "../version.ts";
import { type Call, openSandbox } from "./sandbox.ts";
import { loadTools } from "./tools.ts";

const INSTRUCTIONS = "Writes and runs YAML workflows: API tests, smoke tests, load tests. Read " +
  "runner://docs/start/agents before the first one. Then: actual, check, run.";

/** Milliseconds between two notices of progress. */
const NOTICE = 1000;

/** Milliseconds that a client has to take the last answers. */
const LAST_WRITE = 1000;

/** A longer answer is cut. */
const LONGEST_ANSWER = 60_000;

/** How many reports of the last runs are resources. */
const KEPT_REPORTS = 10;

/** What the library knows of a call. */
interface Extra {
  readonly signal: AbortSignal;
  readonly _meta?: { readonly progressToken?: string | number };
  readonly sendNotification: (notice: {
    method: "notifications/progress";
    params: { progressToken: string | number; progress: number; message: string };
  }) => Promise<void>;
}

/** Serves an assistant over standard input and output until it ends the connection. */
export function mcpCommand(table: CommandTable): RunCommand {
  return async (invocation, program) => {
    const { host, exit } = program;
    const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    const { default: process } = await import("node:process");
    const { Console } = await import("node:console");
    // Whatever a library prints, standard output is the protocol's.
    globalThis.console = new Console(process.stderr, process.stderr);

    const sandbox = await openSandbox(invocation, program, table);
    const mask = (text: string) => makeMasker([host.env.all()]).mask(text);
    const server = new McpServer({ name: "runner", version: VERSION }, {
      instructions: INSTRUCTIONS,
    });
    const ending = new AbortController();

    const offer = (uri: string, mimeType: string, read: () => string | Promise<string>) =>
      server.registerResource(uri.replace(/^runner:\/\//, ""), uri, { mimeType }, async () => ({
        contents: [{ uri, mimeType, text: await read() }],
      }));
    const anyCall: Call = { signal: ending.signal, take: () => {} };
    for (const kind of ["workflow", "job", "suite"]) {
      const args = ["schema", ...kind === "workflow" ? [] : [`--${kind}`]];
      const read = async () => (await sandbox.run(args, anyCall)).stdout;
      offer(`runner://schema/${kind}`, "application/schema+json", read);
    }
    // A build may have no pages.
    for (const { path, text } of listPages(await loadDocuments(host.files).catch(() => ({})))) {
      offer(`runner://docs/${path}`, "text/markdown", () => text);
    }
    const reports: ReturnType<typeof offer>[] = [];
    let runs = 0;
    const keep = (report: string) => {
      const [name, mimeType] = [`reports/${++runs}`, "application/json"];
      reports.push(offer(`runner://${name}`, mimeType, () => report));
      if (reports.length > KEPT_REPORTS) reports.shift()!.remove();
      return { type: "resource_link" as const, uri: `runner://${name}`, name, mimeType };
    };

    const calls = new Set<Promise<void>>();
    for (const { name, description, input, isReadOnly = false, answer } of await loadTools()) {
      server.registerTool(name, {
        description,
        inputSchema: input,
        annotations: { readOnlyHint: isReadOnly, openWorldHint: !isReadOnly },
      }, async (args: Readonly<Record<string, unknown>>, extra: Extra) => {
        const done = Promise.withResolvers<void>();
        calls.add(done.promise);
        const progressToken = extra._meta?.progressToken;
        let [progress, message] = [0, "started"];
        const timer = progressToken !== undefined && setInterval(() => {
          const params = { progressToken, progress: ++progress, message: mask(message) };
          extra.sendNotification({ method: "notifications/progress", params }).catch(() => {});
        }, NOTICE);
        let steps = 0;
        const call: Call = {
          signal: AbortSignal.any([extra.signal, ending.signal]),
          take(event) {
            if (event.type !== "step_finished") return;
            message = `${++steps} steps done, the last one: ${event.result.name}`;
          },
        };
        const links: ReturnType<typeof keep>[] = [];
        const content = (text: string) => {
          const whole = mask(text).trimEnd();
          const rest = whole.length > LONGEST_ANSWER ? `… (of ${whole.length} characters)` : "";
          return [{ type: "text" as const, text: whole.slice(0, LONGEST_ANSWER) + rest }, ...links];
        };
        try {
          const text = await answer(args, {
            run: (line, unsaved) => sandbox.run(line, call, unsaved),
            readFile: sandbox.readFile,
            keep: (report) => void links.push(keep(report)),
          });
          return { content: content(text) };
        } catch (error) {
          // What a command has printed explains itself.
          const isPrinted = error instanceof RunnerError && /^runner: error: /m.test(error.message);
          const text = isPrinted ? error.message : explainError(error, host);
          return { content: content(text), isError: true };
        } finally {
          clearInterval(timer || undefined);
          calls.delete(done.promise);
          done.resolve();
        }
      });
    }

    const ended = Promise.withResolvers<void>();
    const end = () => {
      ending.abort();
      ended.resolve();
    };
    const stopListening = host.signals.listen(() => ending.signal.aborted ? exit(1) : end());
    process.stdin.once("end", end).once("close", end);
    process.stdout.once("error", end);
    await server.connect(new StdioServerTransport());
    await ended.promise;
    await Promise.all(calls);
    const written = Promise.withResolvers<void>();
    host.clock.after(LAST_WRITE, written.resolve);
    // The answers of these calls are written in the turn after this one.
    setTimeout(() => process.stdout.write("", () => written.resolve()));
    await written.promise;
    stopListening();
    return 0;
  };
}
