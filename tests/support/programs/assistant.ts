import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { programEnv, theProgram } from "../run/run_cli.ts";
import { withFiles } from "../temp_dir.ts";

/** The answer of a tool. */
export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  /** The addresses of the reports that it names. */
  readonly reports: readonly string[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly message?: string }) => void;
}

/** An assistant with the official client, and a server that it has started in a directory. */
export interface Assistant {
  readonly client: InstanceType<typeof Client>;
  readonly directory: string;
  /** The process of the server. */
  readonly pid: number;
  readonly call: (name: string, args?: object, options?: CallOptions) => Promise<Answer>;
  readonly read: (uri: string) => Promise<string>;
}

/** Starts a server in a directory with files. */
export async function withAssistant(
  files: Readonly<Record<string, string>>,
  use: (assistant: Assistant) => Promise<void>,
  { options = [], env = {} }: {
    readonly options?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  await withFiles(files, async (cwd) => {
    const directory = await Deno.realPath(cwd);
    const [command, before] = theProgram();
    const transport = new StdioClientTransport({
      command,
      args: [...before, "mcp", ...options],
      env: programEnv(env),
      cwd: directory,
      stderr: "inherit",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    try {
      await use({
        client,
        directory,
        pid: transport.pid!,
        async call(name, args = {}, callOptions) {
          const { content, isError = false } = await client.callTool(
            { name, arguments: args as Record<string, unknown> },
            undefined,
            callOptions,
          ) as { content: { type: string; text: string; uri: string }[]; isError?: boolean };
          const [{ text } = { text: "" }] = content;
          const reports = content.flatMap(({ type, uri }) => type === "resource_link" ? uri : []);
          return { text, isError, reports };
        },
        async read(uri) {
          const { contents } = await client.readResource({ uri });
          return (contents[0] as { text: string }).text;
        },
      });
    } finally {
      await client.close();
    }
  });
}
