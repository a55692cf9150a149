import type { StepError } from "../base/errors.ts";

/**
 * Calls `stop` with the reason when the signal of an attempt is aborted, at once where it is
 * already. The result takes it back.
 */
export function onAbort(signal: AbortSignal, stop: (reason: StepError) => void): () => void {
  const end = () => stop(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return () => signal.removeEventListener("abort", end);
}
