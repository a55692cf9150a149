import { isDict } from "../../base/value/value.ts";
import type { Dict } from "../../action/action.ts";
import { action } from "../../action/make_action.ts";
import {
  choice,
  flag,
  integer,
  map,
  type Param,
  sharing,
  text,
  timeout,
  value,
} from "../../action/rule.ts";
import { type Tls, tlsSwitch } from "../../action/tls/tls.ts";
import { addresses, attachments, type MailSecurity } from "./mail_params.ts";
import type { ExchangeDescription } from "../../action/explainer.ts";

/** Sends mails. What the server refuses is a result; no connection and no sign-in are errors. */
export const smtp = action({
  name: "smtp",
  summary: "Sends mails by SMTP",
  params: {
    addr: text("The server: `mail.example.com:587`; the port is 25 if it is left out")
      .as(readAddress).required(),
    from: text("The sender: `a@example.com` or `Ann <a@example.com>`").required(),
    to: addresses("The recipients: a list, or a text with commas between them").required(),
    cc: addresses("Recipients of a copy"),
    bcc: addresses("Recipients that no header names"),
    reply_to: addresses("Where replies go"),
    subject: text("The subject").default("", '""'),
    body: text("The text").with({ default: "This is a test mail., if there is no html either" }),
    html: text("The text as HTML, beside `body` or in place of it"),
    headers: value("map", "Further headers; a list repeats its header"),
    attachments: attachments(
      "Paths of files, or maps of `file`, `content` (text) or `base64`, " +
        "with `filename`, `type` and, for images in the HTML, `cid`",
    ),
    auth: map({
      username: text("The user name").required(),
      password: text("The password").secret(),
      access_token: text("A token of OAuth 2.0 (XOAUTH2), in place of the password").secret(),
      method: choice(["PLAIN", "LOGIN", "CRAM-MD5"], "How to prove the password")
        .with({ default: "the first of them that the server offers" }),
    }, "How to sign in").as((auth, param) => {
      if (auth.password !== undefined || auth.access_token !== undefined) return auth;
      throw param.wrong('"auth" needs "password" or "access_token"');
    }),
    tls: tlsSwitch().with({
      summary: "Whether to use TLS from the first byte; a map of options also turns it on, " +
        "unless `starttls` is true",
      default: "true for port 465",
    }),
    starttls: flag("Whether to switch to TLS by STARTTLS, which the server must then offer")
      .with({ default: "with auth, if the server offers it" }),
    myhostname: text("The name that the client gives in EHLO").default("localhost"),
    session: integer("Connections that send at the same time", { min: 1 }).default(1),
    message: integer("How many mails to send in all sessions together", { min: 1 }).default(1),
    length: integer("How many characters `*` to append to the text", { min: 0 }).default(0),
    ...sharing("connections", "job and server"),
    ...timeout("How long connecting and sending may take"),
  },
  res: {
    code: {
      type: "int",
      summary: "0 if the server accepted every mail for every recipient, else 1",
    },
    sent: { type: "int", summary: "how many mails the server accepted" },
    failed: { type: "int", summary: "how many mails it did not accept" },
    total: { type: "int", summary: "how many mails there were" },
    error: { type: "string", summary: 'whom the server refused and why, else `""`' },
    accepted: { type: "array", summary: "the addresses that the server accepted" },
    rejected: { type: "array", summary: "the addresses that the server refused" },
    reply: {
      type: "string",
      summary: "the reply to the last mail, or the one that refuses it: `550 No such user`",
    },
    message_id: { type: "string", summary: "the `Message-ID` of the first mail" },
    maildata: { type: "string", summary: "the first mail as it was sent, up to 1,000,000 bytes" },
    filepath: { type: "string", summary: 'always `""`' },
  },
  usage: `with:
  addr: 127.0.0.1:2525
  from: shop@example.com
  to: ann@example.com
  subject: Your invoice`,
  example: "res.sent == 1",
  target: ({ addr }) => ({ product: "the mail server", ...addr }),
  connection: {
    by: ["addr", "auth", "tls", "starttls", "myhostname"],
    parallel: true,
    open: async () => new (await import("./mail_connection.ts")).ConnectionPool(),
    close: (pool) => pool.close(),
  },
  async run(pool, params, attempt, raw) {
    const { sendMails } = await import("./send_mails.ts");
    const { auth, myhostname: hostname, message: total } = params;
    const server = { ...params.addr, hostname, auth, ...securityOf(params) };
    const { first, deliveries, errors } = await sendMails(pool, server, params, attempt);
    const rejected = deliveries.flatMap(({ rejected }) => rejected);
    const refused = rejected.at(-1);
    const sent = deliveries.filter(({ isSent }) => isSent).length;
    const code = sent === total && rejected.length === 0 ? 0 : 1;
    const last = refused ? deliveries.find((one) => one.rejected.length > 0) : deliveries.at(-1);
    return {
      req: requestOf(raw),
      res: {
        code,
        sent,
        failed: total - sent,
        total,
        error: errors.at(-1)?.message ?? (refused ? `${refused.address}: ${refused.reply}` : ""),
        accepted: unique(deliveries.flatMap(({ accepted }) => accepted)),
        rejected: unique(rejected.map(({ address }) => address)),
        reply: last?.reply ?? "",
        message_id: first.id,
        maildata: new TextDecoder().decode(first.bytes.subarray(0, MAX_KEPT)),
        filepath: "",
      },
      status: code,
      brief: code === 0
        ? sent === 1 ? "sent" : `${sent} sent`
        : /^\d{3}/.exec(refused?.reply ?? "")?.[0] ??
          `${sent} of ${total} sent to ${params.addr.host}`,
    };
  },
  describe: describeMail,
  testHint: (parts) =>
    parts.includes("status") || parts.includes("res.code")
      ? "status is 0 if the server accepted every mail for every recipient; " +
        "res.rejected and res.error say what it refused"
      : undefined,
});

/** Bytes of the mail that `res.maildata` keeps. */
const MAX_KEPT = 1_000_000;

function readAddress(text: string, param: Param) {
  const [, bracketed, name, digits = "25"] =
    /^(?:\[([^\]\p{Cc}]+)\]|([^:\s\p{Cc}/]+))(?::(\d{1,5}))?$/u.exec(text) ?? [];
  const host = bracketed ?? name;
  const port = Number(digits);
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw param.wrong(
    `invalid address ${JSON.stringify(text)}`,
    'write host:port: addr: "mail.example.com:587"',
  );
}

function securityOf({ addr: { port }, auth, tls, starttls }: {
  readonly addr: { readonly port: number };
  readonly auth?: unknown;
  readonly tls?: Tls | false;
  readonly starttls?: boolean;
}): MailSecurity {
  const implicit = tls ?? (port === 465 && {});
  if (implicit && starttls !== true) return { tls: implicit };
  if (!(starttls ?? auth !== undefined)) return {};
  return { starttls: { tls: tls || {}, isRequired: starttls === true } };
}

function requestOf(raw: Dict): Dict {
  const { auth, timeout: _, connection: _c, fresh: _f, ...req } = raw;
  return { ...req, ...isDict(auth) && { auth: { username: auth.username ?? null } } };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** A sent mail in reports: its headers as they were sent. */
function describeMail(req: Dict, res: Dict | null): ExchangeDescription {
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
