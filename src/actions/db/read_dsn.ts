import { StepError } from "../../base/errors.ts";
import { dsnPasswords } from "../../secrets/secrets.ts";
import type { SecretSink } from "../../action/action.ts";
import type { DatabaseServer } from "./database.ts";

/** The target of a DSN. */
export type DatabaseTarget = ServerTarget | FileTarget;

export interface ServerTarget {
  readonly dialect: "postgres" | "mysql";
  readonly server: DatabaseServer;
  /** The parameters after `?`. */
  readonly options: URLSearchParams;
  /** The DSN without its password. */
  readonly shown: string;
}

export interface FileTarget {
  readonly dialect: "sqlite";
  /** A path, or `:memory:`. */
  readonly path: string;
  /** `?mode=ro` and what else SQLite takes there; empty where there is nothing. */
  readonly query: string;
  readonly shown: string;
}

const SERVERS: Readonly<Record<string, readonly ["postgres" | "mysql", number]>> = {
  postgres: ["postgres", 5432],
  postgresql: ["postgres", 5432],
  mysql: ["mysql", 3306],
  mariadb: ["mysql", 3306],
};

const HINT =
  "write postgres://user:password@host:5432/name, mysql://user:password@host:3306/name, the path of a SQLite file, or :memory:";

/** Reads a DSN; its password is a secret before anything can fail. */
export function readDsn(dsn: string, secrets: Pick<SecretSink, "add">): DatabaseTarget {
  for (const password of dsnPasswords(dsn)) secrets.add(password);
  // A scheme of one letter is the drive of a path.
  const scheme = /^([a-z][a-z0-9+.-]+):(?!memory:)/i.exec(dsn)?.[1]?.toLowerCase();
  const known = scheme === undefined ? undefined : SERVERS[scheme];
  if (known) return readServer(dsn, known, secrets);
  if (scheme === undefined || /^(file|sqlite3?)$/.test(scheme)) return readFileTarget(dsn, scheme);
  throw new StepError(`cannot run db: unsupported database "${scheme}"`, HINT, {
    parameter: "dsn",
  });
}

function readServer(
  dsn: string,
  [dialect, port]: readonly ["postgres" | "mysql", number],
  secrets: Pick<SecretSink, "add">,
): ServerTarget {
  const [, written] = /^[^:]+:\/\/[^:/@]*:(.*)@/s.exec(dsn) ?? [];
  if (written) secrets.add(written);
  const url = URL.parse(
    dsn.replace(/@tcp\(([^)]*)\)/, "@$1").replace(/^([^/]+\/\/[^/?#]*@)(?=[/?#]|$)/, "$1localhost"),
  );
  const options = url?.searchParams ?? new URLSearchParams();
  const decoded = url && decode(url);
  if (!url?.href.includes("://") || !decoded || /[/?#]/.test(written?.split("@")[0] ?? "")) {
    throw new StepError(
      "cannot run db: invalid DSN",
      'characters such as "@", "/", "#" and "%" in a password are written as %40, %2F, %23 and %25',
      { parameter: "dsn" },
    );
  }
  const user = options.get("user") ?? decoded.user;
  const password = options.get("password") ?? decoded.password;
  const database = options.get("dbname") ?? decoded.database;
  for (const secret of [password, options.get("sslpassword")]) if (secret) secrets.add(secret);
  const own = options.get("host") ?? "";
  const socket = own.startsWith("/") ? own : options.get("socket") ?? options.get("socketPath");
  const host = socket === null && own !== "" ? own : url.hostname.replace(/^\[|\]$/g, "");
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  for (const name of ["password", "sslpassword"]) {
    if (options.has(name)) shown.searchParams.set(name, "***");
  }
  const settings = dialect === "postgres" ? readSettings(options) : {};
  return {
    dialect,
    server: {
      host: host === "" ? "localhost" : host,
      port: Number(url.port || options.get("port") || port),
      ...socket === null ? {} : { socket },
      ...user === "" ? {} : { user },
      ...password === "" ? {} : { password },
      ...database === "" ? {} : { database },
      ...settings,
    },
    options,
    shown: shown.href,
  };
}

/** What a connection to PostgreSQL begins with. */
function readSettings(options: URLSearchParams): Partial<DatabaseServer> {
  const path = options.get("search_path")?.replace(/[\\\s]/g, "\\$&");
  const settings = [options.get("options"), path && `-c search_path=${path}`].filter(Boolean);
  const name = options.get("application_name");
  return {
    ...settings.length === 0 ? {} : { settings: settings.join(" ") },
    ...name === null ? {} : { clientName: name },
  };
}

function decode({ username, password, pathname }: URL) {
  try {
    return {
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: decodeURIComponent(pathname.slice(1)),
    };
  } catch {
    return undefined;
  }
}

function readFileTarget(dsn: string, scheme: string | undefined): FileTarget {
  const rest = scheme === undefined ? dsn : dsn.slice(scheme.length + 1);
  const [, name = "", query = ""] =
    (scheme === undefined ? [, rest] : /^([^?]*)(.*)$/s.exec(rest))!;
  // Before a path from the root, two slashes begin an empty host.
  const path = scheme === undefined ? name : name.replace(/^\/\/(?=\/)|^\/\//, "");
  if (scheme === undefined && /(?:^|\s)(?:host|dbname|user)=/.test(path)) {
    throw new StepError("cannot run db: the DSN must be a URL", HINT, { parameter: "dsn" });
  }
  if (path === "") {
    throw new StepError("cannot run db: the DSN names no file", HINT, { parameter: "dsn" });
  }
  return { dialect: "sqlite", path, query, shown: dsn };
}
