import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { Dict } from "../../action/action.ts";
import type { Attempt } from "../../action/attempt.ts";
import { duration, map, text, type Values } from "../../action/rule.ts";
import { time } from "./criteria.ts";
import {
  type FetchMessageObject,
  type ImapConnection,
  type ImapFlow,
  isRefusal,
  refusalOf,
  type SearchObject,
} from "./imap_connection.ts";
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
export const waitFor = map(FIELDS, "The mail to wait for, after the commands; it stays unread")
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
export async function waitForMail(
  wanted: WaitFor,
  username: string,
  { client, received }: ImapConnection,
  attempt: Attempt,
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
async function newMail(client: ImapFlow, { context }: Attempt): Promise<void> {
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
    return `${count === 1 ? "1 other mail" : `${count} other mails`} came: ${newest}${ellipsis}`;
  }
}

function describeEnvelope({ envelope }: FetchMessageObject): string {
  const sender = envelope?.from?.[0]?.address ?? "nobody";
  return `${JSON.stringify(envelope?.subject ?? "")} from ${sender}`;
}
