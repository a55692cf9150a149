/**
 * whois: asks a WHOIS server about a domain or an address and reads its answer.
 *
 * A plugin in TypeScript exports the same record as the actions of runner. Its parameters are
 * checked when a workflow is loaded, and its code is brought when a step uses it.
 */
import type { Action } from "../../src/action/action.ts";

export const action: Action = {
  name: "whois",
  summary: "Asks a WHOIS server",
  parameters: [
    { name: "query", type: "string", summary: "the domain or address", required: true },
    { name: "host", type: "string", summary: "the server", default: "whois.iana.org" },
    { name: "port", type: "integer", summary: "its port", default: "43" },
  ],
  load: () =>
    Promise.resolve(async (params, context) => {
      const hostname = String(params.host ?? "whois.iana.org");
      const port = Number(params.port ?? 43);
      const query = String(params.query);
      const socket = await Deno.connect({ hostname, port });
      context.log(`connected to ${hostname}:${port}`);
      await socket.write(new TextEncoder().encode(`${query}\r\n`));
      // Passing the signal on ends the wait when the time is over.
      const decoded = socket.readable.pipeThrough(new TextDecoderStream(), {
        signal: context.signal,
      });
      const text = (await Array.fromAsync(decoded)).join("");
      return { req: { host: hostname, port, query }, res: { text }, status: 0 };
    }),
};
