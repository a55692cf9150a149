import { LoadError } from "../base/errors.ts";

/**
 * A `LoadError` whose message has all its diagnostics in words, each with its line of the file, so
 * that a program that only prints errors shows everything. Other errors stay as they are.
 *
 * The message holds no secret of the environment, of what else was `given`, or of these lines.
 */
export async function explained(
  error: unknown,
  given: readonly Readonly<Record<string, unknown>>[] = [],
): Promise<unknown> {
  if (!(error instanceof LoadError) || error.diagnostics.length === 0) return error;
  const { renderMasked } = await import("../base/diagnostic.ts");
  const { denoHost } = await import("../host/deno_host.ts");
  const { makeMasker } = await import("../secrets/add_secrets.ts");
  const { makeSecretMask } = await import("../check/mask_secrets.ts");
  const mask = makeSecretMask(makeMasker([denoHost().env.all(), ...given]), error.diagnostics);
  const lines = error.diagnostics.map((each) => renderMasked(each, mask));
  const message = [mask(error.message), ...lines].join("\n");
  return new LoadError(message, error.diagnostics, error.hint);
}
