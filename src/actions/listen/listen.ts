import { bracketed } from "../../action/net/endpoint.ts";
import { action } from "../../action/make_action.ts";
import { isGiven } from "../../action/parameter.ts";
import { host, port, text } from "../../action/rule.ts";
import { ROUTES } from "./routes.ts";

/** Opens an HTTP server on this machine, and keeps the requests that come. */
export const listen = action({
  name: "listen",
  summary: "Opens an HTTP server for webhooks, or as a mock, and keeps the requests that come",
  params: {
    host: host("The address to listen at; 0.0.0.0 for requests of other machines")
      .default("127.0.0.1"),
    port: port("The port").with({ default: "a free one" }),
    cert: text("For https, the certificate: a path, or PEM text"),
    key: text("Its key: a path, or PEM text").with({ hide: (_, mask) => mask }),
    routes: ROUTES,
  },
  check: (_params, param, raw) => {
    for (const [one, other] of [["cert", "key"], ["key", "cert"]] as const) {
      if (!isGiven(raw, one) || isGiven(raw, other)) continue;
      param.of(one).wrong(`"${one}" needs "${other}"`, undefined, { at: "key" });
    }
  },
  res: {
    url: { type: "string", summary: "the address of the server: `http://127.0.0.1:9000`" },
    host: { type: "string", summary: "the host of that address" },
    port: { type: "int", summary: "the port" },
  },
  messages: {
    method: { type: "string", summary: "the method: `POST`" },
    path: { type: "string", summary: "the path, decoded and without the query" },
    params: { type: "map", summary: "the parts of the path that the route names" },
    query: { type: "map", summary: "the query; a list where a name is repeated" },
    headers: { type: "map", summary: "the headers" },
    body: { type: "any", summary: "the body, as `res.body` of http: data of JSON, else text" },
    raw: { type: "string", summary: "the body as text, such as for a signature" },
    route: { type: "any", summary: "the `on` of the route that answered; nil if none fitted" },
  },
  usage: `id: hooks
with:
  routes:
    - { on: POST /hooks/:shop, respond: { code: 202 } }`,
  example: 'res.url startsWith "http:"',
  request: ({ host, port, routes }) => ({
    host,
    ...port !== undefined && { port },
    ...routes && { routes: routes.map(({ on }) => on) },
  }),
  target: ({ host, port = 0 }) => ({
    host,
    port,
    isOurs: true,
    failing: `cannot listen at ${bracketed(host)}${port === 0 ? "" : ` port ${port}`}`,
  }),
  subscribe: async (_, params, open, attempt) =>
    await (await import("./serve.ts")).serve(params, open, attempt),
});
