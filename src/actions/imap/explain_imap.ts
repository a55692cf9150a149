import { isDict } from "../../base/value/value.ts";
import type {
  ActionExplainer,
  Dict,
  Image,
  MessageDescription,
  Value,
} from "../../action/action.ts";

/** Shows mailboxes and mails in reports. */
export const imapExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: {
      title: `mailbox of ${req.username} at ${req.host} port ${req.port}`,
      covered: ["host", "port", "username"],
    },
    ...res ? { response: describeResponse(res) } : {},
  }),
  testHint: (parts) =>
    parts.includes("status")
      ? "status is 1 if the server refused a command; res.error says which"
      : undefined,
};

/** Attached pictures are shown as such, and not as the letters that encode them. */
function describeResponse(res: Dict): MessageDescription {
  const images: Image[] = [];
  const withoutPicture = (attachment: Value): Value => {
    if (!isDict(attachment)) return attachment;
    const { base64, ...others } = attachment;
    const { type, filename } = others;
    const isPicture = typeof base64 === "string" && base64.length <= LARGEST &&
      PICTURES.includes(String(type)) && images.length < MOST;
    if (!isPicture) return attachment;
    images.push({ name: String(filename), data: `data:${type};base64,${base64}` });
    return others;
  };
  const withoutPictures = (mail: Value): Value =>
    isDict(mail) && Array.isArray(mail.attachments)
      ? { ...mail, attachments: mail.attachments.map(withoutPicture) }
      : mail;
  const { mails } = res;
  const shown = Array.isArray(mails) ? { ...res, mails: mails.map(withoutPictures) } : res;
  return { kept: withoutEmpty(shown), ...images.length === 0 ? {} : { images } };
}

/** What browsers show; not SVG, which is a document. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Characters of a picture, and the number of pictures, in a report. */
const [LARGEST, MOST] = [1_000_000, 10];

/** Without the results of commands that the step does not have, and what mails do not have. */
function withoutEmpty({ data, mails, ...rest }: Dict): Dict {
  const done = isDict(data)
    ? Object.fromEntries(Object.entries(data).filter(([, result]) => !isEmpty(result)))
    : {};
  return {
    ...rest,
    ...Object.keys(done).length === 0 ? {} : { data: done },
    ...Array.isArray(mails) && mails.length > 0
      ? { mails: mails.map((mail) => isDict(mail) ? compact(mail) : mail) }
      : {},
  };
}

function compact(mail: Dict): Dict {
  return Object.fromEntries(Object.entries(mail).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: Value | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isDict(value)) return Object.values(value).every(isEmpty);
  return !value;
}
