import { isTemplate } from "../../expr/template/template_data.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { isDict } from "../../base/value/value.ts";
import type { Action, Dict, ParameterProblem } from "../../action/action.ts";
import { isGiven } from "../../action/parameters.ts";
import { sharingParameters } from "../../action/shared_connection.ts";
import { COMMAND_NAMES, CRITERIA, isCommand, needsOf } from "./commands.ts";
import { checkPort, TLS_SWITCH } from "../../action/net/tls_switch.ts";
import { checkTls } from "../../action/tls/tls_parameter.ts";

/** Reads mailboxes, and waits for mails. */
export const imap: Action = {
  name: "imap",
  summary: "Reads mailboxes by IMAP, and waits for mails",
  parameters: [
    { name: "host", type: "string", summary: "The host or address", required: true },
    {
      name: "port",
      type: "integer",
      summary: "The port",
      default: "993, or 143 without TLS from the first byte",
    },
    { name: "username", type: "string", summary: "The user name", required: true },
    { name: "password", type: "string", summary: "The password" },
    {
      name: "access_token",
      type: "string",
      summary: "A token of OAuth 2.0 (XOAUTH2), in place of the password",
    },
    {
      name: "commands",
      type: "list",
      summary: "What to do, one after another",
      items: [
        {
          name: "name",
          type: "string",
          summary: "The command: `select`, `examine`, `search`, `uid search`, `list`, `fetch`, " +
            "`uid fetch`, `store`, `copy`, `move` (each also with `uid`), `append`, `create`, " +
            "`delete`, `rename`, `subscribe`, `unsubscribe` or `noop`",
          required: true,
        },
        { name: "mailbox", type: "string", summary: "The mailbox: `INBOX`" },
        {
          name: "criteria",
          type: "map",
          summary: "Which mails `search` finds: those that meet all of these",
          fields: CRITERIA,
        },
        {
          name: "sequence",
          type: "string",
          summary: "Mails by number, or by UID after `uid`: `1`, `1:3`, `2:*`",
          default: "what the last search found",
        },
        {
          name: "dataitem",
          type: "string",
          summary: "What `fetch` reads: `ALL`, `RFC822`, `BODY[]`, `FLAGS`; what `store` " +
            "changes: `FLAGS`, `+FLAGS`, `-FLAGS`",
          default: "ALL of fetch",
        },
        {
          name: "value",
          type: ["string", "list"],
          summary: String.raw`The flags of ` + "`store` and `append`: `\\Seen`",
        },
        { name: "message", type: "string", summary: "The mail that `append` puts there" },
        { name: "reference", type: "string", summary: "Where `list` begins", default: '""' },
        {
          name: "pattern",
          type: "string",
          summary: "Names that `list` shows: `*` matches anything, `%` for one level",
          default: "*",
        },
        { name: "oldmailbox", type: "string", summary: "What `rename` renames" },
        { name: "newmailbox", type: "string", summary: "What it is called afterwards" },
      ],
    },
    {
      name: "wait_for",
      type: "map",
      summary: "The mail to wait for, after the commands; it stays unread",
      fields: [
        { name: "subject", type: "string", summary: "Text in its subject" },
        { name: "from", type: "string", summary: "Text in its sender" },
        { name: "to", type: "string", summary: "Text in its recipients" },
        { name: "body", type: "string", summary: "Text in its body" },
        {
          name: "since",
          type: "any",
          summary: "When it arrived at the earliest: a Unix time, `2026-01-02T03:04:05Z`, " +
            "`5 minutes ago`, `today`",
        },
        { name: "mailbox", type: "string", summary: "Where it arrives", default: "INBOX" },
        {
          name: "timeout",
          type: "duration",
          summary: "How long to wait",
          default: "what the step has left",
        },
      ],
    },
    {
      ...TLS_SWITCH,
      summary: "Whether to use TLS from the first byte, or how to use TLS",
      default: "true, unless starttls is true",
    },
    {
      name: "starttls",
      type: "boolean",
      summary: "Whether to switch to TLS by STARTTLS, which the server must then offer",
      default: "false",
    },
    {
      name: "insecure_skip_tls",
      type: "boolean",
      summary: "Whether to accept any certificate, like tls: { verify: false }",
      default: "false",
    },
    {
      name: "strict_host_check",
      type: "boolean",
      summary: "Whether the certificate must be for the host",
      default: "true",
    },
    ...sharingParameters("connection", "job, server and user"),
    {
      name: "timeout",
      type: "duration",
      summary: "How long everything may take",
      default: "the timeout of the step",
    },
  ],
  responseFields: [
    { name: "code", type: "int" },
    { name: "data", type: "map" },
    { name: "mails", type: "array" },
    { name: "error", type: "string" },
  ],
  check: (params) => [
    ...checkWork(params),
    ...checkCommands(params),
    ...checkPassword(params),
    ...checkPort(params),
    ...checkTls(params),
  ],
  expectsResult: ({ wait_for: mail = null }) => mail !== null,
  exampleTest: 'res.mails[0].subject == "Welcome"',
  explainer: async () => (await import("./explain_imap.ts")).imapExplainer,
  load: async () => (await import("./run_imap.ts")).runImap,
};

function checkWork(params: Dict): ParameterProblem[] {
  if (!isGiven(params, "commands") && !isGiven(params, "wait_for")) {
    return [{ path: [], message: 'imap needs "commands" or "wait_for"' }];
  }
  const { wait_for: wait } = params;
  if (
    isDict(wait) && !["subject", "from", "to", "body", "since"].some((key) => isGiven(wait, key))
  ) {
    const hint = "give subject, from, to, body or since";
    return [{ path: ["wait_for"], message: '"wait_for" does not say which mail', hint }];
  }
  return [];
}

function checkCommands({ commands }: Dict): ParameterProblem[] {
  if (!Array.isArray(commands)) return [];
  return commands.flatMap((command, index) => {
    if (!isDict(command) || isTemplate(command)) return [];
    const { name } = command;
    if (typeof name !== "string" || isTemplate(name)) return [];
    if (isCommand(name)) {
      return needsOf(name).filter((key) => !isGiven(command, key)).map((key) => ({
        path: ["commands", index],
        message: `the command "${name}" needs "${key}"`,
      }));
    }
    const hint = didYouMean(name, COMMAND_NAMES) ?? `the commands are ${COMMAND_NAMES.join(", ")}`;
    return [{ path: ["commands", index, "name"], message: `unknown command "${name}"`, hint }];
  });
}

function checkPassword(params: Dict): ParameterProblem[] {
  const hasOne = ["password", "access_token"].some((name) => Object.hasOwn(params, name));
  return hasOne ? [] : [{ path: [], message: 'imap needs "password" or "access_token"' }];
}
