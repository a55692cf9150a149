import type { Action } from "../../action/action.ts";
import { checkHost, checkPort, TLS_SWITCH } from "../../action/net/tls_switch.ts";
import { checkTls } from "../../action/tls/tls_parameter.ts";

/** Connects to a port, sends text and waits for answers. */
export const tcp: Action = {
  name: "tcp",
  summary: "Connects to a TCP port, sends text and waits for answers",
  parameters: [
    { name: "host", type: "string", summary: "The host or address", required: true },
    { name: "port", type: "integer", summary: "The port", required: true },
    TLS_SWITCH,
    {
      name: "send",
      type: ["string", "list"],
      summary: 'Text to send; a list takes turns with "expect", and "" sends nothing',
    },
    {
      name: "expect",
      type: ["string", "list"],
      summary: "Text that must arrive; a list waits for one text after each send",
    },
    {
      name: "read_until",
      type: "string",
      summary: "Text to read up to at the end, or until the server closes the connection",
    },
    {
      name: "timeout",
      type: "duration",
      summary: "How long everything may take",
      default: "the timeout of the step",
    },
  ],
  responseFields: [
    { name: "received", type: "string" },
    { name: "replies", type: "array" },
    { name: "bytes", type: "int" },
    { name: "closed", type: "bool" },
    { name: "address", type: "string" },
    { name: "tls" },
  ],
  check: (params) => [...checkHost(params), ...checkPort(params), ...checkTls(params)],
  // With nothing to send or read it checks that the port takes connections.
  expectsResult: ({ send = null, expect = null, read_until: until = null }) =>
    expect !== null || send === null && until === null,
  exampleTest: 'res.received contains "220"',
  load: async () => (await import("./run_tcp.ts")).runTcp,
};
