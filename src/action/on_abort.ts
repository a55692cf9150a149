import type { StepError } from "../base/errors.ts";

/**
 * Calls `stop` with the reason when the signal of an attempt is aborted, or now if it is aborted
 * already. Call the result to cancel this.
 */
export function onAbort(signal: AbortSignal, stop: (reason: StepError) => void): () => void {
  const end = () => stop(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return () => signal.removeEventListener("abort", end);
}
