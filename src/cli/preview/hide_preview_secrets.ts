import { fieldsOf, knownValue, type Preview } from "../../plan/preview.ts";
import { findExchangedSecrets } from "../../secrets/find_secrets.ts";
import { MASK, type Masker } from "../../secrets/masker.ts";
import type { Action, HideSecrets } from "../../action/action.ts";
import { isDict, type Value } from "../../base/value/value.ts";

/**
 * Parameters of an action without what is secret by its name, as the values of secret headers, of
 * which only templates remain that are not known yet. The masker learns the secrets in what is
 * known.
 */
export function hidePreviewSecrets(
  params: Preview,
  { parameters = [] }: Action,
  secrets: Masker,
): Preview {
  const known = knownPart(params);
  findExchangedSecrets({ known }, (text, shortest) => secrets.add(text, shortest));
  const hiding = new Map(parameters.map(({ name, hide }) => [name, hide]));
  return mapFields(params, (name, field) => {
    const hide = hiding.get(name);
    return hide ? mapFields(field, (key, value) => hideField(key, value, hide)) : field;
  });
}

/** A field of a map: each of its parts that is known is masked where the whole would be. */
function hideField(name: string, preview: Preview, hide: HideSecrets): Preview {
  const whole = knownPart(preview);
  const hidden = hide({ [name]: whole }, MASK);
  const shown = isDict(hidden) ? hidden[name] ?? null : null;
  if (shown === whole) return preview;
  if (preview.kind !== "text") return { kind: "value", value: shown };
  const parts = preview.parts.map((part) => part.from === "value" ? { ...part, text: MASK } : part);
  return { ...preview, parts };
}

/** The known part of a preview. */
function knownPart(preview: Preview): Value {
  const known = knownValue(preview);
  if (known !== undefined) return known;
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
