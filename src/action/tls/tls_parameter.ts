import { isTemplate } from "../../expr/template/template_data.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import type { Dict, Parameter, ParameterProblem } from "../action.ts";
import { isGiven } from "../parameters.ts";

/** The versions of TLS that there are; older ones are not supported. */
const VERSIONS: readonly string[] = ["1.2", "1.3"];

/** The parameter `tls` of actions that speak TLS. */
export const TLS_PARAMETER: Parameter = {
  name: "tls",
  type: "map",
  summary: "How to check the server's certificate, and which certificate to present",
  hide: hideTls,
  fields: [
    {
      name: "ca",
      type: "string",
      summary: "Certificates of the authorities to trust: a path, or PEM text",
      default: "those of the system",
    },
    {
      name: "cert",
      type: "string",
      summary: "The client certificate: a path, or PEM text",
      namesFile: "any",
    },
    { name: "key", type: "string", summary: "The key of the client certificate", namesFile: "any" },
    { name: "passphrase", type: "string", summary: "The passphrase of the key or the PFX file" },
    {
      name: "pfx",
      type: "string",
      summary: "The path of a PFX (PKCS #12) file with client certificate and key",
      namesFile: "any",
    },
    {
      name: "server_name",
      type: "string",
      summary: "The host name for SNI and for the check of the certificate",
      default: "the host to connect to",
    },
    {
      name: "min_version",
      type: "string",
      summary: 'The oldest version of TLS to accept: "1.2" or "1.3"',
      default: '"1.2"',
    },
    {
      name: "verify",
      type: "boolean",
      summary: "Whether to verify the certificate of the server",
      default: "true",
    },
  ],
};

/** Hides the passphrase, and a key that is given as PEM text. */
function hideTls(tls: Value, mask: string): Value {
  if (!isDict(tls)) return tls;
  const { passphrase, key } = tls;
  const isText = passphrase !== undefined && passphrase !== null && !isTemplate(passphrase);
  const isKey = typeof key === "string" && isPem(key);
  return {
    ...tls,
    ...isText ? { passphrase: mask } : {},
    ...isKey ? { key: mask } : {},
  };
}

/** Whether a text is a certificate or a key itself, and not the path of one. */
export function isPem(value: string): boolean {
  return value.includes("-----BEGIN ");
}

/** Problems of `tls` beyond the types of its fields. */
export function checkTls({ tls }: Dict): ParameterProblem[] {
  if (!isDict(tls)) return [];
  const problems: ParameterProblem[] = [];
  const isSet = (name: string) => isGiven(tls, name);
  for (const name of ["cert", "key"].filter((name) => isSet("pfx") && isSet(name))) {
    problems.push({
      path: ["tls", name],
      at: "key",
      message: `"pfx" and "${name}" cannot be combined`,
      hint: "a PFX file holds the certificate and its key",
    });
  }
  if (isSet("key") && !isSet("cert") && !isSet("pfx")) {
    problems.push({ path: ["tls", "key"], at: "key", message: '"tls" has a key and no "cert"' });
  }
  const version = tls.min_version;
  if (version !== undefined && version !== null && !isTemplate(version)) {
    if (!VERSIONS.includes(String(version))) {
      problems.push({
        path: ["tls", "min_version"],
        message: `"min_version" must be "1.2" or "1.3", not "${version}"`,
        hint: "older versions of TLS are not supported",
      });
    }
  }
  return problems;
}
