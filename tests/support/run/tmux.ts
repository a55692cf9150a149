import { theProgram } from "./run_cli.ts";

/** A terminal with a shell in it, whose prompt is `$ `. */
export interface Tmux {
  /** Sends keys to it: texts, or names like `Enter` and `C-c`. */
  type(...keys: string[]): Promise<void>;
  /** The visible text, without trailing spaces. */
  screen(): Promise<string>;
  /** The visible text with its colour codes. */
  colours(): Promise<string>;
  /** All lines, with those that have scrolled away, those that were wrapped as one. */
  history(): Promise<string>;
  /** Waits until the screen shows the expected text. */
  until(wanted: (screen: string) => boolean): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  isCursorVisible(): Promise<boolean>;
}

/** Passes a new terminal to `use`, then ends it with all its processes. */
export async function withTmux<T>(
  size: { readonly columns: number; readonly rows?: number },
  use: (tmux: Tmux) => Promise<T>,
): Promise<T> {
  const socket = `runner-test-${crypto.randomUUID()}`;
  const tmux = async (...args: string[]) => {
    const { success, stdout, stderr } = await new Deno.Command("tmux", {
      args: ["-L", socket, "-f", "/dev/null", ...args],
      env: { LC_ALL: "C.UTF-8" },
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout);
  };
  const { columns, rows = 30 } = size;
  const start = ["new-session", "-d", "-x", String(columns), "-y", String(rows)];
  await tmux("-u", ...start, "env PS1='$ ' sh");
  const screen = () => tmux("capture-pane", "-p");
  try {
    return await use({
      type: async (...keys) => void await tmux("send-keys", ...keys),
      screen,
      colours: () => tmux("capture-pane", "-p", "-e"),
      history: () => tmux("capture-pane", "-p", "-J", "-S", "-"),
      async until(wanted) {
        let last = "";
        for (let tries = 0; tries < 500; tries++) {
          last = await screen();
          if (wanted(last)) return last;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        throw new Error(`never shown; the screen is:\n${last}`);
      },
      resize: async (columns, rows) =>
        void await tmux("resize-window", "-x", String(columns), "-y", String(rows)),
      isCursorVisible: async () => await tmux("display", "-p", "#{cursor_flag}") === "1\n",
    });
  } finally {
    await tmux("kill-server");
  }
}

/** The command line that runs a workflow in its own directory and prints `end <exit code>`. */
export function runLine(directory: string, args: string): string {
  const [program, before] = theProgram();
  return `cd ${directory}; clear; ${[program, ...before, args].join(" ")}; echo end $?`;
}
