/**
 * Further counters of the demo shop, for the tasks of the cookbook: ways to sign in, files, jobs
 * that take a while, items with versions, GraphQL and alerts.
 *
 * @module
 */
import { createHash, createHmac } from "node:crypto";

/** Who may sign in, and with what. */
export interface Access {
  readonly password: string;
  readonly token: string;
}

/** Answers a request, or leaves it to another counter. */
export type Counter = (
  request: Request,
) => Response | undefined | Promise<Response | undefined>;

/** Opens all counters of a shop. */
export function openCounters(access: Access): Counter {
  const counters = [
    openDoor(access),
    openSessions(access),
    openWarehouse(),
    openImports(),
    openItems(),
    openQueries(),
    openAlerts(),
  ];
  return async (request) => {
    for (const counter of counters) {
      const response = await counter(request);
      if (response) return response;
    }
    return undefined;
  };
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(value, { status, headers });
const routeOf = (request: Request) => `${request.method} ${new URL(request.url).pathname}`;
const hash = (name: string, data: string | Uint8Array) =>
  createHash(name).update(data).digest("hex");
const bytesOf = async (request: Request) => new Uint8Array(await request.arrayBuffer());

/** `/whoami`: who a request is from, by Basic, Bearer, Digest or the signature of AWS. */
function openDoor({ password, token }: Access): Counter {
  const issued = new Set([token]);
  let tokens = 0;
  const users: Record<string, (request: Request, credentials: string) => string | undefined> = {
    basic: (_, credentials) => credentials === btoa(`ann:${password}`) ? "ann" : undefined,
    bearer: (_, credentials) => issued.has(credentials) ? "the token" : undefined,
    digest: (request, credentials) => isDigest(request, credentials, password) ? "ann" : undefined,
    "aws4-hmac-sha256": (request, credentials) =>
      isSigned(request, credentials, password) ? "shop" : undefined,
  };
  return async (request) => {
    const [scheme = "", ...rest] = (request.headers.get("authorization") ?? "").split(" ");
    const route = routeOf(request);
    if (route === "POST /oauth/token") {
      const form = new URLSearchParams(await request.text());
      // RFC 6749 wants both encoded as in a form.
      const client = new URLSearchParams({ password }).toString().replace("password=", "shop:");
      if (rest[0] !== btoa(client) || form.get("grant_type") !== "client_credentials") {
        return json({ error: "invalid_client" }, 401);
      }
      const issue = `issued-${++tokens}-${crypto.randomUUID()}`;
      issued.add(issue);
      return json({ access_token: issue, token_type: "Bearer", expires_in: 3600 });
    }
    if (route !== "GET /whoami" && route !== "GET /digest") return undefined;
    const user = users[scheme.toLowerCase()]?.(request, rest.join(" "));
    if (user !== undefined) return json({ user, by: scheme });
    const challenge = route === "GET /digest"
      ? `Digest realm="shop", nonce="${crypto.randomUUID()}", qop="auth", algorithm=SHA-256`
      : 'Basic realm="shop"';
    return json({ error: "who are you?" }, 401, { "www-authenticate": challenge });
  };
}

/** The `name="value"` and `name=value` of a header. */
function readPairs(text: string): Record<string, string> {
  const pairs = text.matchAll(/([\w-]+)=(?:"([^"]*)"|([^\s,]+))/g);
  return Object.fromEntries([...pairs].map(([, name, quoted, plain]) => [name, quoted ?? plain]));
}

/** Whether the credentials of Digest (RFC 7616, SHA-256) are ann's. */
function isDigest(request: Request, credentials: string, password: string): boolean {
  const { uri, nonce, nc, cnonce, qop, response } = readPairs(credentials);
  const first = hash("sha256", `ann:shop:${password}`);
  const second = hash("sha256", `${request.method}:${uri}`);
  return response === hash("sha256", [first, nonce, nc, cnonce, qop, second].join(":"));
}

/** Whether the signature (AWS Signature Version 4) is made with the key "shop". */
function isSigned(request: Request, credentials: string, password: string): boolean {
  const { Credential = "", SignedHeaders = "", Signature } = readPairs(credentials);
  const [id, day = "", region = "", service = ""] = Credential.split("/");
  const { pathname, searchParams, host } = new URL(request.url);
  const header = (name: string) => name === "host" ? host : request.headers.get(name) ?? "";
  searchParams.sort();
  const canonical = [
    request.method,
    pathname,
    searchParams.toString(),
    ...SignedHeaders.split(";").map((name) => `${name}:${header(name).trim()}`),
    "",
    SignedHeaders,
    header("x-amz-content-sha256") || hash("sha256", ""),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", header("x-amz-date"), scope, hash("sha256", canonical)];
  const sign = (key: string | Uint8Array, data: string) =>
    new Uint8Array(createHmac("sha256", key).update(data).digest());
  const key = [day, region, service, "aws4_request"].reduce<string | Uint8Array>(
    sign,
    `AWS4${password}`,
  );
  return id === "shop" &&
    Signature === createHmac("sha256", key).update(text.join("\n")).digest("hex");
}

const LOGIN_PAGE = `<!doctype html><title>Sign in</title><h1>Sign in</h1>
<form method="post" action="/session">
  <label>User <input name="user" id="user"></label>
  <label>Password <input name="password" id="password" type="password"></label>
  <button>Sign in</button>
</form>`;

/** A login form whose session is a cookie. */
function openSessions({ password }: Access): Counter {
  const users = new Map<string, string>();
  const page = (text: string, status = 200) =>
    new Response(text, { status, headers: { "content-type": "text/html; charset=utf-8" } });
  return async (request) => {
    const [, sid = ""] = /\bsid=([\w-]+)/.exec(request.headers.get("cookie") ?? "") ?? [];
    switch (routeOf(request)) {
      case "GET /session":
        return page(LOGIN_PAGE);
      case "POST /session": {
        const form = new URLSearchParams(await request.text());
        if (form.get("password") !== password) return page("<h1>Wrong password</h1>", 403);
        const made = crypto.randomUUID();
        users.set(made, form.get("user") ?? "");
        const cookie = `sid=${made}; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600`;
        return new Response(null, {
          status: 303,
          headers: { location: "/account", "set-cookie": cookie },
        });
      }
      case "DELETE /session":
        users.delete(sid);
        return new Response(null, { status: 204, headers: { "set-cookie": "sid=; Max-Age=0" } });
      case "GET /account": {
        const user = users.get(sid);
        if (request.headers.get("accept")?.includes("text/html")) {
          return user ? page(`<title>Account</title><h1>Welcome, ${user}</h1>`) : page(LOGIN_PAGE);
        }
        return user ? json({ user }) : json({ error: "log in first" }, 401);
      }
      default:
        return undefined;
    }
  };
}

const ARCHIVE = new TextEncoder().encode("what was built, packed\n".repeat(1000));

/** Takes files, and gives away a release with its checksums. */
function openWarehouse(): Counter {
  return async (request) => {
    const route = routeOf(request);
    if (route === "GET /version") return json({ version: "1.2.0", colour: "green" });
    if (route === "GET /releases/1.2.0/app.tgz") return new Response(ARCHIVE);
    if (route === "GET /releases/1.2.0/SHA256SUMS") {
      return new Response(`${hash("sha256", ARCHIVE)}  app.tgz\n`);
    }
    if (route.startsWith("PUT /packages/")) {
      const bytes = await bytesOf(request);
      const type = request.headers.get("content-type");
      return json({ size: bytes.length, sha256: hash("sha256", bytes), type }, 201);
    }
    if (route !== "POST /releases") return undefined;
    const form = await request.formData();
    const fields: Record<string, unknown> = {};
    const files: Record<string, unknown> = {};
    for (const name of new Set(form.keys())) {
      const values = form.getAll(name);
      if (values.some((value) => typeof value === "string")) fields[name] = values;
      else {files[name] = values.map((value) => {
          const { name, size, type } = value as File;
          return { name, size, type };
        });}
    }
    return json({ fields, files }, 201);
  };
}

/** Imports that are done at the third look. */
function openImports(): Counter {
  const looks: number[] = [];
  return (request) => {
    const route = routeOf(request);
    if (route === "POST /imports") {
      const id = looks.push(0);
      return json({ id }, 202, { location: `/imports/${id}` });
    }
    const [, id] = /^GET \/imports\/(\d+)$/.exec(route) ?? [];
    const before = looks[Number(id) - 1];
    if (before === undefined) return undefined;
    const look = looks[Number(id) - 1] = before + 1;
    return look < 3
      ? json({ state: "running", rows: look }, 200, { "retry-after": "0.01" })
      : json({ state: "done", rows: 3 });
  };
}

/** An item that changes only for those who know its version. */
function openItems(): Counter {
  let item: unknown = { name: "cup" };
  let version = 1;
  return async (request) => {
    const tag = () => ({ etag: `"v${version}"` });
    const route = routeOf(request);
    if (route === "GET /items/1") return json(item, 200, tag());
    if (route !== "PUT /items/1") return undefined;
    if (request.headers.get("if-match") !== `"v${version}"`) return json({ error: "stale" }, 412);
    item = await request.json();
    version++;
    return json(item, 200, tag());
  };
}

const GOODS = [{ name: "tea", price: 4.5 }, { name: "mug", price: 12 }];

/** GraphQL, as far as one field goes. */
function openQueries(): Counter {
  return async (request) => {
    if (routeOf(request) !== "POST /graphql") return undefined;
    const { query = "", variables = {} } = await request.json();
    if (/\bproducts\b/.test(query)) {
      return json({ data: { products: GOODS.slice(0, variables.first) } });
    }
    const [, field] = /{\s*(\w+)/.exec(query) ?? [];
    return json({ errors: [{ message: `Cannot query field "${field}" on type "Query".` }] });
  };
}

/** Keeps the alerts that it gets. */
function openAlerts(): Counter {
  const alerts: unknown[] = [];
  return async (request) => {
    const route = routeOf(request);
    if (route === "GET /alerts") return json(alerts);
    if (route !== "POST /alerts") return undefined;
    alerts.push(await request.json());
    return json({ alerts: alerts.length }, 201);
  };
}
