import { dictOf, type Value } from "../../base/value/value.ts";
import type { Exchange } from "../../run/event.ts";

export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";
export type Attributes = Record<string, string | number>;

/** How the semantic conventions of OpenTelemetry name and describe what an action did. */
interface Described {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

/** The systems of messages by the names of their actions. */
const BROKERS: Readonly<Record<string, string>> = {
  kafka: "kafka",
  amqp: "rabbitmq",
  mqtt: "mqtt",
  nats: "nats",
};

/** Other actions that ask something of another program. */
const CLIENTS =
  /^(?:http|sse|websocket|grpc|db|redis|browser|smtp|imap|mail-latency|ssh|tcp|tls|dns)$/;

/**
 * Describes an attempt by its request and response, where these were kept.
 *
 * Source: https://opentelemetry.io/docs/specs/semconv/
 */
export function describeAttempt(uses: string, exchange: Exchange | undefined): Described {
  const [req, res] = [dictOf(exchange?.req), dictOf(exchange?.res)];
  const kind = CLIENTS.test(uses) ? "client" : "internal";
  switch (uses) {
    case "http":
    case "sse":
    case "websocket": {
      const { url, method = url && "GET" } = req;
      return described(`${method ?? uses}`, kind, {
        "http.request.method": method,
        "url.full": url,
        "http.response.status_code": res.code,
        "network.protocol.version": res.version,
        ...serverOf(url),
      });
    }
    case "grpc": {
      const method = exchange ? `${req.service}/${req.method}` : uses;
      return described(method, kind, {
        "rpc.system.name": "grpc",
        "rpc.method": method,
        "rpc.status_code": res.status_code,
        ...serverOf(req.addr && `grpc://${req.addr}`),
      });
    }
    case "db": {
      const { driver, dsn, query } = req;
      const system = driver === "postgres" ? "postgresql" : driver;
      const operation = /^\s*(\w+)/.exec(`${query ?? ""}`)?.[1]?.toUpperCase();
      return described(operation ?? `${system ?? uses}`, kind, {
        "db.system.name": system,
        "db.operation.name": operation,
        "db.query.text": query,
        "db.namespace": driver === "sqlite" ? dsn : URL.parse(`${dsn}`)?.pathname.slice(1),
        "db.response.status_code": res.error_code,
        ...driver === "sqlite" ? {} : serverOf(dsn),
      });
    }
    case "redis": {
      const [operation] = [req.command ?? []].flat();
      return described(`${operation ?? uses}`, kind, {
        "db.system.name": "redis",
        "db.operation.name": operation,
        "db.response.status_code": res.error_code,
        ...serverOf(req.url),
      });
    }
  }
  const system = BROKERS[uses];
  if (system === undefined) return described(uses, kind, {});
  const [verb, destination] = VERBS.map((verb) => [verb, req[verb]]).find(([, to]) => to) ?? [];
  const sends = /^(?:publish|request|reply)$/.test(`${verb}`);
  const receives = /^(?:subscribe|get)$/.test(`${verb}`);
  return described(
    `${verb ?? uses}${typeof destination === "string" ? ` ${destination}` : ""}`,
    sends ? "producer" : receives ? "consumer" : "client",
    {
      "messaging.system.name": system,
      "messaging.operation.name": verb,
      "messaging.operation.type": sends ? "send" : receives ? "receive" : undefined,
      "messaging.destination.name": destination,
      ...serverOf(req.url ?? (req.brokers && `kafka://${`${req.brokers}`.split(",", 1)}`)),
    },
  );
}

const VERBS = "publish request reply subscribe get put lag declare purge depth".split(" ");

/** Without what is not known. */
function described(
  name: string,
  kind: SpanKind,
  attributes: Readonly<Record<string, Value | undefined>>,
): Described {
  const known = Object.entries(attributes).filter(([, value]) =>
    typeof value === "number" || typeof value === "string" && value !== ""
  );
  return { name, kind, attributes: Object.fromEntries(known) as Attributes };
}

const PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ws:": 80,
  "wss:": 443,
};

function serverOf(url: Value | undefined): Record<string, string | number | undefined> {
  const { hostname = "", port = "", protocol = "" } = URL.parse(`${url ?? ""}`) ?? {};
  return {
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": Number(port) || PORTS[protocol],
  };
}
