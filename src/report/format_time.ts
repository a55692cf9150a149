/** A length of time in seconds: `0.12s`. */
export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)}s`;
}

/** A length of time in the unit that suits it: `6.5ms`, `1.25s`. */
export function formatElapsed(milliseconds: number): string {
  return milliseconds < 999.95 ? `${milliseconds.toFixed(1)}ms` : formatSeconds(milliseconds);
}

/** A point in time as the clock on the wall shows it: `12:34:56.789`. */
export function formatClock(time: number): string {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, "0");
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}` +
    `.${milliseconds}`;
}
