import type { Action } from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { Host } from "../host/host.ts";
import { assert, hello } from "./hello.ts";
import type { Plugins } from "./plugin/load_plugins.ts";

export type { Plugins };

/** The groups in which help lists actions. */
type ActionGroup =
  | "Requests"
  | "Data"
  | "Messages"
  | "Commands and files"
  | "Mail"
  | "Network"
  | "Inside a workflow";

/** An action by its name; its code comes when a workflow uses it. */
interface ActionEntry {
  readonly name: string;
  readonly group: ActionGroup;
  readonly load: () => Promise<Action>;
}

/** Everything that a step can do, the most common first. */
export const ACTIONS: readonly ActionEntry[] = [
  { name: "http", group: "Requests", load: async () => (await import("./http/http.ts")).http },
  { name: "grpc", group: "Requests", load: async () => (await import("./grpc/grpc.ts")).grpc },
  {
    name: "websocket",
    group: "Requests",
    load: async () => (await import("./websocket/websocket.ts")).websocket,
  },
  { name: "sse", group: "Requests", load: async () => (await import("./sse/sse.ts")).sse },
  {
    name: "listen",
    group: "Requests",
    load: async () => (await import("./listen/listen.ts")).listen,
  },
  {
    name: "browser",
    group: "Requests",
    load: async () => (await import("./browser/browser.ts")).browser,
  },
  { name: "db", group: "Data", load: async () => (await import("./db/db.ts")).db },
  { name: "redis", group: "Data", load: async () => (await import("./redis/redis.ts")).redis },
  { name: "kafka", group: "Messages", load: async () => (await import("./kafka/kafka.ts")).kafka },
  { name: "amqp", group: "Messages", load: async () => (await import("./amqp/amqp.ts")).amqp },
  { name: "mqtt", group: "Messages", load: async () => (await import("./mqtt/mqtt.ts")).mqtt },
  { name: "nats", group: "Messages", load: async () => (await import("./nats/nats.ts")).nats },
  {
    name: "shell",
    group: "Commands and files",
    load: async () => (await import("./shell/shell.ts")).shell,
  },
  {
    name: "ssh",
    group: "Commands and files",
    load: async () => (await import("./ssh/ssh.ts")).ssh,
  },
  { name: "smtp", group: "Mail", load: async () => (await import("./smtp/smtp.ts")).smtp },
  { name: "imap", group: "Mail", load: async () => (await import("./imap/imap.ts")).imap },
  {
    name: "mail-latency",
    group: "Mail",
    load: async () => (await import("./mail_latency/mail_latency.ts")).mailLatency,
  },
  { name: "tcp", group: "Network", load: async () => (await import("./tcp/tcp.ts")).tcp },
  { name: "tls", group: "Network", load: async () => (await import("./tls/tls.ts")).tls },
  { name: "dns", group: "Network", load: async () => (await import("./dns/dns.ts")).dns },
  {
    name: "receive",
    group: "Inside a workflow",
    load: async () => (await import("./receive/receive.ts")).receive,
  },
  // assert and hello are so small that bringing them would take longer than having them.
  { name: "assert", group: "Inside a workflow", load: () => Promise.resolve(assert) },
  { name: "echo", group: "Inside a workflow", load: async () => (await import("./echo.ts")).echo },
  {
    name: "embedded",
    group: "Inside a workflow",
    load: async () => (await import("./embedded.ts")).embedded,
  },
  { name: "hello", group: "Inside a workflow", load: () => Promise.resolve(hello) },
];

/** The actions of some names, by name, and what was found where plugins are. */
export interface LoadedActions {
  readonly actions: ReadonlyMap<string, Action>;
  /** Undefined if all are built in. */
  readonly plugins?: Plugins;
}

/** Loads the actions of those names; unknown names are omitted. */
export async function loadActions(
  names: ReadonlySet<string>,
  host: Host,
  permissions?: Permissions,
): Promise<LoadedActions> {
  const entries = ACTIONS.filter(({ name }) => names.has(name));
  const loaded = await Promise.all(entries.map(({ load }) => load()));
  const builtIn = loaded.map((action) => [action.name, action] as const);
  if (entries.length === names.size) return { actions: new Map(builtIn) };
  const others = [...names].filter((name) => !entries.some((entry) => entry.name === name));
  const { loadPlugins } = await import("./plugin/load_plugins.ts");
  const plugins = await loadPlugins(others, host, permissions);
  return { actions: new Map([...builtIn, ...plugins.actions]), plugins };
}
