/**
 * tcp: opens a connection, sends a text and reads the first of what comes back.
 *
 * A plugin in TypeScript exports the same record as the actions of runner. Its parameters are
 * checked when a workflow is loaded, and its code is brought when a step uses it.
 */
import type { Action } from "../../src/action/action.ts";

export const action: Action = {
  name: "tcp",
  summary: "Opens a TCP connection",
  parameters: [
    { name: "host", type: "string", summary: "where to connect", default: "127.0.0.1" },
    { name: "port", type: "integer", summary: "the port", required: true },
    { name: "send", type: "string", summary: "text to send", default: "nothing" },
  ],
  load: () =>
    Promise.resolve(async (params, context) => {
      const hostname = String(params.host ?? "127.0.0.1");
      const port = Number(params.port);
      const socket = await Deno.connect({ hostname, port });
      // When the time is over, closing the socket ends whatever is waited for below.
      const close = () => socket.close();
      context.signal.addEventListener("abort", close, { once: true });
      try {
        context.log(`connected to ${hostname}:${port}`);
        if (params.send) await socket.write(new TextEncoder().encode(String(params.send)));
        const buffer = new Uint8Array(64 * 1024);
        const length = await socket.read(buffer) ?? 0;
        const text = new TextDecoder().decode(buffer.subarray(0, length));
        socket.close();
        return { req: { host: hostname, port }, res: { text }, status: 0 };
      } finally {
        context.signal.removeEventListener("abort", close);
      }
    }),
};
