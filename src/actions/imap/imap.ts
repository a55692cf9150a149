import { countOf } from "../../base/text/count_of.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ExchangeDescription, Image } from "../../action/explainer.ts";
import { action } from "../../action/make_action.ts";
import {
  duration,
  flag,
  host,
  map,
  port,
  sharing,
  text,
  timeout,
  type Values,
} from "../../action/rule.ts";
import { isGiven } from "../../action/parameter.ts";
import { type Tls, tlsSwitch } from "../../action/tls/tls.ts";
import { commands, runCommands, time } from "./commands.ts";
import {
  type FetchMessageObject,
  type ImapConnection,
  type ImapFlow,
  isRefusal,
  openImap,
  refusalOf,
  type SearchObject,
} from "./imap_connection.ts";
import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { readMail } from "./read_mail.ts";

/** The time between two searches if the server does not report new mails. */
const PAUSE = 1000;

/** The maximum number of other mails that are listed, and of matching mails that are read. */
const MAX_MAILS = 5;

const condition = (summary: string) =>
  text(summary).as((text, param) => {
    if (text !== "") return text;
    throw param.wrong(
      `${param.name} is empty: every mail would match`,
      "a variable may be missing",
    );
  });

const FIELDS = {
  subject: condition("Text in its subject"),
  from: condition("Text in its sender"),
  to: condition("Text in its recipients"),
  body: condition("Text in its body"),
  since: time(
    "When it arrived at the earliest: a Unix time, `2026-01-02T03:04:05Z`, " +
      "`5 minutes ago`, `today`",
  ),
  mailbox: text("Where it arrives").default("INBOX"),
  timeout: duration("How long to wait").with({ default: "what the step has left" }),
};

/** The mail that a step waits for. */
type WaitFor = Values<typeof FIELDS>;

/** `wait_for`: which mail to wait for, and how long. */
const waitFor = map(FIELDS, "The mail to wait for, after the commands; it stays unread")
  .as((wanted, param) => {
    const { subject, from, to, body, since } = wanted;
    if (subject ?? from ?? to ?? body ?? since) return wanted;
    const hint = "give subject, from, to, body or since";
    throw param.wrong(`${param.name} does not say which mail`, hint);
  });

/**
 * Waits for a mail and returns all that match, the newest first. If none comes in time, the
 * `StepError` names those that came instead.
 */
async function waitForMail(
  wanted: WaitFor,
  username: string,
  { client, received }: ImapConnection,
  attempt: ActionAttempt,
): Promise<Dict[]> {
  const { mailbox, timeout } = wanted;
  const where = `"${mailbox}" of ${username} at ${attempt.address}`;
  const { conditions, since, query } = readConditions(wanted, attempt.context.host.clock.now());
  const arrivals = new Arrivals(client);
  const activity = () => `waiting for a mail ${conditions} in ${where}: ${arrivals.summary}`;
  const late = Promise.withResolvers<never>();
  const limit = timeout
    ? attempt.context.deadline.after(timeout, () => {
      late.reject(new StepError(`timed out after ${formatDuration(timeout)} while ${activity()}`));
    })
    : undefined;
  const look = async () => {
    const { uidNext, exists } = await client.mailboxOpen(mailbox, { readOnly: true });
    const before = since ? await client.search({ since }, { uid: true }) || [] : [];
    let from = before[0] ?? uidNext;
    // Without "since", the mails that were there could be the right ones, too.
    for (let isFirst = true; client.usable; isFirst = false) {
      const mails = await findMails(client, query, since);
      if (mails.length > 0) return mails;
      if (isFirst && !since) await arrivals.noteThere(exists);
      from = await arrivals.note(from, since);
      await newMail(client, attempt);
    }
    throw new Error("the connection was lost");
  };
  try {
    return await attempt.during(activity, Promise.race([look(), late.promise]));
  } catch (error) {
    const refusal = received.takeRefusal();
    if (!isRefusal(error)) throw error;
    throw new StepError(`cannot look for mails in ${where}: ${refusalOf(refusal ?? error)}`);
  } finally {
    limit?.cancel();
  }
}

/** The search, and how messages say it: `from "shop" with subject "Welcome"`. */
function readConditions({ since, ...wanted }: WaitFor, now: number) {
  const { from, to, subject, body } = wanted;
  // Mail servers keep whole seconds.
  const first = since && new Date(Math.floor(since(now).getTime() / 1000) * 1000);
  const conditions = Object.entries({ from, to, "with subject": subject, "with the text": body })
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${name} ${JSON.stringify(text)}`);
  if (first) conditions.push(`since ${first.toISOString()}`);
  // Servers search by days, which may begin earlier than those of UTC.
  const day = first && new Date(first.getTime() - 86_400_000);
  const query: SearchObject = { from, to, subject, body, since: day };
  return { conditions: conditions.join(" "), since: first, query };
}

async function findMails(
  client: ImapFlow,
  query: SearchObject,
  since: Date | undefined,
): Promise<Dict[]> {
  const uids = await client.search(query, { uid: true }) || [];
  if (uids.length === 0) return [];
  const found = await client.fetchAll(uids, { uid: true, internalDate: true }, { uid: true });
  const matching = found
    .filter(({ internalDate }) => !since || new Date(internalDate ?? 0) >= since)
    .map(({ uid }) => uid)
    .sort((one, other) => other - one)
    .slice(0, MAX_MAILS);
  if (matching.length === 0) return [];
  const items = { uid: true, flags: true, source: true };
  const mails = await client.fetchAll(matching, items, { uid: true });
  return await Promise.all(
    mails.sort((one, other) => other.uid - one.uid).map(({ uid, seq, flags, source }) =>
      readMail(source ?? new Uint8Array(), { uid, seq, flags: [...flags ?? []] })
    ),
  );
}

/** Resolves when the server reports a new mail, or after a pause. */
async function newMail(client: ImapFlow, { context }: ActionAttempt): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const pause = context.deadline.after(PAUSE, resolve);
  client.once("exists", resolve);
  client.once("close", resolve);
  // The next command ends it.
  if (client.capabilities.has("IDLE")) client.idle().catch(() => resolve());
  await promise;
  pause.cancel();
  client.off("exists", resolve);
  client.off("close", resolve);
  await client.noop();
}

/** The mails that came and are not the right ones. */
class Arrivals {
  readonly #mails: string[] = [];
  /** The newest of the mails that were there before. */
  #there: string[] = [];

  constructor(readonly client: ImapFlow) {}

  /** Notes the newest mails of a mailbox that has that many. */
  async noteThere(count: number): Promise<void> {
    if (count === 0) return;
    const range = `${Math.max(1, count - MAX_MAILS + 1)}:*`;
    const found = await this.client.fetchAll(range, { envelope: true });
    this.#there = found.map(describeEnvelope);
  }

  /** Notes the mails from a UID on, and returns the first UID that it has not seen. */
  async note(from: number, since: Date | undefined): Promise<number> {
    const items = { uid: true, envelope: true, internalDate: true };
    const found = await this.client.fetchAll(`${from}:*`, items, { uid: true });
    // A range up to the last mail has that mail in it even if it is older.
    const seen = found.filter(({ uid }) => uid >= from);
    const arrived = seen.filter(({ internalDate }) =>
      !since || new Date(internalDate ?? 0) >= since
    );
    this.#mails.push(...arrived.map(describeEnvelope));
    return seen.reduce((next, { uid }) => Math.max(next, uid + 1), from);
  }

  get summary(): string {
    const count = this.#mails.length;
    if (count === 0) {
      return this.#there.length === 0
        ? "no other mail came"
        : `no other mail came; the newest there were ${this.#there.toReversed().join(", ")}`;
    }
    const newest = this.#mails.slice(-MAX_MAILS).reverse().join(", ");
    const ellipsis = count > MAX_MAILS ? ", …" : "";
    return `${countOf(count, "other mail")} came: ${newest}${ellipsis}`;
  }
}

function describeEnvelope({ envelope }: FetchMessageObject): string {
  const sender = envelope?.from?.[0]?.address ?? "nobody";
  return `${JSON.stringify(envelope?.subject ?? "")} from ${sender}`;
}

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
        brief: code === 1 ? "refused" : countOf(all.length, "mail"),
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
