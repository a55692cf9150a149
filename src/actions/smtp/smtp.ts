import type { Action, Dict, ParameterProblem } from "../../action/action.ts";
import { sharingParameters } from "../../action/shared_connection.ts";
import { TLS_SWITCH } from "../../action/net/tls_switch.ts";
import { checkTls } from "../../action/tls/tls_parameter.ts";

/** Sends mails to an SMTP server. */
export const smtp: Action = {
  name: "smtp",
  summary: "Sends mails by SMTP",
  parameters: [
    {
      name: "addr",
      type: "string",
      summary: "The server: `mail.example.com:587`; the port is 25 if it is left out",
      required: true,
    },
    {
      name: "from",
      type: "string",
      summary: "The sender: `a@example.com` or `Ann <a@example.com>`",
      required: true,
    },
    {
      name: "to",
      type: ["string", "list"],
      summary: "The recipients: a list, or a text with commas between them",
      required: true,
    },
    { name: "cc", type: ["string", "list"], summary: "Recipients of a copy" },
    { name: "bcc", type: ["string", "list"], summary: "Recipients that no header names" },
    { name: "reply_to", type: ["string", "list"], summary: "Where replies go" },
    { name: "subject", type: "string", summary: "The subject", default: '""' },
    {
      name: "body",
      type: "string",
      summary: "The text",
      default: "This is a test mail., if there is no html either",
    },
    { name: "html", type: "string", summary: "The text as HTML, beside `body` or in place of it" },
    { name: "headers", type: "map", summary: "Further headers; a list repeats its header" },
    {
      name: "attachments",
      type: "list",
      summary: "Paths of files, or maps of `file`, `content` (text) or `base64`, " +
        "with `filename`, `type` and, for images in the HTML, `cid`",
    },
    {
      name: "auth",
      type: "map",
      summary: "How to sign in",
      fields: [
        { name: "username", type: "string", summary: "The user name", required: true },
        { name: "password", type: "string", summary: "The password" },
        {
          name: "access_token",
          type: "string",
          summary: "A token of OAuth 2.0 (XOAUTH2), in place of the password",
        },
        {
          name: "method",
          type: "string",
          values: ["PLAIN", "LOGIN", "CRAM-MD5"],
          summary: "How to prove the password",
          default: "the first of them that the server offers",
        },
      ],
    },
    {
      ...TLS_SWITCH,
      summary: "Whether to use TLS from the first byte; a map of options also turns it on, " +
        "unless `starttls` is true",
      default: "true for port 465",
    },
    {
      name: "starttls",
      type: "boolean",
      summary: "Whether to switch to TLS by STARTTLS, which the server must then offer",
      default: "with auth, if the server offers it",
    },
    {
      name: "myhostname",
      type: "string",
      summary: "The name that the client gives in EHLO",
      default: "localhost",
    },
    {
      name: "session",
      type: "integer",
      summary: "Connections that send at the same time",
      default: "1",
    },
    {
      name: "message",
      type: "integer",
      summary: "How many mails to send in all sessions together",
      default: "1",
    },
    {
      name: "length",
      type: "integer",
      summary: "How many characters `*` to append to the text",
      default: "0",
    },
    ...sharingParameters("connections", "job and server"),
    {
      name: "timeout",
      type: "duration",
      summary: "How long connecting and sending may take",
      default: "the timeout of the step",
    },
  ],
  responseFields: [
    { name: "code", type: "int" },
    { name: "sent", type: "int" },
    { name: "failed", type: "int" },
    { name: "total", type: "int" },
    { name: "error", type: "string" },
    { name: "accepted", type: "array" },
    { name: "rejected", type: "array" },
    { name: "reply", type: "string" },
    { name: "message_id", type: "string" },
    { name: "maildata", type: "string" },
    { name: "filepath", type: "string" },
  ],
  check: (params) => [...checkCounts(params), ...checkAuth(params), ...checkTls(params)],
  exampleTest: "res.sent == 1",
  explainer: async () => (await import("./explain_smtp.ts")).smtpExplainer,
  load: async () => (await import("./run_smtp.ts")).runSmtp,
};

const LEAST: Readonly<Record<string, number>> = { session: 1, message: 1, length: 0 };

function checkCounts(params: Dict): ParameterProblem[] {
  return Object.entries(LEAST).flatMap(([name, least]) => {
    const count = params[name];
    return typeof count === "number" && count < least
      ? [{ path: [name], message: `"${name}" must be at least ${least}, not ${count}` }]
      : [];
  });
}

function checkAuth({ auth }: Dict): ParameterProblem[] {
  if (typeof auth !== "object" || auth === null || Array.isArray(auth)) return [];
  const { password, access_token: token } = auth as Dict;
  const path = ["auth"];
  if ((password ?? null) === null && (token ?? null) === null) {
    return [{ path, message: '"auth" needs "password" or "access_token"' }];
  }
  return [];
}
