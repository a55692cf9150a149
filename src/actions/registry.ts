import type { Action } from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { Host } from "../host/host.ts";
import { assert, hello } from "./hello.ts";
import type { Plugins } from "./plugin/load_plugins.ts";

export type { Plugins };

/** An action by its name; its code comes when a workflow uses it. */
export interface ActionEntry {
  readonly name: string;
  readonly load: () => Promise<Action>;
}

/** Everything that a step can do. */
export const ACTIONS: readonly ActionEntry[] = [
  // So small that bringing it would take longer than having it.
  { name: "hello", load: () => Promise.resolve(hello) },
  { name: "assert", load: () => Promise.resolve(assert) },
  { name: "http", load: async () => (await import("./http/http.ts")).http },
  { name: "shell", load: async () => (await import("./shell/shell.ts")).shell },
  { name: "echo", load: async () => (await import("./echo.ts")).echo },
  { name: "tcp", load: async () => (await import("./tcp/tcp.ts")).tcp },
  { name: "tls", load: async () => (await import("./tls/tls.ts")).tls },
  { name: "dns", load: async () => (await import("./dns/dns.ts")).dns },
  { name: "redis", load: async () => (await import("./redis/redis.ts")).redis },
  { name: "ssh", load: async () => (await import("./ssh/ssh.ts")).ssh },
  { name: "db", load: async () => (await import("./db/db.ts")).db },
  { name: "smtp", load: async () => (await import("./smtp/smtp.ts")).smtp },
  { name: "imap", load: async () => (await import("./imap/imap.ts")).imap },
  {
    name: "mail-latency",
    load: async () => (await import("./mail_latency/mail_latency.ts")).mailLatency,
  },
  { name: "grpc", load: async () => (await import("./grpc/grpc.ts")).grpc },
  { name: "browser", load: async () => (await import("./browser/browser.ts")).browser },
  {
    name: "websocket",
    load: async () => (await import("./websocket/websocket.ts")).websocket,
  },
  { name: "sse", load: async () => (await import("./sse/sse.ts")).sse },
  { name: "embedded", load: async () => (await import("./embedded.ts")).embedded },
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
