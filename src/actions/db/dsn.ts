import { dsnPasswords } from "../../secrets/secrets.ts";
import type { ActionAttempt, Refusal } from "../../action/attempt.ts";
import type { DataFile, Server } from "../../action/target.ts";
import type { Param } from "../../action/rule.ts";
import type { Tls } from "../../action/tls/tls.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";

/** The database that a DSN names. */
export type Dsn = ServerDsn | FileDsn;

export interface ServerDsn {
  readonly dialect: "postgres" | "mysql";
  readonly target: Server;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly mode: Mode | undefined;
  /** The parameters after `?`. */
  readonly options: URLSearchParams;
  /** The DSN without its password. */
  readonly shown: string;
}

export interface FileDsn {
  readonly dialect: "sqlite";
  readonly target: DataFile;
  /** `?mode=ro` and other parameters of SQLite, or empty. */
  readonly query: string;
  readonly shown: string;
}

/** The server products and their ports. */
const PRODUCTS = {
  postgres: { product: "PostgreSQL", port: 5432 },
  mysql: { product: "MySQL", port: 3306 },
};

const SCHEMES: Readonly<Record<string, keyof typeof PRODUCTS>> = {
  postgres: "postgres",
  postgresql: "postgres",
  mysql: "mysql",
  mariadb: "mysql",
};

const HINT =
  "write postgres://user:password@host:5432/name, mysql://user:password@host:3306/name, the path of a SQLite file, or :memory:";

/** Reads a DSN; its password is a secret before anything can fail. */
export function readDsn(dsn: string, param: Param): Dsn {
  for (const password of dsnPasswords(dsn)) param.secrets?.add(password);
  // A scheme of one letter is the drive of a path.
  const scheme = /^([a-z][a-z0-9+.-]+):(?!memory:)/i.exec(dsn)?.[1]?.toLowerCase();
  const dialect = scheme === undefined ? undefined : SCHEMES[scheme];
  if (dialect) return readServer(dsn, dialect, param);
  if (scheme === undefined || /^(file|sqlite3?)$/.test(scheme)) return readFile(dsn, scheme, param);
  throw param.wrong(`unsupported database "${scheme}"`, HINT);
}

function readServer(dsn: string, dialect: keyof typeof PRODUCTS, param: Param): ServerDsn {
  const [, written] = /^[^:]+:\/\/[^:/@]*:(.*)@/s.exec(dsn) ?? [];
  if (written) param.secrets?.add(written);
  const url = URL.parse(
    dsn.replace(/@tcp\(([^)]*)\)/, "@$1").replace(/^([^/]+\/\/[^/?#]*@)(?=[/?#]|$)/, "$1localhost"),
  );
  const decoded = url && decode(url);
  if (!decoded || !url.href.includes("://") || /[/?#]/.test(written?.split("@")[0] ?? "")) {
    throw param.wrong(
      "invalid DSN",
      'characters such as "@", "/", "#" and "%" in a password are written as %40, %2F, %23 and %25',
    );
  }
  const options = url.searchParams;
  const password = options.get("password") ?? decoded.password;
  for (const secret of [password, options.get("sslpassword")]) {
    if (secret) param.secrets?.add(secret);
  }
  const hostOption = options.get("host") ?? "";
  const socket = hostOption.startsWith("/")
    ? hostOption
    : options.get("socket") ?? options.get("socketPath");
  const host = socket === null && hostOption !== ""
    ? hostOption
    : url.hostname.replace(/^\[|\]$/g, "");
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  for (const name of ["password", "sslpassword"]) {
    if (options.has(name)) shown.searchParams.set(name, "***");
  }
  const { product, port } = PRODUCTS[dialect];
  return {
    dialect,
    target: {
      product,
      host: host === "" ? "localhost" : host,
      port: Number(url.port || options.get("port") || port),
      ...socket !== null && { socket },
    },
    user: options.get("user") ?? decoded.user,
    password,
    database: options.get("dbname") ?? decoded.database,
    mode: readMode(options, param),
    options,
    shown: shown.href,
  };
}

function decode({ username, password, pathname }: URL) {
  try {
    const [user = "", secret = "", database = ""] = [username, password, pathname.slice(1)]
      .map(decodeURIComponent);
    return { user, password: secret, database };
  } catch {
    return undefined;
  }
}

function readFile(dsn: string, scheme: string | undefined, param: Param): FileDsn {
  const rest = scheme === undefined ? dsn : dsn.slice(scheme.length + 1);
  const [, name = "", query = ""] =
    (scheme === undefined ? [, rest] : /^([^?]*)(.*)$/s.exec(rest))!;
  // Before a path from the root, two slashes begin an empty host.
  const path = scheme === undefined ? name : name.replace(/^\/\/(?=\/)|^\/\//, "");
  if (scheme === undefined && /(?:^|\s)(?:host|dbname|user)=/.test(path)) {
    throw param.wrong("the DSN must be a URL", HINT);
  }
  if (path === "") throw param.wrong("the DSN names no file", HINT);
  return {
    dialect: "sqlite",
    target: {
      product: "SQLite database",
      shown: path,
      file: path.includes(":memory:") ? undefined : path,
      access: /[?&]mode=ro\b/.test(query) ? ["read"] : ["read", "write"],
    },
    query,
    shown: dsn,
  };
}

const MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;

type Mode = typeof MODES[number];

/** Other words for the modes, of MySQL's client and of drivers. */
const OTHER_WORDS: Readonly<Record<string, Mode>> = {
  disabled: "disable",
  preferred: "prefer",
  required: "require",
  "no-verify": "require",
  "skip-verify": "require",
  "verify-identity": "verify-full",
  false: "disable",
  true: "verify-full",
};

function readMode(options: URLSearchParams, param: Param): Mode | undefined {
  const text = options.get("sslmode") ?? options.get("ssl-mode") ?? options.get("tls");
  if (text === null) return undefined;
  const word = text.toLowerCase().replaceAll("_", "-");
  const mode = MODES.find((mode) => mode === word) ??
    new Map(Object.entries(OTHER_WORDS)).get(word);
  if (mode) return mode;
  throw param.wrong(`invalid sslmode ${JSON.stringify(text)}`, `it is one of ${MODES.join(", ")}`);
}

export interface ServerTls {
  readonly options: TlsOptions & {
    /** Accepts the certificate of another host. */
    readonly checkServerIdentity?: () => undefined;
  };
  /** Whether to use TLS: the second way is tried if the server wants it. */
  readonly attempts: readonly boolean[];
}

/**
 * The TLS settings for a server by `sslmode` of its DSN, as in libpq: `prefer` does without it
 * where the server has none, `allow` uses it where the server insists, and only `verify-ca` and
 * `verify-full` look at the certificate. `tls` of a step without `sslmode` is strict.
 */
export async function serverTls(
  { options, dialect, target, mode: written }: ServerDsn,
  params: Tls | undefined,
  attempt: ActionAttempt,
): Promise<ServerTls | undefined> {
  const root = options.get("sslrootcert");
  // The word asks for the authorities of the system alone.
  const isSystem = root === "system";
  const mode = written ??
    (params || isSystem ? "verify-full" : dialect === "postgres" ? "prefer" : "disable");
  if (mode === "disable" || target.socket !== undefined) return undefined;
  const files = {
    ca: isSystem ? null : root,
    cert: options.get("sslcert"),
    key: options.get("sslkey"),
  };
  const named = Object.fromEntries(Object.entries(files).filter(([, path]) => path));
  const stepFiles = Object.fromEntries(
    Object.entries(params ?? {}).filter(([, value]) => value !== undefined),
  );
  const tls = await attempt.secure({ ...named, ...stepFiles });
  if (!tls) return undefined;
  const isVerified = mode.startsWith("verify-") ||
    mode === "require" && (tls.ca !== undefined || isSystem);
  return {
    options: {
      ...tls,
      rejectUnauthorized: isVerified && tls.rejectUnauthorized,
      ...mode !== "verify-full" && { checkServerIdentity: () => undefined },
    },
    attempts: mode === "prefer" ? [true, false] : mode === "allow" ? [false, true] : [true],
  };
}

/** Connects by TLS or without it, in the order of `sslmode`. */
export async function openInOrder<T>(
  { attempts: [first = false, second] = [] }: Partial<ServerTls> = {},
  open: (isSecure: boolean) => Promise<T>,
  wantsOther: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await open(first);
  } catch (error) {
    if (second === undefined || !wantsOther(error)) throw error;
    return await open(second);
  }
}

const SIGN_IN = {
  say: "sign-in failed: {message} ({code})",
  hint: 'check the user name and the password in "dsn"',
};
const NO_TLS = {
  say: "the server does not speak TLS",
  hint: "write sslmode=disable or sslmode=prefer in the DSN to go without",
};
const foreign = ({ product, port }: typeof PRODUCTS[keyof typeof PRODUCTS]) => ({
  say: `the server does not speak the protocol of ${product}`,
  hint: `check the port: ${product} is usually at ${port}`,
});

export const POSTGRES_REFUSALS: readonly Refusal[] = [
  { when: /^28\w{3} /, ...SIGN_IN },
  // The code of an answer; those of the system begin with an E.
  { when: /^(?!E)[0-9A-Z]{5} /, say: "{message} ({code})" },
  { when: /does not support SSL/, ...NO_TLS },
  { when: /error establishing an SSL/, ...foreign(PRODUCTS.postgres) },
  {
    when: /password must be a string/,
    say: "the server asks for a password",
    hint: 'write it in "dsn": postgres://user:password@host/name',
  },
];

export const MYSQL_REFUSALS: readonly Refusal[] = [
  { when: /^ER_(ACCESS_DENIED|DBACCESS|NOT_SUPPORTED_AUTH)/, ...SIGN_IN },
  { when: /^ER_/, say: "{message} ({code})" },
  { when: /^HANDSHAKE_NO_SSL_SUPPORT/, ...NO_TLS },
  { when: /^not MySQL$/, ...foreign(PRODUCTS.mysql) },
];
