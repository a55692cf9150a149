import type { Dict } from "../../action/action.ts";
import type { ExchangeDescription } from "../../action/explainer.ts";

/** A sent mail in reports: its headers as they were sent. */
export function describeMail(req: Dict, res: Dict | null): ExchangeDescription {
  return {
    request: {
      title: `mail by ${req.addr} from ${req.from} to ${textOf(req.to)}`,
      covered: ["addr", "from", "to"],
      kept: { addr: req.addr!, from: req.from!, to: req.to!, ...messageOf(req, res) },
    },
    ...res && { response: { kept: withoutMail(res) } },
  };
}

/** The headers as they were sent, and the text as the step gives it. */
function messageOf(req: Dict, res: Dict | null): Dict {
  const { addr: _, from: _f, to: _t, subject, headers, ...rest } = req;
  if (typeof res?.maildata !== "string") {
    return { ...subject === undefined ? {} : { subject }, ...headers ? { headers } : {}, ...rest };
  }
  return { headers: headersOf(res.maildata), ...rest };
}

function headersOf(mail: string): Dict {
  const [head = ""] = mail.split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  return Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), decodeWords(line.slice(colon + 1).trim())];
  }));
}

/** A header in which words of other letters are readable: `=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=`. */
function decodeWords(value: string): string {
  return value.replace(/=\?utf-8\?[qb]\?[^?]*\?=(?:\s*=\?utf-8\?[qb]\?[^?]*\?=)*/gi, (encoded) => {
    const parts = [...encoded.matchAll(/\?([qb])\?([^?]*)\?=/gi)];
    const bytes = parts.map(([, kind = "", text = ""]) =>
      /b/i.test(kind) ? atob(text) : unquote(text)
    );
    return new TextDecoder().decode(Uint8Array.from(bytes.join(""), (byte) => byte.charCodeAt(0)));
  });
}

function unquote(text: string): string {
  return text.replaceAll("_", " ").replace(
    /=([0-9a-f]{2})/gi,
    (_, hex: string) => String.fromCharCode(parseInt(hex, 16)),
  );
}

function withoutMail(res: Dict): Dict {
  const { maildata: _, filepath: _f, ...kept } = res;
  return kept;
}

function textOf(to: Dict[string] | undefined): string {
  return Array.isArray(to) ? to.join(", ") : String(to);
}
