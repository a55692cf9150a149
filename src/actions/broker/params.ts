import { decodePercents, withoutPassword } from "../../secrets/secrets.ts";
import { condition, flag, integer, type Param, type Rule, text, value } from "../../action/rule.ts";

/** The content of a message to publish. */
export const CONTENT_PARAMS = {
  json: value("any", "Any value to publish as JSON"),
  body: value("any", "The text to publish, or an object or list to publish as JSON"),
  file: text("A file to publish, relative to the file that names it").with({ namesFile: "any" }),
};

/** Whether a step answers. */
export const REPLY = flag("`true` answers the message that a step of the job received last")
  .as((isReply, param) => {
    if (isReply) return isReply;
    throw param.wrong('"reply" is true or left out');
  });

/** Until when a step receives. */
export const RECEIVE_PARAMS = {
  until: condition(
    "An expression: receive messages until it is true; `message` is the last one",
    "message",
  ),
  max_messages: integer("The maximum number of messages to receive", { min: 1 })
    .with({ default: "1; no limit with until" }),
};

/** A server, as a URL describes it. */
export interface BrokerUrl {
  /** The URL without its password. */
  readonly shown: string;
  /** The URL without a user. */
  readonly bare: string;
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly username: string;
  readonly password: string;
  /** What follows the host and its `/`. */
  readonly path: string;
  /** How a URL with TLS begins. */
  readonly secure: string;
}

/** The port of each scheme of a URL: of those without and with TLS. */
interface Schemes {
  readonly plain: Readonly<Record<string, number>>;
  readonly secure: Readonly<Record<string, number>>;
}

/**
 * The URL of a server; its password is a secret before anything can fail. `fits` says whether a URL
 * of these schemes is one, and `hint` what to write.
 */
export function brokerUrl(
  summary: string,
  { plain, secure }: Schemes,
  hint: string,
  fits = ({ search }: URL) => search === "",
): Rule<BrokerUrl, never> {
  const ports = new Map(Object.entries({ ...plain, ...secure }));
  // The rounds of a load job read the same text.
  let before: { readonly text: string; readonly read: BrokerUrl } | undefined;
  const read = (text: string, param: Param): BrokerUrl => {
    const url = URL.parse(text);
    const password = decodePercents(url?.password ?? "");
    if (password !== "") param.secrets?.add(password);
    const scheme = url?.protocol.slice(0, -1) ?? "";
    if (!url || !ports.has(scheme) || url.hostname === "" || !fits(url)) {
      const shown = JSON.stringify(url ? withoutPassword(text) : "");
      throw param.wrong(`invalid URL ${shown}`, hint);
    }
    const [shown, bare] = [new URL(url), new URL(url)];
    if (password !== "") shown.password = "***";
    [bare.username, bare.password] = ["", ""];
    return {
      shown: shown.href,
      bare: bare.href,
      scheme,
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: Number(url.port || ports.get(scheme)),
      isSecure: Object.hasOwn(secure, scheme),
      username: decodePercents(url.username),
      password,
      path: decodePercents(url.pathname.slice(1)),
      secure: Object.keys(secure).map((name) => `${name}://`).join(" or "),
    };
  };
  return text(summary).as((text, param) => {
    if (before?.text !== text) before = { text, read: read(text, param) };
    if (before.read.password !== "") param.secrets?.add(before.read.password);
    return before.read;
  }).required();
}

/** Where to begin in what a server keeps. */
export type Start =
  | { readonly name: "now" | "beginning" }
  | { readonly number: string }
  | { readonly time: number };

/** Where to begin; `number` is what messages are counted by, from `first` on: `an offset`. */
export function startOf(begin: string, number: string, first: 0 | 1): Rule<Start, Start> {
  const forms = `, ${number}, or a time like 2026-01-31T12:00:00Z`;
  return text(`${begin}: \`now\`, \`beginning\`${forms}`).as((text, param): Start => {
    if (text === "now" || text === "beginning") return { name: text };
    if (/^\d+$/.test(text) && Number(text) >= first) return { number: text };
    const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
    if (!Number.isNaN(time)) return { time };
    const hint = `write now, beginning${forms}`;
    throw param.wrong(`invalid start ${JSON.stringify(text)}`, hint);
  }).default({ name: "now" }, "now");
}
