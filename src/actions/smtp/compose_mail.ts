import { StepError } from "../../base/errors.ts";
import { describeValue, isDict } from "../../base/value/value.ts";
import type { ActionContext, Dict, Value } from "../../action/action.ts";
import { type ParameterReader, readParameters } from "../../action/read_parameters.ts";
import { readStepFile } from "../../action/step_file.ts";
import { textOf } from "../../action/text_of.ts";

/** A mail as it goes over the wire, and between whom. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The common parts of all mails of a step. */
export interface MailDraft {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly subject: string;
  /** Whether each mail is marked with a number of its own, as one of many. */
  readonly isBulk: boolean;
  /** For the ids of bulk mails. */
  readonly hostname: string;
}

const LINE = 80;

/** Reads what the step says about the mail, files included. */
export async function readDraft(params: Dict, context: ActionContext): Promise<MailDraft> {
  const read = readParameters("smtp", params);
  const html = read.string("html");
  const body = read.string("body") ?? (html === undefined ? "This is a test mail." : undefined);
  const length = read.integer("length") ?? 0;
  const text = length === 0 ? body : [...body ? [body] : [], ...fillerOf(length)].join("\n");
  const attachments = await readAttachments(read, context);
  const addresses = Object.fromEntries(
    ["to", "cc", "bcc", "reply_to"].map((name) => [name, addressesOf(params, name)]),
  );
  return {
    fields: {
      from: read.string("from"),
      to: addresses.to,
      cc: addresses.cc,
      bcc: addresses.bcc,
      replyTo: addresses.reply_to,
      ...text === undefined ? {} : { text },
      ...html === undefined ? {} : { html },
      headers: headersOf(read.map("headers") ?? {}),
      attachments,
      // A text may look like a path or a URL; only what was read above is sent.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    subject: read.string("subject") ?? "",
    isBulk: ["session", "message", "length"].some((name) => (read.integer(name) ?? 0) > 1),
    hostname: read.string("myhostname") ?? "localhost",
  };
}

/** Writes one mail. */
export async function composeMail(
  { fields, subject, isBulk, hostname }: MailDraft,
  now: number,
): Promise<Mail> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const sentAt = `${now}${String(Math.trunc(Math.random() * 1e6)).padStart(6, "0")}`;
  const id = `${sentAt}.${crypto.randomUUID().slice(0, 8)}`;
  const hasDate = Object.keys(fields.headers as Dict).some((name) => /^date$/i.test(name));
  const node = new MailComposer({
    ...fields,
    ...hasDate ? {} : { date: new Date(now) },
    ...isBulk
      ? {
        subject: `${subject} - ${id}`,
        messageId: `<${id}@${hostname}>`,
        headers: { ...fields.headers as Dict, "X-Send-Timestamp-Ns": sentAt },
      }
      : { subject },
  }).compile();
  const { from, to } = node.getEnvelope();
  if (!from) throw addressError("from", fields.from);
  if (to.length === 0) throw addressError("to", fields.to);
  return { from, to, id: node.messageId(), bytes: await node.build() };
}

function addressError(name: string, given: unknown): StepError {
  return new StepError(
    `cannot run smtp: "${name}" has no mail address: ${JSON.stringify(given)}`,
    "write a@example.com or Ann <a@example.com>",
    { parameter: name },
  );
}

function fillerOf(length: number): string[] {
  const lines = Array.from({ length: Math.floor(length / LINE) }, () => "*".repeat(LINE));
  return length % LINE === 0 ? lines : [...lines, "*".repeat(length % LINE)];
}

function addressesOf(params: Dict, name: string): string[] | undefined {
  const given = params[name];
  if (given === undefined || given === null) return undefined;
  const list = Array.isArray(given) ? given as readonly Value[] : [given];
  return list.filter((one) => one !== null).map((one) => {
    if (typeof one === "string") {
      const other = namesAlone(one)[0];
      if (other !== undefined) throw addressError(name, other);
      return one;
    }
    throw new StepError(
      `cannot run smtp: "${name}" must be a text or a list of texts, not ${describeValue(one)}`,
      undefined,
      { parameter: name },
    );
  });
}

/** What is not an address among addresses, and would be left out of the mail; a group has a colon. */
function namesAlone(addresses: string): string[] {
  const parts = addresses.replace(/"(?:[^"\\]|\\.)*"/gs, "").split(/[,;]/);
  return parts.map((part) => part.trim()).filter((part) => part !== "" && !/[@:]/.test(part));
}

function headersOf(headers: Dict): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).filter(([, value]) => value !== null).map(([name, value]) => {
      return [name, Array.isArray(value) ? value.map(textOf) : textOf(value)];
    }),
  );
}

interface Attachment {
  readonly filename?: string;
  readonly content: Uint8Array | string;
  readonly contentType?: string;
  readonly cid?: string;
}

async function readAttachments(
  read: ParameterReader,
  context: ActionContext,
): Promise<Attachment[]> {
  const attachments: Attachment[] = [];
  for (const [index, one] of (read.list("attachments") ?? []).entries()) {
    attachments.push(await readAttachment(one, index + 1, context));
  }
  return attachments;
}

const KEYS = ["file", "content", "base64", "filename", "type", "cid"];

async function readAttachment(
  given: Value,
  number: number,
  context: ActionContext,
): Promise<Attachment> {
  const parameter = "attachments";
  const fail = (what: string, hint?: string) =>
    new StepError(`cannot run smtp: attachment ${number} ${what}`, hint, { parameter });
  const one = typeof given === "string" ? { file: given } : given;
  if (!isDict(one)) throw fail(`must be a path or a map, not ${describeValue(given)}`);
  const unknown = Object.keys(one).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw fail(`has an unknown key "${unknown}"`, `an attachment takes ${KEYS.join(", ")}`);
  }
  const text = (key: string) => (one[key] ?? null) === null ? undefined : textOf(one[key]!);
  const [file, content, base64] = [text("file"), text("content"), text("base64")];
  if ([file, content, base64].filter((source) => source !== undefined).length !== 1) {
    throw fail('needs one of "file", "content" and "base64"');
  }
  const filename = text("filename") ?? file?.replace(/.*[\\/]/s, "");
  const type = text("type");
  const cid = text("cid");
  return {
    content: content ??
      (base64 === undefined
        ? await readStepFile({ what: "the attachment", path: file!, parameter }, context)
        : bytesOf(base64, fail)),
    ...filename === undefined ? {} : { filename },
    ...type === undefined ? {} : { contentType: type },
    ...cid === undefined ? {} : { cid },
  };
}

function bytesOf(base64: string, fail: (what: string) => StepError): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    throw fail('has "base64" that is not base64');
  }
}
