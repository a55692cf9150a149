import type {
  FetchMessageObject,
  ImapFlow,
  MailboxObject,
  MessageAddressObject,
} from "./imap_connection.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import { textOf } from "../../action/text_of.ts";
import { CommandFault, readCriteria } from "./criteria.ts";
import { type DataItems, readDataItems } from "./data_items.ts";
import { COMMAND_NAMES } from "./commands.ts";
import { type ImapConnection, refusalOf } from "./imap_connection.ts";
import { readHeaders, readMail } from "./read_mail.ts";

type CommandName = (typeof COMMAND_NAMES)[number];

/** The results of the commands of a step. */
export interface CommandOutcome {
  readonly data: Dict;
  readonly mails: readonly Dict[];
  /** Why the last one failed. */
  readonly error: string;
}

/** The state that commands of a step share with later ones. */
interface State extends ImapConnection {
  readonly now: () => number;
  /** The results of searches: by number, and by UID. */
  readonly found: { seq?: readonly number[]; uid?: readonly number[] };
  isSelected: boolean;
  readonly mails: Dict[];
}

const DONE = { success: false, count: 0 };
const MAILBOX = { success: false, mailbox: "" };
const SELECTED = {
  ...{ exists: 0, recent: 0, first_unseen: 0, uid_next: 0, flags: [], permanent_flags: [] },
};

/** The results of commands that were not carried out. */
const NOTHING: Dict = {
  select: SELECTED,
  examine: SELECTED,
  search: { all: "", min: 0, max: 0, count: 0 },
  list: { mailboxes: [], count: 0 },
  fetch: { messages: [], count: 0 },
  store: DONE,
  copy: DONE,
  move: DONE,
  append: { ...MAILBOX, uid: 0 },
  create: MAILBOX,
  delete: MAILBOX,
  rename: { success: false, old_mailbox: "", new_mailbox: "" },
  subscribe: MAILBOX,
  unsubscribe: MAILBOX,
  noop: { success: false },
};

/** Carries out commands until one fails. */
export async function runCommands(
  commands: readonly Value[],
  connection: ImapConnection,
  now: () => number,
): Promise<CommandOutcome> {
  const state: State = { ...connection, now, found: {}, isSelected: false, mails: [] };
  const data: Record<string, Value> = { ...NOTHING };
  for (const [index, command] of commands.entries()) {
    const name = isDict(command) ? textOf(command.name ?? "") : "";
    try {
      if (!isDict(command)) throw new CommandFault("a command is a map with a name");
      const known = name.toLowerCase().replace(/\s+/g, " ") as CommandName;
      if (!COMMAND_NAMES.includes(known)) {
        const hint = didYouMean(known, COMMAND_NAMES);
        throw new CommandFault(`unsupported command "${name}"${hint ? `: ${hint}` : ""}`);
      }
      state.takeError();
      data[known.replace("uid ", "")] = await carryOut(known, command, state);
    } catch (error) {
      const text = explain(error, state);
      if (text === undefined) throw error;
      const which = `command ${index + 1}${name === "" ? "" : ` (${name})`}`;
      return { data, mails: state.mails, error: `failed to execute ${which}: ${text}` };
    }
  }
  return { data, mails: state.mails, error: "" };
}

/** Why a command failed; undefined if it was the connection. */
function explain(error: unknown, { client, takeError }: State): string | undefined {
  if (error instanceof CommandFault) return error.message;
  const refused = takeError();
  const answer = isAnswer(error) ? error : refused && isAnswer(refused) ? refused : undefined;
  if (answer) return refusalOf(answer);
  if (error instanceof Refusal && client.usable) return error.message;
  return error instanceof Error && "code" in error && /^Invalid/.test(String(error.code))
    ? error.message
    : undefined;
}

/** Whether the server said so, and not the connection. */
function isAnswer(error: unknown): error is Error {
  return error instanceof Error && ("responseStatus" in error || "serverResponseCode" in error);
}

async function carryOut(name: CommandName, command: Dict, state: State): Promise<Value> {
  const { client } = state;
  const uid = name.startsWith("uid ");
  const mailbox = () => demand(command, "mailbox");
  switch (name) {
    case "select":
    case "examine": {
      state.isSelected = false;
      const opened = await client.mailboxOpen(mailbox(), { readOnly: name === "examine" });
      state.isSelected = true;
      return describeMailbox(opened, await recentOf(client, opened));
    }
    case "search":
    case "uid search": {
      demandSelected(state);
      const criteria = isDict(command.criteria) ? command.criteria : {};
      const found = sure(await client.search(readCriteria(criteria, state.now()), { uid })) ?? [];
      state.found[uid ? "uid" : "seq"] = found;
      return { all: setOf(found), min: found[0] ?? 0, max: found.at(-1) ?? 0, count: found.length };
    }
    case "list":
      return await list(client, command);
    case "fetch":
    case "uid fetch":
      return await fetch(command, uid, state);
    case "store":
    case "uid store":
      return await store(command, uid, state);
    case "copy":
    case "uid copy":
    case "move":
    case "uid move": {
      const range = rangeOf(command, uid, state);
      const to = mailbox();
      if (range === "") return { success: true, count: 0 };
      const moved = name.endsWith("copy")
        ? await client.messageCopy(range, to, { uid })
        : await client.messageMove(range, to, { uid });
      const { uidMap } = sure(moved)!;
      return { success: true, count: uidMap?.size ?? 0 };
    }
    case "append": {
      const message = demand(command, "message").replace(/\r?\n/g, "\r\n");
      const added = sure(await client.append(mailbox(), message, flagsOf(command.value)));
      return { success: true, mailbox: mailbox(), uid: added!.uid ?? 0 };
    }
    case "create":
      if (!(await client.mailboxCreate(mailbox())).created) {
        throw new CommandFault(`the mailbox "${mailbox()}" is already there (ALREADYEXISTS)`);
      }
      return { success: true, mailbox: mailbox() };
    case "delete":
      await client.mailboxDelete(mailbox());
      return { success: true, mailbox: mailbox() };
    case "subscribe":
      sure(await client.mailboxSubscribe(mailbox()));
      return { success: true, mailbox: mailbox() };
    case "unsubscribe":
      sure(await client.mailboxUnsubscribe(mailbox()));
      return { success: true, mailbox: mailbox() };
    case "rename": {
      const [old, next] = [demand(command, "oldmailbox"), demand(command, "newmailbox")];
      await client.mailboxRename(old, next);
      return { success: true, old_mailbox: old, new_mailbox: next };
    }
    case "noop":
      await client.noop();
      if (!client.usable) throw new Error("the connection was lost");
      return { success: true };
  }
}

/** A command that the server refused without a reason. */
class Refusal extends Error {}

/** The library returns false for what the server refused; the reason is kept elsewhere. */
function sure<T>(result: T | false | undefined): T {
  if (result === false || result === undefined) throw new Refusal("the server refused it");
  return result;
}

function demand(command: Dict, key: string): string {
  const value = command[key] ?? null;
  if (value !== null && value !== "") return textOf(value);
  throw new CommandFault(`it needs "${key}"`);
}

function demandSelected({ isSelected }: State): void {
  if (isSelected) return;
  throw new CommandFault("no mailbox is selected: begin with { name: select, mailbox: INBOX }");
}

function describeMailbox(
  { exists, uidNext, flags, permanentFlags, unseen }: MailboxObject,
  recent: number,
): Dict {
  return {
    exists,
    recent,
    first_unseen: unseen ?? 0,
    uid_next: uidNext,
    flags: [...flags ?? []],
    permanent_flags: [...permanentFlags ?? []],
  };
}

async function recentOf(client: ImapFlow, { path }: MailboxObject): Promise<number> {
  const status = await client.status(path, { recent: true });
  return status ? status.recent ?? 0 : 0;
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

async function list(client: ImapFlow, command: Dict): Promise<Value> {
  const text = (key: string, otherwise: string) => textOf(command[key] ?? otherwise);
  const name = text("reference", "") + text("pattern", "*");
  const all = await client.list();
  const delimiter = all[0]?.delimiter ?? "/";
  const pattern = new RegExp(
    `^${
      name.replace(/[.+?^${}()|[\]\\/]/g, "\\$&").replaceAll("*", ".*")
        .replaceAll("%", `[^\\${delimiter}]*`)
    }$`,
    "i",
  );
  const mailboxes = all.filter(({ path }) => pattern.test(path)).map((one) => ({
    name: one.path,
    attributes: [...one.flags],
    delimiter: one.delimiter,
  }));
  return { mailboxes, count: mailboxes.length };
}

/** The mails of a command as IMAP writes them; empty where there are none. */
function rangeOf(command: Dict, uid: boolean, state: State): string {
  demandSelected(state);
  const { mailbox } = state.client;
  if (!uid && mailbox && mailbox.exists === 0) return "";
  const given = command.sequence ?? null;
  if (given !== null && given !== "") {
    const range = Array.isArray(given) ? given.map(textOf).join(",") : textOf(given);
    if (/^(\d+|\*)(:(\d+|\*))?(,(\d+|\*)(:(\d+|\*))?)*$/.test(range)) return range;
    throw new CommandFault(`invalid sequence ${JSON.stringify(range)}: write 1, 1:3 or 2:*`);
  }
  const found = state.found[uid ? "uid" : "seq"];
  if (found) return setOf(found);
  throw new CommandFault(`it needs "sequence", or a ${uid ? "uid " : ""}search before it`);
}

async function fetch(command: Dict, uid: boolean, state: State): Promise<Value> {
  const range = rangeOf(command, uid, state);
  const items = readDataItems(textOf(command.dataitem ?? "ALL"));
  if (range === "") return { messages: [], count: 0 };
  const fetched = await state.client.fetchAll(range, items.query, { uid });
  const messages: Dict[] = [];
  for (const one of fetched) messages.push(await describeMessage(one, items, state));
  const box = state.client.mailbox;
  if (items.marksSeen && fetched.length > 0 && box && !box.readOnly) {
    const seen = fetched.map((one) => one.uid).join(",");
    sure(await state.client.messageFlagsAdd(seen, ["\\Seen"], { uid: true }));
  }
  return { messages, count: messages.length };
}

async function describeMessage(
  one: FetchMessageObject,
  { isWhole, without }: DataItems,
  { mails }: State,
): Promise<Dict> {
  const { envelope, source, headers, bodyParts } = one;
  const mail = isWhole && source
    ? await readMail(source, { uid: one.uid, seq: one.seq, flags: [...one.flags ?? []] })
    : undefined;
  if (mail) mails.push(mail);
  const parts = Object.fromEntries(
    [...bodyParts ?? []].map(([key, bytes]) => [key, bytes.toString()]),
  );
  const date = one.internalDate ?? envelope?.date;
  const head = headers ? await readHeaders(headers) : {};
  return {
    seq: one.seq,
    uid: one.uid,
    flags: [...one.flags ?? []],
    date: date instanceof Date ? date.toISOString() : date ?? mail?.date ?? "",
    from: mail?.from ?? addressOf(envelope?.from),
    to: mail ? (mail.to as readonly string[]).join(", ") : addressOf(envelope?.to),
    subject: mail?.subject ?? envelope?.subject ?? "",
    message_id: mail?.message_id ?? envelope?.messageId ?? "",
    body: mail?.text ?? parts.text ?? parts["1"] ?? (isWhole ? "" : source?.toString() ?? ""),
    html_body: mail?.html ?? "",
    size: one.size ?? source?.length ?? 0,
    headers: mail?.headers ??
      Object.fromEntries(Object.entries(head).filter(([name]) => !without.includes(name))),
    parts,
    structure: one.bodyStructure ? JSON.parse(JSON.stringify(one.bodyStructure)) : null,
  };
}

function addressOf(addresses: readonly MessageAddressObject[] = []): string {
  return addresses.map(({ address }) => address ?? "").join(", ");
}

function flagsOf(value: Value | undefined): string[] {
  if (value === undefined || value === null) return [];
  const flags = Array.isArray(value) ? value.map(textOf) : textOf(value).replace(/[()]/g, " ");
  return (typeof flags === "string" ? flags.split(/[\s,]+/) : flags).filter((flag) => flag !== "")
    .map((flag) => /^(seen|answered|flagged|deleted|draft)$/i.test(flag) ? `\\${flag}` : flag);
}

/** The library leaves out flags that a mailbox does not take. */
function demandTaken(flags: readonly string[], { mailbox }: ImapFlow): void {
  if (!mailbox) return;
  if (mailbox.readOnly) throw new CommandFault("the mailbox is read-only: open it with select");
  const taken = [...mailbox.permanentFlags ?? ["\\*"]].map((flag) => flag.toLowerCase());
  for (const flag of flags) {
    if (taken.includes(flag.toLowerCase())) continue;
    if (taken.includes("\\*") && !flag.startsWith("\\")) continue;
    throw new CommandFault(`the mailbox does not keep the flag "${flag}"`);
  }
}

async function store(command: Dict, uid: boolean, state: State): Promise<Value> {
  const range = rangeOf(command, uid, state);
  const item = demand(command, "dataitem");
  const [, sign] = /^([+-]?)FLAGS(\.SILENT)?$/i.exec(item) ?? [];
  if (sign === undefined) {
    throw new CommandFault(`unknown data item "${item}": use FLAGS, +FLAGS or -FLAGS`);
  }
  if (!Object.hasOwn(command, "value")) throw new CommandFault('it needs "value"');
  const flags = flagsOf(command.value);
  const { client } = state;
  if (sign !== "-") demandTaken(flags, client);
  if (range === "") return { success: true, count: 0 };
  const set = sign === "+"
    ? client.messageFlagsAdd.bind(client)
    : sign === "-"
    ? client.messageFlagsRemove.bind(client)
    : client.messageFlagsSet.bind(client);
  sure(await set(range, flags, { uid }));
  const query = uid ? { uid: range } : { seq: range };
  const changed = sure(await client.search(query, { uid: true }));
  return { success: true, count: changed.length };
}
