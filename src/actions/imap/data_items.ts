import type { FetchQueryObject } from "./imap_connection.ts";
import { CommandFault } from "./criteria.ts";

/** The data items that a `fetch` requests. */
export interface DataItems {
  readonly query: FetchQueryObject;
  /** Whether reading marks the mails as seen, as IMAP does without PEEK. */
  readonly marksSeen: boolean;
  /** Whether the whole mail comes. */
  readonly isWhole: boolean;
  /** Headers that are left out. */
  readonly without: readonly string[];
}

const ALL: FetchQueryObject = { flags: true, internalDate: true, size: true, envelope: true };

const ATOMS: Readonly<Record<string, FetchQueryObject>> = {
  ALL,
  FAST: { flags: true, internalDate: true, size: true },
  FULL: { ...ALL, bodyStructure: true },
  ENVELOPE: { envelope: true },
  FLAGS: { flags: true },
  INTERNALDATE: { internalDate: true },
  "RFC822.SIZE": { size: true },
  UID: { uid: true },
  BODY: { bodyStructure: true },
  BODYSTRUCTURE: { bodyStructure: true },
  RFC822: { source: true },
  "RFC822.HEADER": { headers: true },
  "RFC822.TEXT": { bodyParts: ["text"] },
};

/** Atoms that mark mails as seen. */
const MARKING = ["RFC822", "RFC822.TEXT"];

/** Reads data items as IMAP writes them: `ALL`, `FLAGS BODY.PEEK[HEADER.FIELDS (From To)]`. */
export function readDataItems(text: string): DataItems {
  const words = text.trim().replace(/^\((.*)\)$/s, "$1").match(/(?:\[[^\]]*\]|[^\s[])+/g) ?? [];
  if (words.length === 0) throw new CommandFault("there is no data item");
  let items: DataItems = { query: { uid: true }, marksSeen: false, isWhole: false, without: [] };
  for (const word of words) items = add(items, word);
  return items;
}

function add(items: DataItems, word: string): DataItems {
  const { query } = items;
  const upper = word.toUpperCase();
  const atom = Object.hasOwn(ATOMS, upper) ? ATOMS[upper] : undefined;
  if (atom) {
    const marksSeen = items.marksSeen || MARKING.includes(upper);
    return {
      ...items,
      query: merge(query, atom),
      marksSeen,
      isWhole: items.isWhole || upper === "RFC822",
    };
  }
  const [, peek, section, start, length] =
    /^BODY(\.PEEK)?\[([^\]]*)\](?:<(\d+)(?:\.(\d+))?>)?$/i.exec(word) ?? [];
  if (section === undefined) {
    throw new CommandFault(`unknown data item "${word}": use ${Object.keys(ATOMS).join(", ")}`);
  }
  const marksSeen = items.marksSeen || peek === undefined;
  const part = {
    ...start === undefined ? {} : { start: Number(start) },
    ...length === undefined ? {} : { maxLength: Number(length) },
  };
  const [, isNot, list] = /^HEADER\.FIELDS(\.NOT)?\s*\(([^)]*)\)$/i.exec(section) ?? [];
  const names = list?.trim().split(/\s+/) ?? [];
  if (section === "") {
    const source = start === undefined ? true : part;
    return { ...items, marksSeen, isWhole: start === undefined, query: merge(query, { source }) };
  }
  if (list !== undefined && !isNot) {
    return { ...items, marksSeen, query: merge(query, { headers: names }) };
  }
  if (list !== undefined || /^HEADER$/i.test(section)) {
    const without = names.map((name) => name.toLowerCase());
    return { ...items, marksSeen, without, query: merge(query, { headers: true }) };
  }
  if (!/^(TEXT|[\d.]+(\.(MIME|HEADER|TEXT))?)$/i.test(section)) {
    throw new CommandFault(`unknown section "${section}" in the data item "${word}"`);
  }
  const bodyParts = [{ key: section.toLowerCase(), ...part }];
  return { ...items, marksSeen, query: merge(query, { bodyParts }) };
}

function merge(one: FetchQueryObject, other: FetchQueryObject): FetchQueryObject {
  const bodyParts = [...one.bodyParts ?? [], ...other.bodyParts ?? []];
  return { ...one, ...other, ...bodyParts.length === 0 ? {} : { bodyParts } };
}
