import type { Parameter } from "../action.ts";
import { TLS_PARAMETER } from "../tls/tls_parameter.ts";

/** `tls` of actions that speak plainly unless TLS is asked for. */
export const TLS_SWITCH: Parameter = {
  ...TLS_PARAMETER,
  type: ["boolean", "map"],
  summary: "Whether to use TLS; a map of options also turns it on",
  default: "false",
};
