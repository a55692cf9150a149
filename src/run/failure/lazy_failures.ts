import type { Failure } from "../event.ts";

type Explain = typeof import("./make_failure.ts");

/** The code that explains failures, which a run without failures never loads. */
export const explainer = (): Promise<Explain> => import("./make_failure.ts");

/** Turns what was thrown in a step or job into a failure with its place in the file. */
export async function failureOf(...of: Parameters<Explain["failureOfError"]>): Promise<Failure> {
  return await (await explainer()).failureOfError(...of);
}
