import type {
  FetchMessageObject,
  ImapFlow,
  ImapFlowError,
  SearchObject,
} from "./imap_connection.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext, Dict } from "../../action/action.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { onAbort } from "../../action/on_abort.ts";
import { readParameters } from "../../action/read_parameters.ts";
import { CommandFault, readTime } from "./criteria.ts";
import { type ImapConnection, refusalOf } from "./imap_connection.ts";
import { readMail } from "./read_mail.ts";

/** The time between two searches if the server does not report new mails. */
const PAUSE = 1000;

/** The maximum number of other mails that are listed, and of matching mails that are read. */
const MOST = 5;

/** The conditions that a mail must meet. */
interface Wanted {
  readonly query: SearchObject;
  /** The earliest time of arrival; servers search by day only. */
  readonly since?: Date;
  readonly mailbox: string;
  /** For messages: `from "shop" with subject "Welcome"`. */
  readonly words: string;
}

/**
 * Waits for a mail and returns all that match, the newest first. If none comes in time, the
 * `StepError` names those that came instead.
 */
export async function waitForMail(
  params: Dict,
  { client, takeError }: ImapConnection,
  place: string,
  given: ActionContext,
): Promise<Dict[]> {
  const wanted = readWanted(params, given.host.clock.now());
  const where = `"${wanted.mailbox}" of ${place}`;
  const { context, release } = limitAction(
    given,
    readParameters("imap", params).duration("timeout"),
  );
  const arrivals = new Arrivals(client);
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const forget = onAbort(context.signal, (reason) => {
    const doing = `while waiting for a mail ${wanted.words} in ${where}`;
    stopped.reject(new StepError(`${reason.message} ${doing}: ${arrivals.words}`, reason.hint));
  });
  try {
    return await Promise.race([look(client, wanted, arrivals, context), stopped.promise]);
  } catch (error) {
    const refused = takeError();
    if (isRefusal(error)) {
      throw new StepError(`cannot look for mails in ${where}: ${refusalOf(refused ?? error)}`);
    }
    throw error;
  } finally {
    forget();
    release();
  }
}

function isRefusal(error: unknown): error is ImapFlowError {
  return error instanceof Error && "responseStatus" in error;
}

async function look(
  client: ImapFlow,
  wanted: Wanted,
  arrivals: Arrivals,
  context: ActionContext,
): Promise<Dict[]> {
  const { uidNext, exists } = await client.mailboxOpen(wanted.mailbox, { readOnly: true });
  for (let from = uidNext; !context.signal.aborted;) {
    const mails = await find(client, wanted);
    if (mails.length > 0) return mails;
    // Without "since", the mails that were there could have been the right ones, too.
    if (from === uidNext && !wanted.since) await arrivals.noteThere(exists);
    from = await arrivals.note(from, wanted.since);
    await newMail(client, context);
  }
  throw context.signal.reason;
}

async function find(client: ImapFlow, { query, since }: Wanted): Promise<Dict[]> {
  const uids = await client.search(query, { uid: true }) || [];
  if (uids.length === 0) return [];
  const items = { uid: true, flags: true, internalDate: true };
  const found = await client.fetchAll(uids, items, { uid: true });
  const right = found
    .filter(({ internalDate }) => !since || new Date(internalDate ?? 0) >= since)
    .sort((one, other) => other.uid - one.uid)
    .slice(0, MOST);
  if (right.length === 0) return [];
  const read = await client.fetchAll(
    right.map(({ uid }) => uid),
    { uid: true, flags: true, source: true },
    { uid: true },
  );
  const mails = await Promise.all(
    read.map(({ uid, seq, flags, source }) =>
      readMail(source ?? new Uint8Array(), { uid, seq, flags: [...flags ?? []] })
    ),
  );
  return mails.sort((one, other) => Number(other.uid) - Number(one.uid));
}

/** Resolves when the server reports a new mail, or after a pause. */
async function newMail(client: ImapFlow, { deadline }: ActionContext): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const pause = deadline.after(PAUSE, resolve);
  client.once("exists", resolve);
  // The next command ends it.
  if (client.capabilities.has("IDLE")) client.idle().catch(() => resolve());
  client.once("close", resolve);
  await promise;
  pause.cancel();
  client.off("exists", resolve);
  client.off("close", resolve);
  await client.noop();
}

/** The mails that came and are not the right ones. */
class Arrivals {
  readonly #client: ImapFlow;
  #mails: string[] = [];
  /** The newest of the mails that were there before. */
  #there: string[] = [];

  constructor(client: ImapFlow) {
    this.#client = client;
  }

  /** Notes the newest mails of a mailbox that has that many. */
  async noteThere(count: number): Promise<void> {
    if (count === 0 || this.#there.length > 0) return;
    const found = await this.#client.fetchAll(`${Math.max(1, count - MOST + 1)}:*`, {
      envelope: true,
    });
    this.#there = found.map(({ envelope }) => describeEnvelope(envelope));
  }

  /** Notes the mails from a UID on, and returns the first UID that it has not seen. */
  async note(from: number, since: Date | undefined): Promise<number> {
    const isFirst = this.#mails.length === 0 && since !== undefined;
    const uids = isFirst ? await this.#client.search({ since }, { uid: true }) || [] : [];
    const range = [...uids, `${from}:*`].join(",");
    const items = { uid: true, envelope: true, internalDate: true };
    const found = await this.#client.fetchAll(range, items, { uid: true });
    let next = from;
    for (const { uid, envelope, internalDate } of found) {
      const isLate = since ? new Date(internalDate ?? 0) < since : false;
      // A range up to the last mail has that mail in it even if it is older.
      if (isLate || uid < from && !uids.includes(uid)) continue;
      next = Math.max(next, uid + 1);
      this.#mails.push(describeEnvelope(envelope));
    }
    return next;
  }

  get words(): string {
    const [one, ...others] = this.#mails;
    if (one === undefined) {
      return this.#there.length === 0
        ? "no other mail came"
        : `no other mail came; the newest there were ${this.#there.toReversed().join(", ")}`;
    }
    const count = others.length === 0 ? "1 other mail" : `${this.#mails.length} other mails`;
    const shown = this.#mails.slice(-MOST).reverse().join(", ");
    return `${count} came: ${shown}${this.#mails.length > MOST ? ", …" : ""}`;
  }
}

function describeEnvelope(envelope: FetchMessageObject["envelope"]): string {
  const sender = envelope?.from?.[0]?.address ?? "nobody";
  return `${JSON.stringify(envelope?.subject ?? "")} from ${sender}`;
}

function readWanted(params: Dict, now: number): Wanted {
  const read = readParameters("imap", params);
  const texts = ["from", "to", "subject", "body"].flatMap((name) => {
    const text = read.string(name);
    if (text === undefined) return [];
    if (text !== "") return [[name, text] as const];
    throw new StepError(
      `cannot run imap: "${name}" of "wait_for" is empty: every mail would match`,
      "a variable may be missing",
      { parameter: "wait_for" },
    );
  });
  const given = read.any("since");
  const since = given === undefined || given === null ? undefined : timeOf(given, now);
  const names: Readonly<Record<string, string>> = {
    subject: "with subject",
    body: "with the text",
  };
  const words = texts.map(([name, text]) => `${names[name] ?? name} ${JSON.stringify(text)}`);
  if (since) words.push(`since ${since.toISOString()}`);
  if (words.length === 0) {
    throw new StepError('cannot run imap: "wait_for" does not say which mail', undefined, {
      parameter: "wait_for",
    });
  }
  return {
    query: { ...Object.fromEntries(texts), ...since ? { since: dayBefore(since) } : {} },
    ...since ? { since } : {},
    mailbox: read.string("mailbox") ?? "INBOX",
    words: words.join(" "),
  };
}

/** The day of a server may begin earlier than that of UTC. */
function dayBefore(time: Date): Date {
  return new Date(time.getTime() - 86_400_000);
}

function timeOf(given: Parameters<typeof readTime>[0], now: number): Date {
  try {
    // Mail servers keep whole seconds.
    return new Date(Math.floor(readTime(given, now).getTime() / 1000) * 1000);
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    throw new StepError(`cannot run imap: "wait_for.since": ${error.message}`, undefined, {
      parameter: "wait_for",
    });
  }
}
