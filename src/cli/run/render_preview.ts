import type { Action, HideSecrets } from "../../action/action.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import { fieldsOf, knownValue, type Preview, type PreviewText } from "../../plan/preview.ts";
import { findExchangedSecrets } from "../../secrets/find_secrets.ts";
import { MASK, type Masker } from "../../secrets/masker.ts";

type Mask = (text: string) => string;

/** A name and its value below it or beside it, as in YAML; templates are shown as written. */
export function renderPreview(name: string, preview: Preview, mask: Mask): string[] {
  return renderField(mask(name), toItem(preview), mask);
}

/** The data to lay out: known data, or data with templates, which look alike. */
type Item =
  | { readonly kind: "text"; readonly text: string; readonly remark?: string }
  | { readonly kind: "scalar"; readonly value: Exclude<Value, object> | null }
  | { readonly kind: "list"; readonly items: readonly Preview[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [string, Preview])[] };

function toItem(preview: Preview): Item {
  if (preview.kind === "text") return { kind: "text", ...textOf(preview) };
  if (preview.kind !== "value") return preview;
  const { value } = preview;
  if (typeof value === "string") return { kind: "text", text: value };
  if (typeof value !== "object" || value === null) return { kind: "scalar", value };
  const known = (value: Value) => ({ kind: "value", value }) as const;
  if (Array.isArray(value)) return { kind: "list", items: value.map(known) };
  const entries = Object.entries(value).map(([key, field]) => [key, known(field)] as const);
  return { kind: "map", entries };
}

/** A text with its unknown parts as written, and what is wrong with them. */
function textOf({ parts, fault }: PreviewText): { text: string; remark?: string } {
  const text = parts.map(({ text }) => text).join("");
  return fault === undefined ? { text } : { text, remark: `fails: ${fault}` };
}

function renderField(label: string, item: Item, mask: Mask): string[] {
  switch (item.kind) {
    case "text": {
      const text = mask(item.text);
      const remark = item.remark === undefined ? "" : `  # ${mask(item.remark)}`;
      if (!text.includes("\n")) return [`${label}: ${quoteIfNeeded(text)}${remark}`];
      return [`${label}: |${remark}`, ...indent(text.replace(/\n$/, "").split("\n"))];
    }
    case "scalar":
      return [`${label}: ${mask(String(item.value))}`];
    case "list":
      if (item.items.length === 0) return [`${label}: []`];
      return [`${label}:`, ...indent(item.items.flatMap((each) => renderListItem(each, mask)))];
    case "map": {
      if (item.entries.length === 0) return [`${label}: {}`];
      const fields = item.entries.flatMap(([key, field]) => renderPreview(key, field, mask));
      return [`${label}:`, ...indent(fields)];
    }
  }
}

/** An item is laid out like a field, and its dash takes the place of the name. */
function renderListItem(preview: Preview, mask: Mask): string[] {
  const item = toItem(preview);
  const isNested = (item.kind === "map" && item.entries.length > 0) ||
    (item.kind === "list" && item.items.length > 0);
  const [head = "", ...below] = renderField("-", item, mask);
  if (!isNested) return [head.replace("-:", "-"), ...below];
  return below.map((line, index) => index === 0 ? line.replace("  ", "- ") : line);
}

/** Texts that would be taken for something else, or not be seen at all. */
const UNCLEAR = /^$|^\s|\s$|^(?:null|true|false|~|[-+]?(?:\d[\d_.eE+-]*|\.\d+|0x[\da-f]+))$/i;

function quoteIfNeeded(text: string): string {
  return UNCLEAR.test(text) ? JSON.stringify(text) : text;
}

/** Lines two columns further right. */
export function indent(lines: readonly string[], columns = 2): string[] {
  return lines.map((line) => line === "" ? "" : " ".repeat(columns) + line);
}

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
