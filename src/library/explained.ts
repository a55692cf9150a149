import { LoadError } from "../source/errors.ts";

/**
 * A `LoadError` whose message has all its diagnostics in words, each with its line of the file, so
 * that a program that only prints errors tells everything. Other errors stay as they are.
 *
 * `given` may hold secrets, as the environment may; none of them stands in the message.
 */
export async function explained(
  error: unknown,
  given: readonly Readonly<Record<string, unknown>>[] = [],
): Promise<unknown> {
  if (!(error instanceof LoadError) || error.diagnostics.length === 0) return error;
  const { renderMasked } = await import("../source/render_diagnostic.ts");
  const { denoHost } = await import("../host/deno_host.ts");
  const { makeMasker } = await import("./make_masker.ts");
  const masker = makeMasker([denoHost().env.all(), ...given]);
  const lines = error.diagnostics.map((each) => renderMasked(each, (text) => masker.mask(text)));
  const message = [masker.mask(error.message), ...lines].join("\n");
  return new LoadError(message, error.diagnostics, error.hint);
}
