import { passwordsIn } from "../../action/http/request/request_url.ts";
import { requestSecrets } from "../../action/http/request/secret_headers.ts";
import { fieldsOf, isKnown, knownValue, type Preview } from "../../plan/preview.ts";
import { MASK, type Masker } from "../../value/masker.ts";
import { isSecretHeader } from "../../value/secrets.ts";

/**
 * Parameters of an action without the values of their secret headers, of which only templates
 * remain that are not known yet. The values become secrets, as do passwords in URLs.
 */
export function hideSecrets(params: Preview, secrets: Masker): Preview {
  for (const text of textsIn(params)) {
    for (const password of passwordsIn(text)) secrets.add(password);
  }
  return mapFields(
    params,
    (name, field) =>
      name !== "headers"
        ? field
        : mapFields(field, (header, value) => hideHeader(header, value, secrets)),
  );
}

function hideHeader(name: string, value: Preview, secrets: Masker): Preview {
  if (!isSecretHeader(name)) return value;
  if (value.kind === "text") {
    const parts = value.parts.map((part) => part.from === "value" ? { ...part, text: MASK } : part);
    return { ...value, parts };
  }
  if (isKnown(value)) {
    const text = String(knownValue(value));
    const header = /cookie/i.test(name) ? "Cookie" : "Authorization";
    for (const secret of requestSecrets({ [header]: text })) secrets.add(secret);
  }
  return { kind: "value", value: MASK };
}

function mapFields(preview: Preview, map: (name: string, field: Preview) => Preview): Preview {
  if (preview.kind === "text" || preview.kind === "list") return preview;
  const fields = fieldsOf(preview);
  if (fields.length === 0) return preview;
  return { kind: "map", entries: fields.map(([name, field]) => [name, map(name, field)]) };
}

function* textsIn(preview: Preview): Generator<string> {
  if (preview.kind === "value" && typeof preview.value === "string") yield preview.value;
  if (preview.kind === "text") { for (const { text } of preview.parts) yield text; }
  if (preview.kind === "list") { for (const item of preview.items) yield* textsIn(item); }
  for (const [, field] of fieldsOf(preview)) yield* textsIn(field);
}
