import { describeValue } from "../../base/value/value.ts";
import { either, list, map, type Param, text, value } from "../../action/rule.ts";
import type { Tls } from "../../action/tls/tls.ts";
import { textOf } from "../../action/parameter.ts";

const FORM = "write a@example.com or Ann <a@example.com>";

/** Mail addresses: a list, or a text with commas between them. */
export const addresses = (summary: string) =>
  value(["string", "list"], summary).as((list, param) => {
    const all = [list].flat().filter((one) => one !== null);
    return all.map((one) => {
      if (typeof one !== "string") {
        const what = describeValue(one);
        throw param.wrong(`${param.name} must be a text or a list of texts, not ${what}`);
      }
      const [other] = namesAlone(one);
      if (other === undefined) return one;
      throw param.wrong(`${param.name} has no mail address: ${JSON.stringify(other)}`, FORM);
    });
  });

/** What is not an address among addresses, and would be left out of the mail; a group has a colon. */
function namesAlone(addresses: string): string[] {
  const parts = addresses.replace(/"(?:[^"\\]|\\.)*"/gs, "").split(/[,;]/);
  return parts.map((part) => part.trim()).filter((part) => part !== "" && !/[@:]/.test(part));
}

/** A file or data to attach to a mail. */
export interface Attachment {
  readonly file?: string;
  readonly content?: string | Uint8Array;
  readonly filename?: string;
  readonly type?: string;
  readonly cid?: string;
}

const anything = (summary: string) => value("any", summary).as(textOf);

/** Paths of files, or maps that describe attachments. */
export const attachments = (summary: string) =>
  list(
    either(
      text("").as((file): Attachment => ({ file })),
      map({
        file: anything("The path of a file"),
        content: anything("Text"),
        base64: anything("Bytes as base64"),
        filename: anything("The name that the mail gives it"),
        type: anything("Its media type"),
        cid: anything("The id by which HTML shows an image"),
      }, "").as(readAttachment),
    ),
    summary,
  );

function readAttachment(
  { base64, ...one }: Omit<Attachment, "content"> & {
    readonly content?: string;
    readonly base64?: string;
  },
  param: Param,
): Attachment {
  if ([one.file, one.content, base64].filter((source) => source !== undefined).length !== 1) {
    throw param.wrong(`${param.name} needs one of "file", "content" and "base64"`);
  }
  if (base64 === undefined) return one;
  try {
    return { ...one, content: Uint8Array.fromBase64(base64) };
  } catch {
    throw param.of("base64").wrong(`${param.of("base64").name} is not base64`);
  }
}

/** Whether to speak TLS from the first byte, or to switch to it later. */
export interface MailSecurity {
  readonly tls?: Tls;
  readonly starttls?: { readonly tls: Tls; readonly isRequired: boolean };
}
