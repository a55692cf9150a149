import { assertEquals } from "@std/assert";
import { explainError } from "../../src/cli/messages.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { LoadError } from "../../src/base/errors.ts";

Deno.test("explainError() shows every error of a file, however many there are", () => {
  const diagnostics = Array.from({ length: 150_000 }, () => ({
    severity: "error" as const,
    code: "unknown-action",
    message: 'unknown action "helo"',
  }));
  const text = explainError(
    new LoadError("workflow file 'a.yml' has errors", diagnostics),
    denoHost(),
  );
  assertEquals(text.split('unknown action "helo"').length - 1, diagnostics.length);
});
