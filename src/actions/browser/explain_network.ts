import { StepError } from "../../base/errors.ts";
import { placeOf } from "../../action/net/endpoint.ts";

/** Why a page could not be opened, by the code of the browser; undefined for other errors. */
export function explainNetwork(
  error: unknown,
  url: URL,
  isInsecure: boolean,
): StepError | undefined {
  const message = error instanceof Error ? error.message : "";
  const code = /net::(ERR_\w+)/.exec(message)?.[0];
  if (code === undefined) return undefined;
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const address = placeOf({ host, port });
  const [reason, hint] = explainCode(code.slice("net::".length), address, host, isInsecure);
  const cause = `${reason} (${code})`;
  return new StepError(`cannot open ${url.href}: ${cause}`, hint, { cause });
}

function explainCode(
  code: string,
  address: string,
  host: string,
  isInsecure: boolean,
): readonly [message: string, hint?: string | undefined] {
  if (code.startsWith("ERR_CERT_")) {
    const trust = code === "ERR_CERT_AUTHORITY_INVALID"
      ? 'trust its authority with "tls: { ca: ca.pem }" or --cacert ca.pem; '
      : "";
    const hint = `${trust}"tls: { verify: false }" accepts any certificate`;
    return [`the certificate of ${address} is invalid`, isInsecure ? undefined : hint];
  }
  switch (code) {
    case "ERR_CONNECTION_REFUSED":
      return [`${address} refused the connection`, "is the server running there?"];
    case "ERR_NAME_NOT_RESOLVED":
      return [`cannot resolve host "${host}"`, "check the host name"];
    case "ERR_CONNECTION_TIMED_OUT":
      return [`${address}: connection timed out`];
    case "ERR_ADDRESS_UNREACHABLE":
    case "ERR_INTERNET_DISCONNECTED":
    case "ERR_NETWORK_CHANGED":
      return [`${address} is unreachable`];
    case "ERR_CONNECTION_RESET":
    case "ERR_CONNECTION_CLOSED":
    case "ERR_EMPTY_RESPONSE":
      return [`${address} closed the connection`];
    case "ERR_SSL_PROTOCOL_ERROR":
      return [`${address} does not speak TLS as a browser does`, "is it http:// there?"];
    case "ERR_UNSAFE_PORT":
      return [`browsers open no page of ${address}`];
    case "ERR_TOO_MANY_REDIRECTS":
      return ["redirect loop"];
    case "ERR_FILE_NOT_FOUND":
      return ["no such file"];
    case "ERR_ABORTED":
      return ["it is a download and not a page, or it was left before it loaded"];
    case "ERR_BLOCKED_BY_CLIENT":
      return ['it is among what "block" names, or it redirects to a host that is not allowed'];
    case "ERR_INVALID_AUTH_CREDENTIALS":
      return [`${address} refused the user name or the password`];
    default:
      return ["the browser reports an error"];
  }
}
