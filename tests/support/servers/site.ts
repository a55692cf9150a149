import { type TestServer, withServer } from "./with_server.ts";

/** A website with a login form: what the examples in examples/http sign in to. */
export interface Site extends TestServer {
  readonly password: string;
  readonly token: string;
}

/** Opens a website on a free port. */
export function openSite(): Site {
  const password = crypto.randomUUID();
  const token = crypto.randomUUID();
  const users = new Map<string, string>();
  const server = withServer(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/login") {
      const form = new URLSearchParams(await request.text());
      if (form.get("password") !== password) return new Response("wrong", { status: 403 });
      const sid = crypto.randomUUID();
      users.set(sid, form.get("user") ?? "");
      const cookie = `sid=${sid}; Path=/; HttpOnly; SameSite=Lax`;
      return new Response(null, {
        status: 303,
        headers: { location: "/account", "set-cookie": cookie },
      });
    }
    const [scheme, credentials] = (request.headers.get("authorization") ?? "").split(" ");
    if (pathname === "/token") return Response.json({ token: credentials });
    if (pathname === "/whoami") {
      const user = scheme === "Basic" && credentials === btoa(`ann:${password}`)
        ? "ann"
        : scheme === "Bearer" && credentials === token
        ? "a robot"
        : undefined;
      return user ? Response.json({ user }) : new Response("who are you?", { status: 401 });
    }
    if (pathname === "/callback") return new Response("signed in");
    const [, sid = ""] = /sid=([\w-]+)/.exec(request.headers.get("cookie") ?? "") ?? [];
    const user = users.get(sid);
    return user === undefined
      ? Response.json({ error: "log in first" }, { status: 401 })
      : Response.json({ user });
  });
  return { ...server, password, token };
}
