import { withTmux } from "../../tests/support/run/tmux.ts";
import { openShop } from "../demo_server.ts";
import { drawFrames, type Frame } from "./draw_output.ts";
import { CHECKOUT } from "./run_for_picture.ts";

/** The workflow of the film. */
export const FILMED = `${CHECKOUT}scripts/pictures/release.yml`;

const [COLUMNS, ROWS] = [84, 30];
/** Between two frames, and how long the last one stays, in seconds. */
const [STEP, STAY] = [0.1, 5];

/** A film of a run in a terminal: what is under way, and the results as they come. */
export async function filmRun(): Promise<string> {
  const shop = openShop();
  const directory = await Deno.makeTempDir({ prefix: "runner_film_" });
  try {
    await Deno.copyFile(FILMED, `${directory}/release.yml`);
    return await withTmux({ columns: COLUMNS, rows: ROWS }, async (terminal) => {
      const program = `${Deno.execPath()} run -A --quiet ${CHECKOUT}cli.ts`;
      const prepare = `cd ${directory}; runner() { ${program} "$@"; }; export SHOP_URL=${shop.url}`;
      await terminal.type(prepare, "Enter");
      await terminal.type("clear", "Enter");
      await terminal.until((screen) => screen.trim() === "$");
      await terminal.type("runner release.yml", "Enter");
      const shown: Frame[] = [];
      const start = performance.now();
      for (;;) {
        const text = cleanScreen(await terminal.colours());
        const isOver = /\n\$$/.test((await terminal.screen()).trimEnd());
        shown.push({ text, until: (performance.now() - start) / 1000 });
        if (isOver) break;
        await new Promise((resolve) => setTimeout(resolve, STEP * 1000));
      }
      const begun = shown.findIndex(({ text }) => text.includes("\n"));
      const title = "A run: what is under way, and the results as they come";
      return drawFrames(framesOf(shown.slice(begun)), title);
    });
  } finally {
    await shop.close();
    await Deno.remove(directory, { recursive: true });
  }
}

/** Without what follows the output, which is the next prompt. */
function cleanScreen(text: string): string {
  const lines = text.trimEnd().split("\n");
  // deno-lint-ignore no-control-regex
  const plain = () => lines.at(-1)!.replace(/\x1b\[[\d;]*m/g, "").trim();
  if (lines.length > 1 && plain() === "$") lines.pop();
  while (lines.length > 1 && plain() === "") lines.pop();
  return carryColours(lines).join("\n");
}

/** A colour that tmux leaves on at the end of a line is on in the next one. */
function carryColours(lines: readonly string[]): string[] {
  let on = "";
  return lines.map((line) => {
    const whole = on + line;
    // deno-lint-ignore no-control-regex
    const codes = [...whole.matchAll(/\x1b\[([\d;]*)m/g)].flatMap(([, codes]) => codes!.split(";"));
    const reset = codes.findLastIndex((code) => code === "0" || code === "");
    on = codes.slice(reset + 1).map((code) => `\x1b[${code}m`).join("");
    return whole;
  });
}

/** One frame for what stays the same, from the time of the first on. */
function framesOf(shown: readonly Frame[]): Frame[] {
  const begin = shown[0]!.until - STEP;
  const frames: Frame[] = [];
  for (const [index, { text, until }] of shown.entries()) {
    if (frames.at(-1)?.text === text) frames.pop();
    const end = until - begin + (index === shown.length - 1 ? STAY : 0);
    frames.push({ text, until: Math.round(end * 10) / 10 });
  }
  return frames;
}
