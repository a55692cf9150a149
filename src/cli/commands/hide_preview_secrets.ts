import { fieldsOf, isKnown, knownValue, type Preview } from "../../plan/preview.ts";
import { findExchangedSecrets } from "../../value/find_secrets.ts";
import { MASK, type Masker } from "../../value/masker.ts";
import { isSecretHeader } from "../../value/secrets.ts";
import { withoutHeaderValue } from "../../run/mask/secrets.ts";
import type { Value } from "../../value/value.ts";

/**
 * Parameters of an action without the values of their secret headers, of which only templates
 * remain that are not known yet. The masker learns the secrets in what is known.
 */
export function hidePreviewSecrets(params: Preview, secrets: Masker): Preview {
  const known = knownPart(params);
  findExchangedSecrets({ known }, (text, shortest) => secrets.add(text, shortest));
  return mapFields(
    params,
    (name, field) => name !== "headers" ? field : mapFields(field, hideHeader),
  );
}

function hideHeader(name: string, value: Preview): Preview {
  if (!isSecretHeader(name)) return value;
  if (value.kind === "text") {
    const parts = value.parts.map((part) => part.from === "value" ? { ...part, text: MASK } : part);
    return { ...value, parts };
  }
  const text = isKnown(value) ? String(knownValue(value)) : "";
  return { kind: "value", value: withoutHeaderValue(name, text, MASK) };
}

/** What is known of it, without the rest. */
function knownPart(preview: Preview): Value {
  if (isKnown(preview)) return knownValue(preview);
  if (preview.kind === "list") return preview.items.map(knownPart);
  if (preview.kind === "text") {
    return preview.parts.map(({ text, from }) => from === "template" ? " " : text).join("");
  }
  return Object.fromEntries(fieldsOf(preview).map(([name, field]) => [name, knownPart(field)]));
}

function mapFields(preview: Preview, map: (name: string, field: Preview) => Preview): Preview {
  if (preview.kind === "text" || preview.kind === "list") return preview;
  const fields = fieldsOf(preview);
  if (fields.length === 0) return preview;
  return { kind: "map", entries: fields.map(([name, field]) => [name, map(name, field)]) };
}
