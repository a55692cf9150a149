/**
 * What the actions for message brokers have in common: the verb of a step is a parameter, a message
 * is published as `json`, `body` or `file`, and a step receives until it has what it waits for, or
 * stays open. `broker()` makes such an action of its verbs, and of a module that connects, has
 * messages come and does what the other verbs say.
 *
 * @module
 */
import type { Action, Dict } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { checkBackground } from "../../action/background.ts";
import {
  action,
  type ActionResponse,
  type ActionSpec,
  type ResponseShape,
} from "../../action/make_action.ts";
import { isGiven } from "../../action/parameter.ts";
import type { Param, Shape, Values } from "../../action/rule.ts";
import type { BrokerUrl } from "./params.ts";
import { type End, receive, stayOpen, type Subscription, type Taker } from "./receive.ts";

/** The fields of `res` about messages. */
export const RECEIVED = {
  messages: {
    type: "array",
    summary: "the messages that were received, in order",
    optional: true,
  },
  message: {
    type: "map",
    summary: "the last of the messages; nil if none was received",
    optional: true,
  },
} as const;

/** A connection that is signed in, which all steps may use at the same time. */
interface BrokerClient {
  readonly isLost: boolean;
  close(): void | Promise<void>;
}

/** How an action for a broker is carried out. */
interface Carrier<P, C, R> {
  /** Connects and signs in. */
  open(params: P, attempt: ActionAttempt): Promise<C>;
  /** Where a step receives from, for messages: `topic "orders" of Kafka at 127.0.0.1 port 9092`. */
  sourceOf(params: P, attempt: ActionAttempt): string;
  /** Has messages come, and returns once the server has confirmed that. The result ends it. */
  subscribe(
    client: C,
    params: P,
    attempt: ActionAttempt,
    taker: Taker,
  ): Promise<End>;
  /** Does what another verb than `subscribe` says. */
  carryOut(client: C, params: P, attempt: ActionAttempt, raw: Dict): Promise<R>;
}

/** All there is to say about an action for a broker. */
interface BrokerSpec<S extends Shape, F extends ResponseShape, C extends BrokerClient>
  extends Omit<ActionSpec<S, F, C>, "oneOf" | "atMostOne" | "connection" | "run" | "subscribe"> {
  /** What a step does, each with the parameters that only some of them have. */
  readonly verbs: Readonly<Record<string, readonly string[]>>;
  /** What to write for a message without a content. */
  readonly empty?: string;
  /** What it calls the server. */
  readonly product: string;
  /** The parameters that tell one connection from another. */
  readonly by: readonly (keyof S & string)[];
  readonly load: () => Promise<Carrier<Values<S>, C, ActionResponse<F>>>;
}

const CONTENT = ["json", "body", "file"] as const;

/** The parameters that reports do not show: how to sign in, and how connections are shared. */
const HIDDEN = ["token", "nkey", "sasl", "tls", "connection", "fresh", "timeout"];

/** Makes an action for a broker from its definition. */
export function broker<
  const S extends Shape,
  const F extends ResponseShape,
  C extends BrokerClient,
>({ verbs, empty, product, by, load, ...spec }: BrokerSpec<S, F, C>): Action {
  const names = Object.keys(verbs);
  let loaded: ReturnType<typeof load> | undefined;
  const loadOnce = () => loaded ??= load();
  const urlOf = (params: object) => (params as { readonly url?: BrokerUrl }).url;
  return action<S, F, C>({
    oneOf: names,
    atMostOne: CONTENT,
    describe: (req, res) => {
      const verb = names.find((name) => req[name] !== undefined) ?? "";
      return {
        request: { title: verb === "reply" ? verb : `${verb} ${req[verb]}`, covered: [verb] },
        ...res && { response: { covered: res.messages ? ["message"] : [] } },
      };
    },
    target(params) {
      const { host, port } = urlOf(params)!;
      return { product, host, port };
    },
    request: (params, raw) => ({
      ...Object.fromEntries(Object.entries(raw).filter(([name]) => !HIDDEN.includes(name))),
      ...urlOf(params) && { url: urlOf(params)!.shown },
    }),
    ...spec,
    check(params, param, raw) {
      checkBackground(param, raw, ["until", "max_messages", "connection", "fresh"]);
      checkVerb(verbs, raw, param, empty);
      const url = urlOf(params);
      if (url && isGiven(raw, "tls") && !url.isSecure) {
        const message = `a URL with ${url.scheme}:// takes no "tls"`;
        param.of("tls").wrong(message, `write ${url.secure} to use TLS`, { at: "key" });
      }
      spec.check?.(params, param, raw);
    },
    connection: {
      by,
      parallel: true,
      open: async (params, attempt) => await (await loadOnce()).open(params, attempt),
      isLost: (client) => client.isLost,
      close: (client) => client.close(),
    },
    async run(client, params, attempt, raw) {
      const carrier = await loadOnce();
      const response = isGiven(raw, "subscribe")
        ? await receive(attempt, params, subscription(carrier, client, params, attempt))
        : await carrier.carryOut(client, params, attempt, raw);
      const { phases } = response;
      return {
        ...response as ActionResponse<F>,
        phases: { connect: attempt.connecting, ...phases },
      };
    },
    async subscribe(client, params, open, attempt) {
      const subscribe = subscription(await loadOnce(), client, params, attempt);
      return await stayOpen(open, subscribe) as unknown as ActionResponse<F>;
    },
  });
}

/** Reports parameters that have no effect with the verb of the step, and a missing content. */
function checkVerb(
  verbs: Readonly<Record<string, readonly string[]>>,
  raw: Dict,
  param: Param,
  empty = 'body: "" is an empty one',
): void {
  const [verb, other] = Object.keys(verbs).filter((verb) => isGiven(raw, verb));
  if (verb === undefined || other !== undefined) return;
  const special = new Set(Object.values(verbs).flat());
  for (const name of Object.keys(raw)) {
    if (!special.has(name) || verbs[verb]!.includes(name)) continue;
    const users = Object.keys(verbs).filter((other) => verbs[other]!.includes(name));
    param.of(name).wrong(
      `"${name}" has no effect with "${verb}"`,
      `it belongs to ${users.map((user) => `"${user}"`).join(" or ")}`,
      { at: "key" },
    );
  }
  if (!verbs[verb]!.includes("json") || CONTENT.some((name) => Object.hasOwn(raw, name))) return;
  param.wrong(`"${verb}" needs "json", "body" or "file"`, empty);
}

function subscription<P, C>(
  carrier: Carrier<P, C, unknown>,
  client: C,
  params: P,
  attempt: ActionAttempt,
): Subscription {
  const source = carrier.sourceOf(params, attempt);
  return {
    source,
    async begin(taker) {
      const subscribed = carrier.subscribe(client, params, attempt, taker);
      try {
        const failing = `cannot subscribe to ${source}`;
        return await attempt.during(`subscribing to ${source}`, subscribed, failing);
      } catch (error) {
        // What comes too late is not needed.
        subscribed.then((end) => end(), () => {});
        throw error;
      }
    },
  };
}
