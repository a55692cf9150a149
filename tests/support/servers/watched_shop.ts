import { openShop } from "../../../scripts/demo_server.ts";
import { type TestServer, withServer } from "./with_server.ts";

/** A request that the shop got, as far as it does not depend on who sent it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  /** How it was signed: "Bearer", or "". */
  readonly scheme: string;
  /** Its body, read as JSON; nil without one. */
  readonly body: unknown;
  readonly code: number;
}

/** Changes the response to the requests of a route, such as "GET /orders/1001". */
export type Spoil = readonly [
  route: string,
  change: (code: number, body: unknown) => readonly [code: number, body: unknown],
];

/** A demo shop that keeps the requests, and answers one route wrongly. */
export interface WatchedShop extends TestServer {
  readonly seen: readonly Seen[];
}

/** Opens a shop with the password of the documents. */
export function watchShop(spoil?: Spoil): WatchedShop {
  const shop = openShop({ password: "open sesame" });
  const seen: Seen[] = [];
  const server = withServer(async (request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const response = await fetch(`${shop.url}${pathname}${search}`, {
      method: request.method,
      headers: request.headers,
      ...text === "" ? {} : { body: text },
    });
    const answer = await response.text();
    const [scheme = ""] = (request.headers.get("authorization") ?? "").split(" ");
    seen.push({
      method: request.method,
      path: pathname + search,
      scheme,
      body: text === "" ? undefined : JSON.parse(text),
      code: response.status,
    });
    const { status, headers } = response;
    if (`${request.method} ${pathname}` !== spoil?.[0]) {
      return new Response(answer === "" ? null : answer, { status, headers });
    }
    const [code, body] = spoil[1](status, answer === "" ? undefined : JSON.parse(answer));
    return body === undefined ? new Response(null, { status: code }) : Response.json(body, {
      status: code,
    });
  });
  return {
    ...server,
    seen,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await shop.close();
    },
  };
}
