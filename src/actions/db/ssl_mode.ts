import { StepError } from "../../base/errors.ts";
import type { ActionContext, Dict } from "../../action/action.ts";
import { readParameters } from "../../action/read_parameters.ts";
import { readTlsOptions } from "../../action/tls/tls_options.ts";
import type { ServerTls } from "./database.ts";
import type { ServerTarget } from "./read_dsn.ts";

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

/**
 * The TLS settings for a server by `sslmode` of its DSN, as in libpq: `prefer` does
 * without it where the server has none, `allow` uses it where the server insists, and only `verify-ca` and `verify-full` look at the
 * certificate. `tls` of a step without `sslmode` is strict.
 */
export async function readServerTls(
  { options, dialect, server }: ServerTarget,
  params: Dict,
  context: ActionContext,
): Promise<ServerTls | undefined> {
  const given = readParameters("db", params).map("tls");
  const root = options.get("sslrootcert");
  // The word asks for the authorities of the system, and for nothing but them.
  const isSystem = root === "system";
  const mode = readMode(options) ??
    (given || isSystem ? "verify-full" : dialect === "postgres" ? "prefer" : "disable");
  if (mode === "disable") return undefined;
  const own = given ?? {};
  const tls = await readTlsOptions("db", {
    ...fileOf("ca", isSystem ? null : root),
    ...fileOf("cert", options.get("sslcert")),
    ...fileOf("key", options.get("sslkey")),
    ...own,
  }, context);
  const { checkServerIdentity } = await import("node:tls");
  const name = tls.servername ?? server.host;
  const isVerified = mode.startsWith("verify-") ||
    mode === "require" && (tls.ca !== undefined || isSystem);
  return {
    options: {
      ...tls,
      rejectUnauthorized: isVerified && tls.rejectUnauthorized,
      checkServerIdentity: (_, certificate) =>
        mode === "verify-full" ? checkServerIdentity(name, certificate) : undefined,
    },
    attempts: mode === "prefer" ? [true, false] : mode === "allow" ? [false, true] : [true],
  };
}

function readMode(options: URLSearchParams): Mode | undefined {
  const text = options.get("sslmode") ?? options.get("ssl-mode") ?? options.get("tls");
  if (text === null) return undefined;
  const word = text.toLowerCase().replaceAll("_", "-");
  const mode = MODES.find((mode) => mode === word) ??
    (Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined);
  if (mode) return mode;
  throw new StepError(
    `cannot run db: invalid sslmode ${JSON.stringify(text)}`,
    `it is one of ${MODES.join(", ")}`,
    { parameter: "dsn" },
  );
}

function fileOf(name: string, path: string | null): Dict {
  return path === null || path === "" ? {} : { [name]: path };
}
