import { assert } from "@std/assert";

/** Fails if a text contains a form of a secret, also with line breaks in base64. */
export function assertHidden(form: string, text: string, name: string): void {
  for (const seen of [text, text.replace(/\s+/g, "")]) {
    const at = seen.indexOf(form);
    assert(at < 0, `${form} in ${name}: ${seen.slice(Math.max(0, at - 200), at + 80)}`);
  }
}
