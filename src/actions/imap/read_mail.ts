import type { Email } from "postal-mime";
import type { Dict, Value } from "../../action/action.ts";
import type { Param } from "../../action/rule.ts";
import type {
  FetchMessageObject,
  FetchQueryObject,
  MessageAddressObject,
} from "./imap_connection.ts";

/** The data items that a `fetch` requests. */
export interface DataItems {
  readonly query: FetchQueryObject;
  /** Whether reading marks the mails as seen, as IMAP does without PEEK. */
  readonly marksSeen: boolean;
  /** Whether the whole mail comes. */
  readonly isWhole: boolean;
  /** Headers that are left out. */
  readonly without: readonly string[];
}

const FAST: FetchQueryObject = { flags: true, internalDate: true, size: true };
const ALL: FetchQueryObject = { ...FAST, envelope: true };

/** What to ask the library for, or the section that a data item stands for. */
const ITEMS: Readonly<Record<string, FetchQueryObject | string>> = {
  ALL,
  FAST,
  FULL: { ...ALL, bodyStructure: true },
  ENVELOPE: { envelope: true },
  FLAGS: { flags: true },
  INTERNALDATE: { internalDate: true },
  "RFC822.SIZE": { size: true },
  UID: { uid: true },
  BODY: { bodyStructure: true },
  BODYSTRUCTURE: { bodyStructure: true },
  RFC822: "BODY[]",
  "RFC822.HEADER": "BODY.PEEK[HEADER]",
  "RFC822.TEXT": "BODY[TEXT]",
};

/** Reads data items as IMAP writes them: `ALL`, `FLAGS BODY.PEEK[HEADER.FIELDS (From To)]`. */
export function readDataItems(text: string, param: Param): DataItems {
  const written = text.trim().replace(/^\((.*)\)$/s, "$1").match(/(?:\[[^\]]*\]|[^\s[])+/g);
  if (!written) throw param.wrong(`${param.name} has no data item`);
  const query: FetchQueryObject = { uid: true };
  const bodyParts: NonNullable<FetchQueryObject["bodyParts"]> = [];
  let [marksSeen, isWhole, without] = [false, false, [] as readonly string[]];
  for (const word of written) {
    const item = ITEMS[word.toUpperCase()] ?? word;
    if (typeof item === "object") {
      Object.assign(query, item);
      continue;
    }
    const [, peek, section, start, length] =
      /^BODY(\.PEEK)?\[([^\]]*)\](?:<(\d+)(?:\.(\d+))?>)?$/i.exec(item) ?? [];
    if (section === undefined) {
      throw param.wrong(`unknown data item "${word}"`, `use ${Object.keys(ITEMS).join(", ")}`);
    }
    marksSeen ||= peek === undefined;
    const part = {
      ...start !== undefined && { start: Number(start) },
      ...length !== undefined && { maxLength: Number(length) },
    };
    const [header, isNot, list] = /^HEADER(?:\.FIELDS(\.NOT)?\s*\(([^)]*)\))?$/i.exec(section) ??
      [];
    const names = list?.trim().split(/\s+/) ?? [];
    if (section === "") {
      query.source = start === undefined ? true : part;
      isWhole = start === undefined;
    } else if (header === undefined) {
      if (!/^(TEXT|[\d.]+(\.(MIME|HEADER|TEXT))?)$/i.test(section)) {
        throw param.wrong(`unknown section "${section}" in the data item "${word}"`);
      }
      bodyParts.push({ key: section.toLowerCase(), ...part });
    } else if (names.length > 0 && !isNot) {
      query.headers = names;
    } else {
      query.headers = true;
      without = names.map((name) => name.toLowerCase());
    }
  }
  if (bodyParts.length > 0) query.bodyParts = bodyParts;
  return { query, marksSeen, isWhole, without };
}

/** A message as steps see it; one that comes whole is added to `mails`. */
export async function describeMessage(
  { seq, uid, flags: flagSet, envelope, source, headers, bodyParts, internalDate, ...message }:
    FetchMessageObject,
  { isWhole, without }: DataItems,
  mails: Dict[],
): Promise<Dict> {
  const flags = [...flagSet ?? []];
  const mail = isWhole && source ? await readMail(source, { uid, seq, flags }) : undefined;
  if (mail) mails.push(mail);
  const parts = Object.fromEntries(
    [...bodyParts ?? []].map(([key, bytes]) => [key, bytes.toString()]),
  );
  const date = internalDate ?? envelope?.date;
  const head = Object.entries(headers ? await readHeaders(headers) : {});
  return {
    seq,
    uid,
    flags,
    date: date instanceof Date ? date.toISOString() : date ?? mail?.date ?? "",
    from: mail?.from ?? addressOf(envelope?.from),
    to: mail ? (mail.to as readonly string[]).join(", ") : addressOf(envelope?.to),
    subject: mail?.subject ?? envelope?.subject ?? "",
    message_id: mail?.message_id ?? envelope?.messageId ?? "",
    body: mail?.text ?? parts.text ?? parts["1"] ?? (isWhole ? "" : source?.toString() ?? ""),
    html_body: mail?.html ?? "",
    size: message.size ?? source?.length ?? 0,
    headers: mail?.headers ?? Object.fromEntries(head.filter(([name]) => !without.includes(name))),
    parts,
    structure: message.bodyStructure ? JSON.parse(JSON.stringify(message.bodyStructure)) : null,
  };
}

function addressOf(addresses: readonly MessageAddressObject[] = []): string {
  return addresses.map(({ address }) => address ?? "").join(", ");
}

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
async function readHeaders(source: Uint8Array): Promise<Dict> {
  const { default: PostalMime } = await import("postal-mime");
  return headersOf((await PostalMime.parse(source)).headers);
}

/** Headers by their names in lower case; a list if one occurs more than once. */
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
