import { isDict, type Value } from "../../value/value.ts";
import { mapOf, type RawMap, textOf } from "../read/raw.ts";
import { shapeOf } from "../read/schema.ts";

/** A sample as XML, with the names that a schema gives its elements. */
export function renderXml(value: Value, schema: unknown, name = "root"): string {
  return element(value, schema, xmlName(schema) ?? name);
}

function element(value: Value, schema: unknown, name: string): string {
  const { said, properties } = shapeOf(schema);
  if (Array.isArray(value)) {
    return value.map((item) => element(item, said.items, xmlName(said.items) ?? name)).join("");
  }
  const { namespace, prefix } = xmlOf(schema);
  const tag = textOf(prefix) === undefined ? name : `${prefix}:${name}`;
  let attributes = "";
  if (textOf(namespace) !== undefined) {
    attributes += ` xmlns${textOf(prefix) === undefined ? "" : `:${prefix}`}="${
      escaped(String(namespace))
    }"`;
  }
  if (!isDict(value)) return `<${tag}${attributes}>${escaped(String(value ?? ""))}</${tag}>`;
  let inner = "";
  for (const [key, field] of Object.entries(value)) {
    const property = properties.get(key);
    const xml = xmlOf(property);
    const own = textOf(xml.name) ?? key;
    if (xml.attribute === true) {
      attributes += ` ${own}="${escaped(String(field))}"`;
    } else if (Array.isArray(field)) {
      const items = shapeOf(property).said.items;
      const list = field.map((item) => element(item, items, xmlName(items) ?? own)).join("");
      inner += xml.wrapped === true ? `<${own}>${list}</${own}>` : list;
    } else {
      inner += element(field, property, own);
    }
  }
  return `<${tag}${attributes}>${inner}</${tag}>`;
}

function xmlOf(schema: unknown): RawMap {
  return mapOf(shapeOf(schema).said.xml);
}

function xmlName(schema: unknown): string | undefined {
  return textOf(xmlOf(schema).name);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (mark) => ENTITIES[mark]!);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
