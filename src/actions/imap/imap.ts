import { isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ExchangeDescription, Image } from "../../action/explainer.ts";
import { action } from "../../action/make_action.ts";
import { flag, host, port, sharing, text, timeout } from "../../action/rule.ts";
import { isGiven } from "../../action/parameter.ts";
import { type Tls, tlsSwitch } from "../../action/tls/tls.ts";
import { commands, runCommands } from "./commands.ts";
import { openImap } from "./imap_connection.ts";
import { waitFor, waitForMail } from "./wait_for_mail.ts";

/** Reads mailboxes. What the server refuses is a result; no connection is an error. */
export const imap = action({
  name: "imap",
  summary: "Reads mailboxes by IMAP, and waits for mails",
  params: {
    host: host().required(),
    port: port().with({ default: "993, or 143 without TLS from the first byte" }),
    username: text("The user name").required(),
    password: text("The password").secret(),
    access_token: text("A token of OAuth 2.0 (XOAUTH2), in place of the password").secret(),
    commands,
    wait_for: waitFor,
    tls: tlsSwitch().with({
      summary: "Whether to use TLS from the first byte, or how to use TLS",
      default: "true, unless starttls is true",
    }),
    starttls: flag("Whether to switch to TLS by STARTTLS, which the server must then offer")
      .default(false),
    insecure_skip_tls: flag("Whether to accept any certificate, like tls: { verify: false }")
      .default(false),
    strict_host_check: flag("Whether the certificate must be for the host").default(true),
    ...sharing("connection", "job, server and user"),
    ...timeout("How long everything may take"),
  },
  check(_, param, raw) {
    for (const [one, other] of [["password", "access_token"], ["commands", "wait_for"]] as const) {
      if (isGiven(raw, one) || isGiven(raw, other)) continue;
      const empty = [one, other].find((name) => raw[name] === null);
      if (empty !== undefined) param.of(empty).missing(null);
      else param.wrong(`imap needs "${one}" or "${other}"`);
    }
  },
  expectsResult: ({ wait_for: mail = null }) => mail !== null,
  res: {
    code: { type: "int", summary: "0, or 1 if the server refused a command" },
    data: {
      type: "map",
      summary: "what the commands did; the fields of commands that are not among them are empty",
    },
    mails: {
      type: "array",
      summary: "mails that were fetched in full (`RFC822`, `BODY[]`), or waited for",
    },
    error: {
      type: "string",
      summary: 'which command was refused and why, else `""`; those after it were not sent',
    },
  },
  usage: `with:
  host: imap.example.com
  username: ann
  password: "{{vars.password}}"
  wait_for: { subject: Welcome, timeout: 30s }`,
  example: 'res.mails[0].subject == "Welcome"',
  target: (params) => ({
    product: "the mailbox server",
    host: params.host,
    port: params.port ?? (securityOf(params) === "tls" ? 993 : 143),
  }),
  connection: {
    by: [
      ...["host", "port", "username", "password", "access_token"] as const,
      ...["tls", "starttls", "insecure_skip_tls", "strict_host_check"] as const,
    ],
    async open(params, attempt) {
      const security = securityOf(params);
      const tls = { ...params.tls, ...params.insecure_skip_tls && { verify: false } };
      return await openImap({ ...params, security, tls }, attempt);
    },
    isLost: ({ client }) => !client.usable,
    close: (connection) => connection.close(),
    drop: ({ client }) => client.close(),
  },
  refusals: [
    {
      when: /^(ParserError|InvalidResponse|UnexpectedTag|MissingTag)/,
      say: "it does not speak IMAP: {message} ({code})",
    },
  ],
  async run(connection, { commands = [], wait_for, username }, attempt, raw) {
    try {
      const { data, mails, error } = await runCommands(commands, connection, attempt);
      const waited = wait_for && error === ""
        ? await waitForMail(wait_for, username, connection, attempt)
        : [];
      const code = error === "" ? 0 : 1;
      const all = [...waited, ...mails];
      return {
        req: requestOf(raw, attempt.server.port),
        res: { code, data, mails: all, error },
        status: code,
        brief: code === 1 ? "refused" : all.length === 1 ? "1 mail" : `${all.length} mails`,
      };
    } catch (error) {
      throw await connection.explain(`the connection to ${attempt.peer} was lost`, error);
    }
  },
  describe: describeMailbox,
  testHint: (parts) =>
    parts.includes("status")
      ? "status is 1 if the server refused a command; res.error says which"
      : undefined,
});

function securityOf({ tls, starttls }: {
  readonly tls?: Tls | false;
  readonly starttls: boolean;
}) {
  return starttls ? "starttls" : tls === false ? "none" : "tls";
}

function requestOf(raw: Dict, port: number): Dict {
  const { password: _, access_token: _a, timeout: _t, connection: _c, fresh: _f, ...req } = raw;
  return { ...req, port };
}

/** What browsers show; not SVG, which is a document. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Characters of a picture, and the number of pictures, in a report. */
const [MAX_LENGTH, MAX_IMAGES] = [1_000_000, 10];

/**
 * Mailboxes and mails in reports: without the results of commands that the step does not have, and
 * what mails do not have. Attached pictures are shown as such.
 */
function describeMailbox(req: Dict, res: Dict | null): ExchangeDescription {
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
