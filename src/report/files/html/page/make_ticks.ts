/** A mark on the axis of time. */
export interface Tick {
  /** Milliseconds since the beginning of the run. */
  readonly at: number;
  readonly label: string;
}

/** Marks at round times from nothing to the end of a run: at most so many, besides the first. */
export function makeTicks(duration: number, most: number): Tick[] {
  if (duration <= 0 || most < 1) return [{ at: 0, label: "0" }];
  const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
  const least = duration / most;
  const power = 10 ** Math.floor(Math.log10(Math.min(least, DAY * 1e9)));
  const steps = least <= 5 * SECOND
    ? [1, 2, 5, 10].map((factor) => factor * power)
    : least <= 12 * HOUR
    ? [
      ...[10, 15, 30].map((count) => count * SECOND),
      ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
      ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
    ]
    : [];
  // A little less than it takes is enough: 0.1 × 3 is more than 0.3.
  const step = steps.find((one) => one >= least * 0.999999) ?? Math.ceil(least / DAY) * DAY;

  const label = (at: number) => {
    if (at === 0) return "0";
    if (step < SECOND && duration <= SECOND) {
      return `${Number(at.toPrecision(12))}ms`;
    }
    if (step < MINUTE && duration <= 2 * MINUTE) {
      return `${Number((at / SECOND).toPrecision(12))}s`;
    }
    const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
    return at < HOUR
      ? `${Math.floor(at / MINUTE)}:${two(at % MINUTE / SECOND)}`
      : `${Math.floor(at / HOUR)}:${two(at % HOUR / MINUTE)}:${two(at % MINUTE / SECOND)}`;
  };
  const count = Math.floor(duration / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => {
    const at = index * step;
    return { at, label: label(at) };
  });
}
