import { resolve } from "@std/path/resolve";
import { pathDenial } from "../../action/permissions/rules.ts";
import { pluginDirectory } from "../../actions/plugin/plugin.ts";
import { RunnerError } from "../../base/errors.ts";
import type { Files, Host } from "../../host/host.ts";
import type { RunEvent } from "../../run/event.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import type { CommandTable, ExitCode, Invocation, Program } from "../command.ts";
import { readCommandLine } from "../command_line.ts";
import { explainError } from "../messages.ts";
import { KeptOutput } from "../run/every_command.ts";
import { permissionsOf } from "../run/read_run.ts";

/** Carries out command lines, which read and write only the files that they may. */
export interface Sandbox {
  readonly run: (args: readonly string[], call: Call, unsaved?: Unsaved) => Promise<Printed>;
  /** The text of a file. Throws LoadError. */
  readonly readFile: (path: string) => Promise<string>;
}

/** A call of a tool: what interrupts it, and what takes the events of its runs. */
export interface Call {
  readonly signal: AbortSignal;
  readonly take: (event: RunEvent) => void;
}

/** A file that only one command line has. */
export interface Unsaved {
  readonly path: string;
  readonly text: string;
}

/** What a command line has printed; `code` is absent if it could not be carried out. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly code?: ExitCode;
}

/** The methods of files that are checked before they are called: those that read come first. */
const CHECKED = [
  ...["read", "stream", "list", "entries"] as const,
  ...["stage", "grow", "append", "lock", "remove"] as const,
];

/** The sandbox of a directory; options with permissions are those of the runs in it. */
export async function openSandbox(
  invocation: Invocation,
  program: Program,
  table: CommandTable,
): Promise<Sandbox> {
  const { env, files } = program.host;
  const ruleOf = async (path: string) => ({ path: await files.realPath(path) });
  const root = await ruleOf(files.workingDirectory());
  const options = await permissionsOf(invocation, program.host) ?? { run: "any" };
  const permissions = { read: [root], write: [root], ...options };
  // Whoever starts the server names these, and only the program reads them.
  const named = [env.get("RUNNER_CONFIG"), pluginDirectory(program.host)?.path ?? []].flat();
  const readable = await Promise.all(named.flatMap((path) => path ? ruleOf(path) : []));
  const rules = { ...permissions, read: [root, ...permissions.read, ...readable] };

  const check = async (kind: "read" | "write", path: string) => {
    const denial = await pathDenial(rules, kind, path, program.host);
    if (denial) throw new RunnerError(denial.message, denial.hint);
    // What `--rerun-failed` remembers: a call writes nothing but what it names.
    if (kind === "write" && /[\\/]runner[\\/]failed[\\/]/.test(path)) throw new RunnerError(path);
  };
  const confine = (unsaved?: Unsaved): Files => {
    const checked = CHECKED.map((name, at) => {
      const method = files[name] as (path: string, ...rest: unknown[]) => unknown;
      return [name, async (path: string | URL, ...rest: unknown[]) => {
        await check(at < 4 ? "read" : "write", String(path));
        return await method(String(path), ...rest);
      }] as const;
    });
    const confined: Files = { ...files, ...Object.fromEntries(checked) };
    const isUnsaved = (path: unknown) =>
      unsaved !== undefined && typeof path === "string" && resolve(path) === resolve(unsaved.path);
    return {
      ...confined,
      read: async (path) =>
        isUnsaved(path) ? new TextEncoder().encode(unsaved!.text) : await confined.read(path),
      isFile: async (path) => isUnsaved(path) || await files.isFile(path),
      // A search reports a link that leads out as one that cannot be read.
      entries: (path) => confined.entries(path).catch(() => undefined),
    };
  };

  return {
    readFile: async (path) =>
      (await readTextFile(path, { ...program.host, files: confine() })).text,
    async run(args, { signal, take }, unsaved) {
      const [stdout, stderr] = [new KeptOutput(program.host), new KeptOutput(program.host)];
      const host: Host = {
        ...program.host,
        // The words of help name no file.
        files: args[0] === "help" ? files : confine(unsaved),
        signals: {
          listen(listener) {
            const interrupt = () => listener("SIGTERM");
            if (signal.aborted) queueMicrotask(interrupt);
            signal.addEventListener("abort", interrupt);
            return () => signal.removeEventListener("abort", interrupt);
          },
        },
        stdin: {
          isTerminal: false,
          ask: () => Promise.resolve(undefined),
          readKeys: () => Promise.resolve(() => {}),
        },
        ...{ stdout, stderr },
      };
      const inside = { host, permissions, repeating: { take }, secrets: [], exit: () => {} };
      try {
        const { command, invocation } = await readCommandLine(args, table);
        const code = await (await command.load())(invocation, inside);
        return { code, stdout: stdout.text, stderr: stderr.text };
      } catch (error) {
        const reason = explainError(error, host, inside.secrets);
        return { stdout: stdout.text, stderr: stderr.text + reason };
      }
    },
  };
}
