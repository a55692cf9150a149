/**
 * whois: asks a WHOIS server about a domain or an address and reads its answer.
 *
 * A plugin in TypeScript makes an action of what it is given, as the actions of runner are made:
 * its parameters are checked when a workflow is loaded, and what it connects to is subject to the
 * permissions of the run.
 */
import type { Plugin } from "../../mod.ts";

const plugin: Plugin = ({ action, host, port, text }) =>
  action({
    name: "whois",
    summary: "Asks a WHOIS server",
    params: {
      query: text("The domain or address").required(),
      host: host("The server").default("whois.iana.org"),
      port: port("Its port").default(43),
    },
    res: { text: "string" },
    target: ({ host, port }) => ({ product: "whois", host, port }),
    connection: {
      open: (_params, attempt) => attempt.socket(),
      close: (socket) => void socket.destroy(),
    },
    async run(socket, { host, port, query }, attempt) {
      attempt.context.log(`connected to ${host}:${port}`);
      socket.write(`${query}\r\n`);
      socket.setEncoding("utf8");
      // The wait ends when the time of the step is over.
      const parts: string[] = await attempt.during("waiting for the answer", socket.toArray());
      return { req: { host, port, query }, res: { text: parts.join("") } };
    },
  });

export default plugin;
