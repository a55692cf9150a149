/**
 * Puts what parallel jobs report in an order that people can read: one job writes at once, the
 * first of the file that runs; the others wait with their text until it has ended.
 */
export class JobOrder {
  /** Positions of jobs in the file, which number them here too. */
  readonly #running = new Set<number>();
  readonly #ended = new Set<number>();
  readonly #held = new Map<number, string[]>();
  #foreground: number | undefined;

  /** A job has started; from now on it counts as running. */
  start(job: number): void {
    this.#running.add(job);
    this.#foreground ??= job;
  }

  /** Takes text of a job, and returns what is to be written now. */
  write(job: number, text: string): string {
    if (job === this.#foreground || text === "") return text;
    const held = this.#held.get(job);
    if (held) held.push(text);
    else this.#held.set(job, [text]);
    return "";
  }

  /** A job has ended with this text; returns what is to be written now. */
  end(job: number, text: string): string {
    const written = this.write(job, text);
    this.#running.delete(job);
    if (job !== this.#foreground) this.#ended.add(job);
    else this.#foreground = undefined;
    return this.#foreground === undefined ? written + this.#next() : written;
  }

  /** The text of those that have ended, then that of the job which writes from now on. */
  #next(): string {
    const over = [...this.#ended].sort((a, b) => a - b);
    this.#ended.clear();
    for (const job of this.#running) {
      if (this.#foreground === undefined || job < this.#foreground) this.#foreground = job;
    }
    return over.map((job) => this.#release(job)).join("") +
      (this.#foreground === undefined ? "" : this.#release(this.#foreground));
  }

  #release(job: number): string {
    const text = this.#held.get(job)?.join("") ?? "";
    this.#held.delete(job);
    return text;
  }
}
