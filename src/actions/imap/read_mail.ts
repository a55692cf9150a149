import type { Email } from "postal-mime";
import type { Dict, Value } from "../../action/action.ts";

/** A mail as steps read it, and where it came from. */
export async function readMail(source: Uint8Array, found: Dict): Promise<Dict> {
  const { default: PostalMime } = await import("postal-mime");
  const email = await PostalMime.parse(source);
  const html = (email.html ?? "").trimEnd();
  const text = (email.text ?? textOfHtml(html)).trimEnd();
  return {
    ...found,
    subject: email.subject ?? "",
    from: addressesOf(email.from ? [email.from] : [])[0] ?? "",
    from_name: email.from?.name ?? "",
    to: addressesOf(email.to),
    cc: addressesOf(email.cc),
    reply_to: addressesOf(email.replyTo),
    date: email.date ?? "",
    message_id: email.messageId ?? "",
    headers: headersOf(email.headers),
    text,
    html,
    links: linksOf(text, html),
    attachments: email.attachments.map(attachmentOf),
  };
}

/** The headers of a mail or a part of them. */
export async function readHeaders(source: Uint8Array): Promise<Dict> {
  const { default: PostalMime } = await import("postal-mime");
  return headersOf((await PostalMime.parse(source)).headers);
}

/** Headers by their names in lower case; a list where one occurs more than once. */
function headersOf(headers: Email["headers"]): Dict {
  const map: Record<string, Value> = {};
  for (const { key, value } of headers) {
    const before = map[key];
    map[key] = before === undefined
      ? value
      : [...(Array.isArray(before) ? before : [before]) as Value[], value];
  }
  return map;
}

type Addresses = NonNullable<Email["to"]>;

function addressesOf(addresses: Addresses = []): string[] {
  return addresses.flatMap((one) =>
    one.group ? one.group.map(({ address }) => address) : [one.address]
  ).filter((address) => address !== undefined && address !== "");
}

function attachmentOf(attachment: Email["attachments"][number]): Dict {
  const { filename, mimeType, content, contentId, disposition } = attachment;
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : new Uint8Array(content as ArrayBuffer);
  const isText = mimeType.startsWith("text/") || /[/+](json|xml)$/.test(mimeType);
  return {
    filename: filename ?? "",
    type: mimeType,
    size: bytes.length,
    inline: disposition === "inline",
    cid: contentId?.replace(/^<|>$/g, "") ?? "",
    ...isText ? { content: new TextDecoder().decode(bytes) } : { base64: bytes.toBase64() },
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " },
};

function decodeEntities(text: string): string {
  return text.replace(/&(#x?[\da-f]{1,6}|[a-z]+);/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = name[1] === "x" || name[1] === "X"
      ? parseInt(name.slice(2), 16)
      : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** The visible text of a mail that has only HTML. */
function textOfHtml(html: string): string {
  const visible = html
    .replace(/<(style|script|head|title)\b[\s\S]*?<\/\1\s*>/gi, "")
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/\s+/g, " ")
    .replace(/<br\b[^>]*>|<\/(?:p|div|tr|li|h[1-6]|table)\s*>/gi, "\n")
    .replace(/<[^>]*>/g, "");
  return decodeEntities(visible).replace(/[ \t]*\n[ \t]*/g, "\n").trim();
}

/** The links of a mail, each once: those of its HTML first. */
function linksOf(text: string, html: string): string[] {
  const hrefs = [...html.matchAll(/<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi)]
    .map(([, double, single, bare]) => decodeEntities((double ?? single ?? bare)!.trim()));
  const urls = [...text.matchAll(/\bhttps?:\/\/[^\s<>"'\\^`{|}]+/g)]
    .map(([url]) => url.replace(/[).,;:!?\]]+$/, ""));
  return [...new Set([...hrefs, ...urls])].filter((link) => link !== "" && !link.startsWith("#"));
}
