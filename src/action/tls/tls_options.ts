import { StepError } from "../../base/errors.ts";
import type { ActionContext, Dict } from "../action.ts";
import { checkValue } from "../parameters.ts";
import { type ParameterReader, readParameters } from "../read_parameters.ts";
import { readStepFile } from "../step_file.ts";
import type { ClientCertificate, Material } from "./parse_pem.ts";
import { checkTls, isPem, TLS_PARAMETER } from "./tls_parameter.ts";

/** The TLS options for `connect()` of node:tls and libraries built on it. */
export interface TlsOptions extends Partial<ClientCertificate> {
  /** Certificates in PEM form that are trusted in place of those of the system. */
  readonly ca?: string[];
  /** For SNI and the check of the certificate; absent for the host to connect to. */
  readonly servername?: string;
  /** The oldest version that is accepted. */
  readonly minVersion?: "TLSv1.2" | "TLSv1.3";
  /** Whether to verify the certificate of the server. */
  readonly rejectUnauthorized: boolean;
}

/** The default TLS options. */
export const DEFAULT_TLS: TlsOptions = { rejectUnauthorized: true };

/**
 * Reads `tls` of a step of an action, after what the options of the run say. Certificates and keys
 * that cannot be used are a `StepError` that names them; the runtime would ignore them.
 */
export async function readTlsOptions(
  action: string,
  tls: Dict | undefined,
  context: ActionContext,
): Promise<TlsOptions> {
  const { tls: run } = context;
  if (!tls && !run) return DEFAULT_TLS;
  const read = readParameters(action, checked(action, tls ?? {}));
  const ca = read.string("ca") ?? run?.ca;
  const servername = read.string("server_name");
  const version = read.string("min_version");
  return {
    ...ca === undefined ? {} : {
      ca: (await import("./parse_pem.ts")).parseAuthorities(
        await readMaterial("the CA certificate", ca, context),
      ),
    },
    ...await readClientCertificate(read, context),
    ...servername === undefined ? {} : { servername },
    ...version === undefined ? {} : { minVersion: version === "1.3" ? "TLSv1.3" : "TLSv1.2" },
    rejectUnauthorized: read.boolean("verify") ?? !run?.insecure,
  };
}

/** The certificate by which the client proves who it is. */
async function readClientCertificate(
  read: ParameterReader,
  context: ActionContext,
): Promise<Partial<ClientCertificate>> {
  const { tls: run, secrets } = context;
  const passphrase = read.string("passphrase");
  if (passphrase !== undefined) secrets.add(passphrase);
  const pfx = read.string("pfx");
  const certFile = read.string("cert");
  const cert = certFile ?? run?.cert;
  if (pfx === undefined && cert === undefined) return {};
  const { parseClientCertificate, parsePfx } = await import("./parse_pem.ts");
  if (pfx !== undefined) {
    return await parsePfx(await readMaterial("the PFX file", pfx, context), passphrase);
  }
  // One file may hold both.
  const key = (certFile === undefined ? run?.key : read.string("key")) ?? cert!;
  if (isPem(key)) secrets.add(key);
  return parseClientCertificate(
    await readMaterial("the client certificate", cert!, context),
    await readMaterial("the key of the client certificate", key, context),
    passphrase,
  );
}

/** Templates may have made anything of it. */
function checked(action: string, tls: Dict): Dict {
  const [problem] = [...checkValue(TLS_PARAMETER, tls, ["tls"]), ...checkTls({ tls })];
  if (!problem) return tls;
  throw new StepError(`cannot run ${action}: ${problem.message}`, problem.hint, PARAMETER);
}

const PARAMETER = { parameter: "tls" } as const;

async function readMaterial(
  what: string,
  value: string,
  context: ActionContext,
): Promise<Material> {
  if (isPem(value)) return { label: what, bytes: new TextEncoder().encode(value) };
  const bytes = await readStepFile({ what, path: value, ...PARAMETER }, context);
  return { label: `${what} "${value}"`, bytes };
}
