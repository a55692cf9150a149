import type { ReportOptions } from "../reporter.ts";
import type * as Texts from "./trouble_texts.ts";

/** The texts of failures, of rounds and of load: a run without any does not load them. */
export class LateTexts {
  #texts: typeof Texts | undefined;

  async load(): Promise<void> {
    this.#texts ??= await import("./trouble_texts.ts");
  }

  /** They must be loaded before the event that needs them. */
  get all(): typeof Texts {
    if (!this.#texts) throw new Error("the texts of failures are not loaded");
    return this.#texts;
  }
}

/** The options of a report with its texts. */
export interface TextOptions extends ReportOptions {
  readonly late: LateTexts;
}
