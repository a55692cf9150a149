import type { Host } from "../../host/host.ts";

/** The effect of a key. */
export type KeyAction = "all" | "failed" | "again" | "quit" | "help";

interface Key {
  readonly action: KeyAction;
  /** What the terminal sends. */
  readonly sent: readonly string[];
  readonly label: string;
  readonly summary: string;
}

const KEYS: readonly Key[] = [
  { action: "all", sent: ["a", "A"], label: "a", summary: "run everything" },
  { action: "failed", sent: ["f", "F"], label: "f", summary: "run the jobs that failed" },
  { action: "again", sent: ["\n", "\r"], label: "Enter", summary: "run the same again" },
  // Where Ctrl-C is not a signal, it is a key.
  { action: "quit", sent: ["q", "Q", "\x03"], label: "q", summary: "quit" },
  { action: "help", sent: ["h", "H", "?"], label: "h", summary: "show these keys" },
];

/** The keys, one a line. */
export function renderKeys(): string {
  return KEYS.map(({ label, summary }) => `  ${label.padEnd(7)}${summary}\n`).join("");
}

/** The keys of a terminal. One that is pressed during a run takes effect after it, except quit. */
export class WatchKeys {
  /** Gives the terminal back. */
  close = () => {};
  #pressed: KeyAction | undefined;
  #wake = () => {};

  /** Begins to read them; undefined without a terminal. */
  static async open(
    { stdin, stderr }: Host,
    onQuit: () => void,
  ): Promise<WatchKeys | undefined> {
    if (!stdin.isTerminal || !stderr.isTerminal) return undefined;
    const keys = new WatchKeys();
    keys.close = await stdin.readKeys((key) => {
      const action = KEYS.find(({ sent }) => sent.includes(key))?.action;
      if (action === "quit") return onQuit();
      keys.#pressed = action ?? keys.#pressed;
      keys.#wake();
    });
    return keys;
  }

  /** Calls `listener` when a key is pressed, until the result is called. */
  onPressed(listener: () => void): () => void {
    this.#wake = listener;
    return () => this.#wake = () => {};
  }

  /** The effect of the last key, once. */
  take(): KeyAction | undefined {
    const pressed = this.#pressed;
    this.#pressed = undefined;
    return pressed;
  }
}
