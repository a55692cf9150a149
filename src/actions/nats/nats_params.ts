import { BACKGROUND } from "../../action/background.ts";
import {
  flag,
  mapOf,
  type Param,
  sharing,
  text,
  timeout,
  value,
  type Values,
} from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { brokerUrl, CONTENT_PARAMS, RECEIVE_PARAMS, REPLY, startOf } from "../broker/params.ts";

/** The parameters of nats. */
export const PARAMS = {
  url: brokerUrl(
    "The server: `nats://user:password@host:4222`, or `tls://` for TLS",
    { plain: { nats: 4222 }, secure: { tls: 4222 } },
    "write nats://host:4222, nats://user:password@host:4222, or tls:// for TLS",
  ).as((url, param) => {
    if (url.username === "" || url.password !== "") return url;
    const hint = 'write a token as "token": reports hide it there';
    throw param.wrong("the URL has a user without a password", hint);
  }).required(),
  publish: text("The subject to publish to").as(readSubject),
  request: text("The subject to publish to, and to wait for a reply").as(readSubject),
  reply: REPLY,
  subscribe: text("The subject to receive from; `*` matches one token, `>` all further ones")
    .as(readPattern),
  put: text("The key of `bucket` to write").as(readSubject),
  get: text("The key of `bucket` to read").as(readSubject),
  ...CONTENT_PARAMS,
  headers: mapOf(value(["string", "list"], ""), "Headers of the message; a list repeats one"),
  confirm: flag("Whether to wait until the server has the message").default(true),
  stream: text("The stream of JetStream that stores what is published, or to receive from")
    .as(readName),
  bucket: text("The bucket of key-value pairs").as(readName),
  from: startOf("Where to begin in `stream`", "a sequence", 1),
  group: text("The queue group to join; of a `stream`, the durable consumer").as(readName),
  ...RECEIVE_PARAMS,
  token: text("The token to sign in with").secret(),
  nkey: text("The seed of the key to sign in with: `SU…`").secret(),
  tls: tls(),
  background: BACKGROUND,
  ...sharing("connection", "job and URL"),
  ...timeout("How long connecting and everything else may take"),
};

/** Their values. */
export type NatsParams = Values<typeof PARAMS>;

function readSubject(subject: string, param: Param): string {
  if (/^[^\s.*>]+(\.[^\s.*>]+)*$/.test(subject)) return subject;
  const hint = "tokens with dots between them, without spaces; * and > are for those who subscribe";
  throw param.wrong(`invalid ${param.name} ${JSON.stringify(subject)}`, hint);
}

function readPattern(subject: string, param: Param): string {
  if (/^([^\s.*>]+|\*)(\.([^\s.*>]+|\*))*(\.>)?$|^>$/.test(subject)) return subject;
  const hint = "* and > match whole tokens between dots, > only at the end";
  throw param.wrong(`invalid subject ${JSON.stringify(subject)}`, hint);
}

function readName(name: string, param: Param): string {
  if (/^[^\s.*>/\\]+$/.test(name)) return name;
  throw param.wrong(
    `invalid ${param.name} ${JSON.stringify(name)}`,
    "a name has no . * > / or space",
  );
}
