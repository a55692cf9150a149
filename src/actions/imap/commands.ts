import type { Parameter } from "../../action/action.ts";

/** The commands, in the words of the protocol. */
export const COMMAND_NAMES = [
  ...["select", "examine", "search", "uid search", "list", "fetch", "uid fetch"],
  ...["store", "uid store", "copy", "uid copy", "move", "uid move", "append"],
  ...["create", "delete", "rename", "subscribe", "unsubscribe", "noop"],
] as const;

/** The name of a command without differences of case and spaces. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\s+/g, " ");
}

/** Whether there is a command of that name; case and spaces do not matter. */
export function isCommand(name: string): boolean {
  return COMMAND_NAMES.some((one) => one === plainName(name));
}

const MAILBOX = ["mailbox"];
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  ...{ select: MAILBOX, examine: MAILBOX, copy: MAILBOX, move: MAILBOX, create: MAILBOX },
  ...{ delete: MAILBOX, subscribe: MAILBOX, unsubscribe: MAILBOX },
  append: ["mailbox", "message"],
  rename: ["oldmailbox", "newmailbox"],
  store: ["dataitem", "value"],
};

/** The keys that a command must have. */
export function needsOf(name: string): readonly string[] {
  return NEEDS[plainName(name).replace("uid ", "")] ?? [];
}

/** The criteria of `search`. */
export const CRITERIA: readonly Parameter[] = [
  { name: "seq_nums", type: ["string", "list"], summary: "Numbers of mails: `1`, `1:3`, `2:*`" },
  { name: "uids", type: ["string", "list"], summary: "UIDs of mails, in the same way" },
  { name: "since", type: "any", summary: "They arrived then or later" },
  { name: "before", type: "any", summary: "They arrived before then" },
  { name: "sent_since", type: "any", summary: "They were sent then or later" },
  { name: "sent_before", type: "any", summary: "They were sent before then" },
  { name: "headers", type: "map", summary: "Names of headers and texts in them" },
  { name: "bodies", type: ["string", "list"], summary: "Texts in the body" },
  { name: "texts", type: ["string", "list"], summary: "Texts in a header or the body" },
  { name: "flags", type: ["string", "list"], summary: "Flags that they have: `seen`" },
  { name: "not_flags", type: ["string", "list"], summary: "Flags that they do not have" },
  { name: "subject", type: ["string", "list"], summary: "Texts in the subject" },
  { name: "from", type: ["string", "list"], summary: "Texts in the sender" },
  { name: "to", type: ["string", "list"], summary: "Texts in the recipients" },
];
