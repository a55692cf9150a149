import type { RareEvents } from "../run/event.ts";

type FailureCode = typeof import("./failure_list.ts") & typeof import("./render_trouble.ts");
type RoundsCode = typeof import("./job_rounds.ts");

/**
 * The code of what a report tells rarely: most of a report is about failures, and most runs have
 * none. Whoever emits the events brings it before them.
 */
export class LateCode {
  #failures: FailureCode | undefined;
  #rounds: RoundsCode | undefined;

  /** Brings the code for such events. */
  async bring(what: RareEvents): Promise<void> {
    if (what === "rounds") {
      this.#rounds ??= await import("./job_rounds.ts");
      return;
    }
    const [list, trouble] = await Promise.all([
      import("./failure_list.ts"),
      import("./render_trouble.ts"),
    ]);
    this.#failures ??= { ...list, ...trouble };
  }

  get failures(): FailureCode {
    if (!this.#failures) throw new Error("a failure that nobody has prepared for");
    return this.#failures;
  }

  get rounds(): RoundsCode {
    if (!this.#rounds) throw new Error("a job of several rounds that nobody has prepared for");
    return this.#rounds;
  }
}
