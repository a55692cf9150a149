import type { Action } from "../../action/action.ts";
import { checkHost, checkPort } from "../../action/net/tls_switch.ts";
import { checkTls, TLS_PARAMETER } from "../../action/tls/tls_parameter.ts";

/** Looks at the certificate and the versions of a TLS server. */
export const tls: Action = {
  name: "tls",
  summary: "Looks at the certificate and the versions of a TLS server",
  parameters: [
    { name: "host", type: "string", summary: "The host or address", required: true },
    { name: "port", type: "integer", summary: "The port", default: "443" },
    TLS_PARAMETER,
    {
      name: "timeout",
      type: "duration",
      summary: "How long everything may take",
      default: "10s, at most the timeout of the step",
    },
  ],
  responseFields: [
    { name: "certificate" },
    { name: "chain", type: "array" },
    { name: "protocol", type: "string" },
    { name: "protocols", type: "array" },
    { name: "cipher", type: "string" },
    { name: "valid", type: "bool" },
    { name: "error", type: "string" },
  ],
  check: (params) => [...checkHost(params), ...checkPort(params), ...checkTls(params)],
  exampleTest: "res.certificate.days_left > 14",
  load: async () => (await import("./run_tls.ts")).runTls,
};
