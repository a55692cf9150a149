import { didYouMean } from "../../base/text/suggest.ts";
import { StepError } from "../../base/errors.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { codeOf } from "../../action/net/endpoint.ts";
import {
  list,
  map,
  type Param,
  type Rule,
  text,
  texts,
  value,
  type Values,
} from "../../action/rule.ts";
import { type DataItems, describeMessage, readDataItems } from "./read_mail.ts";
import {
  type ImapConnection,
  type ImapFlow,
  isRefusal,
  refusalOf,
  type SearchObject,
} from "./imap_connection.ts";
import { describeValue } from "../../base/value/value.ts";
import { textOf } from "../../action/parameter.ts";

/** A point in time, or one before now. */
type Time = (now: number) => Date;

const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY,
  week: 7 * DAY,
};

/** A point in time as people write it; a day begins at midnight, UTC. */
export function time(summary: string): Rule<Time> {
  return value("any", summary).as((written, param) => {
    if (typeof written === "number") return () => new Date(written * 1000);
    const text = typeof written === "string" ? written.trim() : "";
    const days = ["today", "yesterday"].indexOf(text.toLowerCase());
    if (days >= 0) return (now) => new Date(now - now % DAY - days * DAY);
    const [, count, unit] = /^(\d+) (second|minute|hour|day|week)s? ago$/i.exec(text) ?? [];
    if (unit) return (now) => new Date(now - Number(count) * UNITS[unit.toLowerCase()]!);
    const date = parseDate(text);
    if (!Number.isNaN(date)) return () => new Date(date);
    throw param.wrong(
      `unsupported date ${describeValue(written)} for ${param.name}`,
      "write 2026-01-02, 2026-01-02T03:04:05Z, today, yesterday or 5 minutes ago",
    );
  });
}

function parseDate(text: string): number {
  const [, day = "", month = "", year] = /^(\d\d?)\/(\d\d?)\/(\d{4})$/.exec(text) ?? [];
  if (year) return Date.parse(`${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`);
  const [, short] = /^(\d{1,2}-[a-z]{3}-\d{4})$/i.exec(text) ?? [];
  if (short) return Date.parse(`${short.replaceAll("-", " ")} 00:00 GMT`);
  // Of the forms that the runtime reads, only those with a year: "5" is not a date.
  const isDate =
    /^\d{4}-\d\d-\d\d([T ]|$)|^\d{4}\/\d\d\/\d\d$|^(\w{3}, )?\d{1,2}[ -]\w{3}[ -]\d{2,4}\b/;
  return isDate.test(text) ? Date.parse(text.replaceAll("/", "-")) : NaN;
}

/** A condition of a search, at a time. */
type Condition = (now: number) => readonly SearchObject[];

const each = (summary: string, search: (text: string) => SearchObject): Rule<Condition> =>
  texts(summary).as((all) => () => all.map(search));

const at = (
  summary: string,
  name: "since" | "before" | "sentSince" | "sentBefore",
): Rule<Condition> => time(summary).as((time) => (now) => [{ [name]: time(now) }]);

const numbers = (summary: string, name: "seq" | "uid"): Rule<Condition> =>
  texts(summary).as((sets) => () => [{ [name]: sets.join(",") }]);

const CRITERIA = {
  seq_nums: numbers("Numbers of mails: `1`, `1:3`, `2:*`", "seq"),
  uids: numbers("UIDs of mails, in the same way", "uid"),
  since: at("They arrived then or later", "since"),
  before: at("They arrived before then", "before"),
  sent_since: at("They were sent then or later", "sentSince"),
  sent_before: at("They were sent before then", "sentBefore"),
  headers: value("map", "Names of headers and texts in them").as((headers): Condition => () =>
    Object.entries(headers).map(([name, text]) => ({
      header: { [name]: text === null || text === "" ? true : textOf(text) },
    }))
  ),
  bodies: each("Texts in the body", (body) => ({ body })),
  texts: each("Texts in a header or the body", (text) => ({ text })),
  flags: each("Flags that they have: `seen`", (flag) => searchFlag(flag, true)),
  not_flags: each("Flags that they do not have", (flag) => searchFlag(flag, false)),
  subject: each("Texts in the subject", (subject) => ({ subject })),
  from: each("Texts in the sender", (from) => ({ from })),
  to: each("Texts in the recipients", (to) => ({ to })),
};

/** What `search` looks for, in the form of the library. */
function criteria(summary: string): Rule<(now: number) => SearchObject> {
  return map(CRITERIA, summary).as((conditions) => (now) =>
    everyOne(Object.values(conditions).flatMap((condition) => condition?.(now) ?? []))
  );
}

/** Conditions that must all be true; an object has one of each kind, and further ones nest. */
function everyOne([first, ...rest]: readonly SearchObject[]): SearchObject {
  if (!first) return { all: true };
  return rest.length === 0 ? first : { ...first, not: { not: everyOne(rest) } };
}

function searchFlag(written: string, isSet: boolean): SearchObject {
  const flag = written.replace(/^\\/, "");
  const [, un, name] = /^(un)?(seen|answered|flagged|deleted|draft)$/i.exec(flag) ?? [];
  if (name) return { [name.toLowerCase()]: isSet === (un === undefined) };
  if (/^recent$/i.test(flag)) return isSet ? { recent: true } : { old: true };
  return isSet ? { keyword: flag } : { unKeyword: flag };
}

/** How a kind of command is read and carried out. */
interface CommandRule {
  /** The keys that it must have. */
  readonly needs?: readonly Exclude<keyof typeof FIELDS, "name">[];
  /** Whether it is about mails of a mailbox that is selected; after `uid`, by UID. */
  readonly isAboutMails?: true;
  /** Its result in `res.data` if it was not carried out. */
  readonly nothing: Dict;
  readonly carryOut: (command: Command, state: State) => Promise<Dict>;
}

interface CommandName {
  /** As the step writes it. */
  readonly written: string;
  readonly kind: string;
  readonly rule: CommandRule;
  readonly uid: boolean;
}

/** The state that commands of a step share with later ones. */
interface State {
  readonly client: ImapFlow;
  readonly now: () => number;
  /** The results of searches: by number, and by UID. */
  readonly found: { seq?: readonly number[]; uid?: readonly number[] };
  readonly mails: Dict[];
}

const DONE = { success: false, count: 0 };
const MAILBOX = { success: false, mailbox: "" };

const RULES: Readonly<Record<string, CommandRule>> = {
  select: opens(false),
  examine: opens(true),
  search: {
    isAboutMails: true,
    nothing: { all: "", min: 0, max: 0, count: 0 },
    async carryOut({ name: { uid }, criteria }, { client, found, now }) {
      const query = criteria?.(now()) ?? { all: true };
      const all = found[uid ? "uid" : "seq"] = sure(await client.search(query, { uid }));
      return { all: setOf(all), min: all[0] ?? 0, max: all.at(-1) ?? 0, count: all.length };
    },
  },
  list: {
    nothing: { mailboxes: [], count: 0 },
    carryOut: ({ reference, pattern }, { client }) => listMailboxes(client, reference + pattern),
  },
  fetch: { isAboutMails: true, nothing: { messages: [], count: 0 }, carryOut: fetchMails },
  store: { isAboutMails: true, needs: ["dataitem", "value"], nothing: DONE, carryOut: store },
  copy: transfers("messageCopy"),
  move: transfers("messageMove"),
  append: {
    needs: ["mailbox", "message"],
    nothing: { ...MAILBOX, uid: 0 },
    async carryOut({ mailbox = "", message = "", value }, { client }) {
      const added = await client.append(mailbox, message.replace(/\r?\n/g, "\r\n"), value);
      return { success: true, mailbox, uid: sure(added).uid ?? 0 };
    },
  },
  create: changes(async (client, mailbox) => {
    if ((await client.mailboxCreate(mailbox)).created) return true;
    throw new CommandError(`the mailbox "${mailbox}" is already there (ALREADYEXISTS)`);
  }),
  delete: changes((client, mailbox) => client.mailboxDelete(mailbox)),
  rename: {
    needs: ["oldmailbox", "newmailbox"],
    nothing: { success: false, old_mailbox: "", new_mailbox: "" },
    async carryOut({ oldmailbox = "", newmailbox = "" }, { client }) {
      await client.mailboxRename(oldmailbox, newmailbox);
      return { success: true, old_mailbox: oldmailbox, new_mailbox: newmailbox };
    },
  },
  subscribe: changes((client, mailbox) => client.mailboxSubscribe(mailbox)),
  unsubscribe: changes((client, mailbox) => client.mailboxUnsubscribe(mailbox)),
  noop: {
    nothing: { success: false },
    async carryOut(_, { client }) {
      await client.noop();
      if (!client.usable) throw new CommandError();
      return { success: true };
    },
  },
};

const FIELDS = {
  name: text(
    "The command: `select`, `examine`, `search`, `uid search`, `list`, `fetch`, " +
      "`uid fetch`, `store`, `copy`, `move` (each also with `uid`), `append`, `create`, " +
      "`delete`, `rename`, `subscribe`, `unsubscribe` or `noop`",
  ).as(readName).required(),
  mailbox: text("The mailbox: `INBOX`"),
  criteria: criteria("Which mails `search` finds: those that meet all of these"),
  sequence: text("Mails by number, or by UID after `uid`: `1`, `1:3`, `2:*`").as(readSequence)
    .with({ default: "what the last search found" }),
  dataitem: text(
    "What `fetch` reads: `ALL`, `RFC822`, `BODY[]`, `FLAGS`; what `store` " +
      "changes: `FLAGS`, `+FLAGS`, `-FLAGS`",
  ).with({ default: "ALL of fetch" }),
  value: texts(String.raw`The flags of ` + "`store` and `append`: `\\Seen`").as(readFlags),
  message: text("The mail that `append` puts there"),
  reference: text("Where `list` begins").default("", '""'),
  pattern: text("Names that `list` shows: `*` matches anything, `%` for one level").default("*"),
  oldmailbox: text("What `rename` renames"),
  newmailbox: text("What it is called afterwards"),
};

interface Command extends Values<typeof FIELDS> {
  /** What `fetch` reads. */
  readonly items?: DataItems;
  /** Whether `store` adds flags, removes them, or sets them. */
  readonly change?: string;
}

const command: Rule<Command> = map(FIELDS, "").as((command, param): Command => {
  const { name: { kind, rule, written }, dataitem = "ALL" } = command;
  const wrong = rule.needs?.filter((key) => (command[key] ?? "") === "")
    .map((key) => param.wrong(`the command "${written}" needs "${key}"`)) ?? [];
  if (wrong[0]) throw wrong[0];
  const at = param.of("dataitem");
  if (kind === "fetch") return { ...command, items: readDataItems(dataitem, at) };
  if (kind === "store") return { ...command, change: readChange(dataitem, at) };
  return command;
});

/** Commands that are carried out one after another; each needs what those before it found. */
export const commands = list(command, "What to do, one after another").as((all, param) => {
  let isSelected = false;
  const searches = new Set<boolean>();
  for (const [index, { name: { kind, rule, uid, written }, sequence }] of all.entries()) {
    const wrong = (message: string, hint: string) => {
      throw param.of(index).wrong(`the command "${written}" needs ${message}`, hint);
    };
    isSelected ||= kind === "select" || kind === "examine";
    if (!rule.isAboutMails) continue;
    if (!isSelected) {
      wrong("a mailbox that is selected", "begin with { name: select, mailbox: INBOX }");
    }
    if (kind === "search") searches.add(uid);
    else if (!sequence && !searches.has(uid)) {
      wrong('"sequence"', `or a ${uid ? "uid " : ""}search before it`);
    }
  }
  return all;
});

function readName(written: string, param: Param): CommandName {
  const [, uid, kind = ""] = /^(uid )?(.*)$/.exec(written.toLowerCase().replace(/\s+/g, " "))!;
  const rule = Object.hasOwn(RULES, kind) ? RULES[kind] : undefined;
  if (rule && (!uid || rule.isAboutMails)) return { written, kind, rule, uid: uid !== undefined };
  const names = Object.entries(RULES).flatMap(([name, { isAboutMails }]) =>
    isAboutMails ? [name, `uid ${name}`] : [name]
  );
  const hint = didYouMean(written.toLowerCase(), names) ?? `the commands are ${names.join(", ")}`;
  throw param.wrong(`unknown command "${written}"`, hint);
}

function readSequence(range: string, param: Param): string {
  if (/^((\d+|\*)(:(\d+|\*))?(,(\d+|\*)(:(\d+|\*))?)*)?$/.test(range)) return range;
  throw param.wrong(`invalid sequence ${JSON.stringify(range)}`, "write 1, 1:3 or 2:*");
}

function readChange(item: string, param: Param): string {
  const [, sign] = /^([+-]?)FLAGS(?:\.SILENT)?$/i.exec(item) ?? [];
  if (sign !== undefined) return sign;
  throw param.wrong(`unknown data item "${item}"`, "use FLAGS, +FLAGS or -FLAGS");
}

function readFlags(written: readonly string[]): string[] {
  return written.flatMap((flags) => flags.replace(/[()]/g, " ").split(/[\s,]+/))
    .filter((flag) => flag !== "")
    .map((flag) => /^(seen|answered|flagged|deleted|draft)$/i.test(flag) ? `\\${flag}` : flag);
}

interface CommandResults {
  readonly data: Dict;
  readonly mails: readonly Dict[];
  /** Why the last one failed. */
  readonly error: string;
}

/** Why a command cannot be carried out; empty if the server may have said why. */
class CommandError extends Error {}

/** Carries out commands until one fails. */
export async function runCommands(
  commands: readonly Command[],
  connection: ImapConnection,
  attempt: ActionAttempt,
): Promise<CommandResults> {
  const { now } = attempt.context.host.clock;
  const { client, received } = connection;
  const state: State = { client, now: () => now(), found: {}, mails: [] };
  const { mails } = state;
  const data: Record<string, Value> = Object.fromEntries(
    Object.entries(RULES).map(([kind, { nothing }]) => [kind, nothing]),
  );
  for (const [index, command] of commands.entries()) {
    const { written, kind, rule } = command.name;
    received.takeRefusal();
    try {
      const what = `waiting for the reply to ${written} from ${attempt.peer}`;
      data[kind] = await attempt.during(what, rule.carryOut(command, state));
    } catch (error) {
      const reason = refusalIn(error, connection);
      if (reason === undefined) throw error;
      return {
        data,
        mails,
        error: `failed to execute command ${index + 1} (${written}): ${reason}`,
      };
    }
  }
  return { data, mails, error: "" };
}

/** Why a command failed; undefined if it was the connection. */
function refusalIn(error: unknown, { client, received }: ImapConnection): string | undefined {
  if (!(error instanceof Error) || error instanceof StepError) return undefined;
  const isOurs = error instanceof CommandError;
  if (isOurs && error.message !== "") return error.message;
  for (const one of [error, received.takeRefusal()]) {
    if (isRefusal(one)) return refusalOf(one);
  }
  if (isOurs && client.usable) return "the server refused it";
  return /^Invalid/.test(codeOf(error)) ? error.message : undefined;
}

/** The library returns false for what the server refused; the reason is kept elsewhere. */
function sure<T>(result: T | false | undefined): T {
  if (result === false || result === undefined) throw new CommandError();
  return result;
}

function opens(readOnly: boolean): CommandRule {
  return {
    needs: ["mailbox"],
    nothing: {
      ...{ exists: 0, recent: 0, first_unseen: 0, uid_next: 0, flags: [], permanent_flags: [] },
    },
    async carryOut({ mailbox = "" }, { client }) {
      const opened = await client.mailboxOpen(mailbox, { readOnly });
      const status = await client.status(opened.path, { recent: true });
      return {
        exists: opened.exists,
        recent: status ? status.recent ?? 0 : 0,
        first_unseen: opened.unseen ?? 0,
        uid_next: opened.uidNext,
        flags: [...opened.flags ?? []],
        permanent_flags: [...opened.permanentFlags ?? []],
      };
    },
  };
}

function changes(change: (client: ImapFlow, mailbox: string) => Promise<unknown>): CommandRule {
  return {
    needs: ["mailbox"],
    nothing: MAILBOX,
    async carryOut({ mailbox = "" }, { client }) {
      sure(await change(client, mailbox));
      return { success: true, mailbox };
    },
  };
}

/** A command that puts mails into another mailbox. */
function transfers(method: "messageCopy" | "messageMove"): CommandRule {
  return {
    needs: ["mailbox"],
    isAboutMails: true,
    nothing: DONE,
    async carryOut(command, state) {
      const { name: { uid }, mailbox = "" } = command;
      const range = rangeOf(command, state);
      if (range === "") return { success: true, count: 0 };
      const { uidMap } = sure(await state.client[method](range, mailbox, { uid }));
      return { success: true, count: uidMap?.size ?? 0 };
    },
  };
}

async function listMailboxes(client: ImapFlow, name: string): Promise<Dict> {
  const all = await client.list();
  const delimiter = all[0]?.delimiter ?? "/";
  const pattern = name.replace(/[.+?^${}()|[\]\\/]/g, "\\$&").replaceAll("*", ".*")
    .replaceAll("%", `[^\\${delimiter}]*`);
  const mailboxes = all.filter(({ path }) => new RegExp(`^${pattern}$`, "i").test(path))
    .map(({ path, flags, delimiter }) => ({ name: path, attributes: [...flags], delimiter }));
  return { mailboxes, count: mailboxes.length };
}

/** The mails of a command as IMAP writes them; empty if there are none. */
function rangeOf({ name: { uid }, sequence }: Command, { client, found }: State): string {
  const { mailbox } = client;
  if (!uid && mailbox && mailbox.exists === 0) return "";
  return sequence || setOf(found[uid ? "uid" : "seq"] ?? []);
}

/** Numbers as IMAP writes a set of them: `1:3,7`. */
function setOf(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => first === last ? `${first}` : `${first}:${last}`).join(",");
}

async function fetchMails(command: Command, state: State): Promise<Dict> {
  const { client, mails } = state;
  const { name: { uid }, items } = command;
  const range = rangeOf(command, state);
  if (range === "" || !items) return { messages: [], count: 0 };
  const fetched = await client.fetchAll(range, items.query, { uid });
  const messages: Dict[] = [];
  for (const one of fetched) messages.push(await describeMessage(one, items, mails));
  const { mailbox } = client;
  if (items.marksSeen && fetched.length > 0 && mailbox && !mailbox.readOnly) {
    const seen = fetched.map((one) => one.uid).join(",");
    sure(await client.messageFlagsAdd(seen, ["\\Seen"], { uid: true }));
  }
  return { messages, count: messages.length };
}

async function store(command: Command, state: State): Promise<Dict> {
  const { client } = state;
  const { name: { uid }, value: flags = [], change } = command;
  const range = rangeOf(command, state);
  if (change !== "-") demandTaken(flags, client);
  if (range === "") return { success: true, count: 0 };
  const stored = change === "+"
    ? client.messageFlagsAdd(range, flags, { uid })
    : change === "-"
    ? client.messageFlagsRemove(range, flags, { uid })
    : client.messageFlagsSet(range, flags, { uid });
  sure(await stored);
  const changed = sure(await client.search(uid ? { uid: range } : { seq: range }, { uid: true }));
  return { success: true, count: changed.length };
}

/** The library leaves out flags that a mailbox does not take. */
function demandTaken(flags: readonly string[], { mailbox }: ImapFlow): void {
  if (!mailbox) return;
  if (mailbox.readOnly) throw new CommandError("the mailbox is read-only: open it with select");
  const taken = [...mailbox.permanentFlags ?? ["\\*"]].map((flag) => flag.toLowerCase());
  for (const flag of flags) {
    if (taken.includes(flag.toLowerCase())) continue;
    if (taken.includes("\\*") && !flag.startsWith("\\")) continue;
    throw new CommandError(`the mailbox does not keep the flag "${flag}"`);
  }
}
