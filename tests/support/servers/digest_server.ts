import { createHash } from "node:crypto";
import { type TestServer, withServer } from "./with_server.ts";

/** The challenge of a server. */
export interface DigestOptions {
  /** The name in challenges; left out for MD5 without a name. */
  readonly algorithm?: string;
  /** Without it, the digest of RFC 2069. */
  readonly qop?: string;
  /** The number of requests that a nonce is valid for. */
  readonly uses?: number;
  readonly userhash?: boolean;
}

const USER = "Müfasa";
const PASSWORD = 'Circle of "Life"';
const REALM = 'the "realm"';

/** A server with Digest authentication that records the status of each response. */
export interface DigestServer extends TestServer {
  readonly username: string;
  readonly password: string;
  readonly codes: readonly number[];
}

/** Opens a server that checks Digest as RFC 7616 says, each nonce counter once. */
export function digestServer(
  { algorithm, qop, uses = Infinity, userhash }: DigestOptions = {},
  username = USER,
  password = PASSWORD,
): DigestServer {
  const codes: number[] = [];
  const counts = new Map<string, Set<number>>();
  const hashName = (algorithm ?? "MD5").replace(/-sess$/i, "").toLowerCase().replace("sha-", "sha");
  const H = (text: string) => createHash(hashName).update(text).digest("hex");

  function check(request: Request, header: string, body: string): "good" | "stale" | "bad" {
    const fields = Object.fromEntries(
      [...header.matchAll(/([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]+))/g)].map((
        [, name, quoted, plain],
      ) => [name, quoted?.replace(/\\(.)/g, "$1") ?? plain]),
    ) as Record<string, string>;
    const used = counts.get(fields.nonce ?? "");
    const nc = Number.parseInt(fields.nc ?? "0", 16);
    if (!used || used.size >= uses || qop && used.has(nc)) return "stale";
    used.add(nc);
    const { pathname, search } = new URL(request.url);
    const name = userhash
      ? fields.username === H(`${username}:${REALM}`) ? username : ""
      : decodeURIComponent(fields["username*"]?.replace(/^UTF-8''/, "") ?? fields.username ?? "");
    if (name !== username || fields.uri !== pathname + search || fields.realm !== REALM) {
      return "bad";
    }
    if (fields.opaque !== "op,aque" || (fields.algorithm ?? "MD5") !== (algorithm ?? "MD5")) {
      return "bad";
    }
    let a1 = H(`${username}:${REALM}:${password}`);
    if (/-sess$/i.test(algorithm ?? "")) a1 = H(`${a1}:${fields.nonce}:${fields.cnonce}`);
    const whole = fields.qop === "auth-int" ? `:${H(body)}` : "";
    const a2 = H(`${request.method}:${fields.uri}${whole}`);
    const middle = fields.qop ? `${fields.nc}:${fields.cnonce}:${fields.qop}:` : "";
    if (qop && !qop.split(", ").includes(fields.qop ?? "")) return "bad";
    return fields.response === H(`${a1}:${fields.nonce}:${middle}${a2}`) ? "good" : "bad";
  }

  const server = withServer(async (request) => {
    const header = request.headers.get("authorization") ?? "";
    const body = await request.text();
    const result = header.startsWith("Digest ") ? check(request, header, body) : "bad";
    codes.push(result === "good" ? 200 : 401);
    if (result === "good") return new Response("welcome");
    const nonce = crypto.randomUUID();
    counts.set(nonce, new Set());
    const challenge = [
      `Basic realm="other", Digest realm="${REALM.replaceAll('"', '\\"')}"`,
      `nonce="${nonce}"`,
      'opaque="op,aque"',
      "charset=UTF-8",
      ...algorithm ? [`algorithm=${algorithm}`] : [],
      ...qop ? [`qop="${qop}"`] : [],
      ...userhash ? ["userhash=true"] : [],
      ...result === "stale" ? ["stale=true"] : [],
    ].join(", ");
    return new Response("who are you?", {
      status: 401,
      headers: { "www-authenticate": challenge },
    });
  });
  return { ...server, username, password, codes };
}
