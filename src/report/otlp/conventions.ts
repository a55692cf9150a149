import { type Dict, dictOf, type Value } from "../../base/value/value.ts";
import type { Exchange } from "../../run/event.ts";

export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";
export type Attributes = Record<string, string | number>;

/** How the semantic conventions of OpenTelemetry name and describe what an action did. */
interface Described {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

type Convention = (req: Dict, res: Dict) => {
  readonly name?: Value | undefined;
  readonly kind?: SpanKind | undefined;
  readonly attributes: Readonly<Record<string, Value | undefined>>;
};

const HTTP: Convention = ({ url, method = url && "GET" }, { code, version }) => ({
  name: method,
  attributes: {
    "http.request.method": method,
    "url.full": url,
    "http.response.status_code": code,
    "network.protocol.version": version,
    ...serverOf(url),
  },
});

const SENDING = ["publish", "request", "reply"];
const RECEIVING = ["subscribe", "get"];

const messages = (system: string): Convention => (req) => {
  const verb = [...SENDING, ...RECEIVING, "put", "lag", "declare", "purge", "depth"]
    .find((verb) => req[verb] !== undefined);
  const type = SENDING.includes(verb!) ? "send" : RECEIVING.includes(verb!) ? "receive" : undefined;
  const destination = verb && req[verb];
  return {
    name: typeof destination === "string" ? `${verb} ${destination}` : verb,
    kind: type && (type === "send" ? "producer" : "consumer"),
    attributes: {
      "messaging.system.name": system,
      "messaging.operation.name": verb,
      "messaging.operation.type": type,
      "messaging.destination.name": destination,
      ...serverOf(req.url ?? (req.brokers && `kafka://${`${req.brokers}`.split(",", 1)}`)),
    },
  };
};

/** By the names of actions. Source: https://opentelemetry.io/docs/specs/semconv/ */
const CONVENTIONS: Readonly<Record<string, Convention>> = {
  http: HTTP,
  sse: HTTP,
  websocket: HTTP,
  grpc({ addr, service, method }, { status_code }) {
    const name = service && `${service}/${method}`;
    const attributes = {
      "rpc.system.name": "grpc",
      "rpc.method": name,
      "rpc.status_code": status_code,
    };
    return { name, attributes: { ...attributes, ...serverOf(addr && `grpc://${addr}`) } };
  },
  db({ driver, dsn, query }, { error_code }) {
    const operation = /^\s*(\w+)/.exec(`${query ?? ""}`)?.[1]?.toUpperCase();
    return {
      name: operation,
      attributes: {
        "db.system.name": driver === "postgres" ? "postgresql" : driver,
        "db.operation.name": operation,
        "db.query.text": query,
        "db.namespace": driver === "sqlite" ? dsn : URL.parse(`${dsn}`)?.pathname.slice(1),
        "db.response.status_code": error_code,
        ...serverOf(dsn),
      },
    };
  },
  redis({ url, command }, { error_code }) {
    const [name] = [command].flat();
    const attributes = { "db.system.name": "redis", "db.operation.name": name };
    return {
      name,
      attributes: { ...attributes, "db.response.status_code": error_code, ...serverOf(url) },
    };
  },
  kafka: messages("kafka"),
  amqp: messages("rabbitmq"),
  mqtt: messages("mqtt"),
  nats: messages("nats"),
  ...Object.fromEntries(
    ["browser", "smtp", "imap", "mail-latency", "ssh", "tcp", "tls", "dns"].map((name) => [
      name,
      () => ({ attributes: {} }),
    ]),
  ),
};

/** Describes an attempt by its request and response, where these were kept. */
export function describeAttempt(uses: string, exchange: Exchange | undefined): Described {
  const convention = CONVENTIONS[uses];
  if (!convention) return { name: uses, kind: "internal", attributes: {} };
  const { name, kind = "client", attributes } = convention(
    dictOf(exchange?.req),
    dictOf(exchange?.res),
  );
  const known = Object.entries(attributes).filter(([, value]) =>
    typeof value === "number" || typeof value === "string" && value !== ""
  );
  return { name: `${name ?? uses}`, kind, attributes: Object.fromEntries(known) as Attributes };
}

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function serverOf(url: Value | undefined): Record<string, Value | undefined> {
  const { hostname = "", port = "", protocol = "" } = URL.parse(`${url ?? ""}`) ?? {};
  return {
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": Number(port) || (hostname ? PORTS[protocol] : undefined),
  };
}
