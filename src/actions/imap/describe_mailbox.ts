import { isDict } from "../../base/value/value.ts";
import type { Dict, ExchangeDescription, Image, Value } from "../../action/action.ts";

/** What browsers show; not SVG, which is a document. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Characters of a picture, and the number of pictures, in a report. */
const [MAX_LENGTH, MAX_IMAGES] = [1_000_000, 10];

/**
 * Mailboxes and mails in reports: without the results of commands that the step does not have, and
 * what mails do not have. Attached pictures are shown as such.
 */
export function describeMailbox(req: Dict, res: Dict | null): ExchangeDescription {
  const request = {
    title: `mailbox of ${req.username} at ${req.host} port ${req.port}`,
    covered: ["host", "port", "username"],
  };
  if (!res) return { request };
  const { data, mails, ...rest } = res;
  const images: Image[] = [];
  const results = withoutEmpty(data);
  const shown = Array.isArray(mails) ? mails.map((mail) => withoutPictures(mail, images)) : [];
  const kept = {
    ...rest,
    ...isDict(results) && Object.keys(results).length > 0 && { data: results },
    ...shown.length > 0 && { mails: shown.map(withoutEmpty) },
  };
  return { request, response: { kept, ...images.length > 0 && { images } } };
}

/** Moves pictures from the attachments of a mail to `images`. */
function withoutPictures(mail: Value, images: Image[]): Value {
  if (!isDict(mail) || !Array.isArray(mail.attachments)) return mail;
  const attachments = mail.attachments.map((attachment: Value) => {
    if (!isDict(attachment)) return attachment;
    const { base64, ...others } = attachment;
    const { type, filename } = others;
    const isPicture = typeof base64 === "string" && base64.length <= MAX_LENGTH &&
      PICTURES.includes(String(type)) && images.length < MAX_IMAGES;
    if (!isPicture) return attachment;
    images.push({ name: String(filename), data: `data:${type};base64,${base64}` });
    return others;
  });
  return { ...mail, attachments };
}

function withoutEmpty(value: Value = {}): Value {
  if (!isDict(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => !isEmpty(field)));
}

function isEmpty(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isDict(value)) return Object.values(value).every(isEmpty);
  return !value;
}
