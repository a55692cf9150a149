import { isTemplate } from "../../expr/template.ts";
import type { ActionContext } from "../action.ts";
import type { Material } from "./pem.ts";
import { isPem, type TlsOptions } from "./tls_options.ts";
import { choice, either, flag, map, type Rule, text } from "../rule.ts";

const FIELDS = {
  ca: text("Certificates of the authorities to trust: a path, or PEM text")
    .with({ namesFile: "any", default: "those of the system" }),
  cert: text("The client certificate: a path, or PEM text").with({ namesFile: "any" }),
  key: text("The key of the client certificate").with({
    namesFile: "any",
    hide: (key, mask) => isPem(key) && !isTemplate(key) ? mask : key,
  }),
  passphrase: text("The passphrase of the key or the PFX file").secret(),
  pfx: text("The path of a PFX (PKCS #12) file with client certificate and key")
    .with({ namesFile: "any" }),
  server_name: text("The host name for SNI and for the check of the certificate")
    .with({ default: "the host to connect to" }),
  min_version: choice(["1.2", "1.3"], 'The oldest version of TLS to accept: "1.2" or "1.3"')
    .with({ default: '"1.2"' }),
  verify: flag("Whether to verify the certificate of the server").with({ default: "true" }),
};

/** How to check the server's certificate, and which certificate to present. */
export interface Tls {
  /** The certificates of authorities: a path, or PEM text. */
  readonly ca?: string;
  /** The client certificate, likewise. */
  readonly cert?: string;
  /** The key of the client certificate, likewise. */
  readonly key?: string;
  /** The passphrase of the key or the PFX file. */
  readonly passphrase?: string;
  /** The path of a file with certificate and key. */
  readonly pfx?: string;
  /** The host name of the certificate. */
  readonly server_name?: string;
  /** The oldest version of TLS. */
  readonly min_version?: "1.2" | "1.3";
  /** Whether to verify the certificate of the server. */
  readonly verify?: boolean;
}

/** `tls`: which certificates to accept and to present. */
export function tls(): Rule<Tls> {
  const summary = "How to check the server's certificate, and which certificate to present";
  return map(FIELDS, summary).as((tls, param) => {
    const clash = (["cert", "key"] as const).find((name) => tls.pfx && tls[name]);
    const wrong = clash
      ? `"pfx" and "${clash}" cannot be combined`
      : tls.key && !tls.cert && !tls.pfx
      ? '"tls" has a key and no "cert"'
      : undefined;
    if (!wrong) return tls;
    const hint = clash && "a PFX file holds the certificate and its key";
    throw param.of(clash ?? "key").wrong(wrong, hint, { at: "key" });
  });
}

/** `tls` of actions that speak plainly unless it is true or a map. */
export function tlsSwitch(): Rule<Tls | false> {
  const isOn = flag("Whether to use TLS; a map of options also turns it on");
  return either(isOn.as((isOn): Tls | false => isOn && {}).with({ default: "false" }), tls());
}

/** The options for node:tls, after those of the run; reads the files that they name. */
export async function tlsOptions(tls: Tls, context: ActionContext): Promise<TlsOptions> {
  const { tls: run, secrets } = context;
  const { pfx, passphrase, server_name, min_version, verify } = tls;
  // Rules are loaded without the code that reads files.
  const pem = await import("./pem.ts");
  const { readStepFile } = await import("../step_file.ts");
  const read = async (what: string, value: string): Promise<Material> => {
    if (isPem(value)) return { label: what, bytes: new TextEncoder().encode(value) };
    const bytes = await readStepFile({ what, path: value, parameter: "tls" }, context);
    return { label: `${what} "${value}"`, bytes };
  };
  const readClient = async () => {
    if (pfx !== undefined) return await pem.parsePfx(await read("the PFX file", pfx), passphrase);
    const cert = tls.cert ?? run?.cert;
    // One file may hold both.
    const key = (tls.cert === undefined ? run?.key : tls.key) ?? cert;
    if (cert === undefined || key === undefined) return {};
    if (isPem(key)) secrets.add(key);
    return pem.parseClientCertificate(
      await read("the client certificate", cert),
      await read("the key of the client certificate", key),
      passphrase,
    );
  };
  const ca = tls.ca ?? run?.ca;
  return {
    ...ca !== undefined && { ca: pem.parseAuthorities(await read("the CA certificate", ca)) },
    ...await readClient(),
    ...server_name !== undefined && { servername: server_name },
    ...min_version !== undefined && { minVersion: `TLSv${min_version}` },
    rejectUnauthorized: verify ?? !run?.insecure,
  };
}
