import type { Dict } from "../../../base/value/value.ts";
import { toByteString } from "../request/http_syntax.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { withHeaders } from "../request/with_headers.ts";
import type { RawResponse } from "../transport/model.ts";
import type { SignIn, SignInContext } from "./sign_in.ts";

/** The challenge of a server: the parameters of `WWW-Authenticate: Digest`. */
export type Challenge = Readonly<Record<string, string>>;

/** A challenge, and how often it was answered. */
interface Answered {
  readonly challenge: Challenge;
  count: number;
}

/** Node's names of the algorithms, the best first. */
const ALGORITHMS: readonly (readonly [name: string, hash: string])[] = [
  ["SHA-512-256", "sha512-256"],
  ["SHA-256", "sha256"],
  ["MD5", "md5"],
];

/** Signs in by HTTP Digest (RFC 7616). A challenge is used for all later requests of the run. */
export async function openDigest(digest: Dict, { context }: SignInContext): Promise<SignIn> {
  const [username, password] = [String(digest.username), String(digest.password)];
  const { hash, randomBytes } = await import("node:crypto");
  const challenges = context.scope.run.resource(
    "http digest challenges",
    () => new Map<string, Answered>(),
  );
  const keyOf = ({ url }: HttpRequest) => JSON.stringify([url.origin, username, password]);
  const answer = (request: HttpRequest, answered: Answered) => {
    const header = digestHeader(request, answered.challenge, {
      username,
      password,
      count: ++answered.count,
      nonce: randomBytes(16).toString("hex"),
      hash,
    });
    return withHeaders(request, { Authorization: header });
  };
  let isNew = false;
  return {
    sign(request) {
      const known = challenges.get(keyOf(request));
      isNew = false;
      return known ? answer(request, known) : withHeaders(request, { Authorization: undefined });
    },
    again(request, refused) {
      // A new challenge was answered, so that the credentials are wrong.
      if (isNew) return Promise.resolve(undefined);
      const challenge = bestChallenge(refused);
      if (!challenge) return Promise.resolve(undefined);
      isNew = true;
      const answered = { challenge, count: 0 };
      challenges.set(keyOf(request), answered);
      return Promise.resolve(answer(request, answered));
    },
  };
}

/** The challenge with the best algorithm that is known here. */
export function bestChallenge(
  { rawHeaders }: Pick<RawResponse, "rawHeaders">,
): Challenge | undefined {
  const challenges: Challenge[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === "www-authenticate") {
      challenges.push(...readChallenges(rawHeaders[at + 1]!));
    }
  }
  for (const [name] of ALGORITHMS) {
    const found = challenges.find(({ algorithm = "MD5", nonce }) =>
      nonce !== undefined && algorithm.toUpperCase().replace(/-SESS$/, "") === name
    );
    if (found) return found;
  }
  return undefined;
}

/** The Digest challenges of a header, which may have several of several schemes. */
function readChallenges(header: string): Challenge[] {
  const challenges: Record<string, string>[] = [];
  let current: Record<string, string> | undefined;
  const part =
    /([^\s=,"]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|(?=\s+[^\s=,]+\s*=)|\s*(?=,|$))/g;
  for (const [whole, name = "", quoted, plain] of header.matchAll(part)) {
    if (!whole.includes("=")) {
      current = name.toLowerCase() === "digest" ? {} : undefined;
      if (current) challenges.push(current);
    } else if (current) {
      current[name.toLowerCase()] = quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "";
    }
  }
  return challenges;
}

/** The parts of an answer besides the request and the challenge. */
interface Signer {
  readonly username: string;
  readonly password: string;
  /** The number of responses to the challenge, including this one. */
  readonly count: number;
  /** The client's nonce. */
  readonly nonce: string;
  readonly hash: (algorithm: string, data: string | Uint8Array, encoding: "hex") => string;
}

/** The header `Authorization` that answers a challenge. */
export function digestHeader(
  { method, url, body = "" }: HttpRequest,
  challenge: Challenge,
  { username, password, count, nonce: cnonce, hash }: Signer,
): string {
  const { realm = "", nonce = "", algorithm = "MD5", opaque } = challenge;
  const isSession = /-sess$/i.test(algorithm);
  const name = algorithm.toUpperCase().replace(/-SESS$/, "");
  const [, hashName] = ALGORITHMS.find(([one]) => one === name) ?? ALGORITHMS.at(-1)!;
  const H = (text: string) => hash(hashName, text, "hex");
  const offered = (challenge.qop ?? "").split(",").map((one) => one.trim().toLowerCase());
  const isWhole = !offered.includes("auth") && offered.includes("auth-int") &&
    typeof body === "string";
  const qop = offered.includes("auth") ? "auth" : isWhole ? "auth-int" : undefined;
  const nc = count.toString(16).padStart(8, "0");
  const uri = url.pathname + url.search;
  const secret = H(`${username}:${realm}:${password}`);
  const a1 = isSession ? H(`${secret}:${nonce}:${cnonce}`) : secret;
  const a2 = H(isWhole ? `${method}:${uri}:${H(String(body))}` : `${method}:${uri}`);
  const response = H([a1, nonce, ...qop ? [nc, cnonce, qop] : [], a2].join(":"));
  const isHashed = challenge.userhash?.toLowerCase() === "true";
  const isPlain = /^[ -~]*$/.test(username);
  const user = isHashed
    ? `username="${H(`${username}:${realm}`)}", userhash=true`
    : isPlain || challenge.charset?.toUpperCase() !== "UTF-8"
    ? `username=${quote(username)}`
    : `username*=UTF-8''${encodeURIComponent(username)}`;
  return toByteString([
    `Digest ${user}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri="${uri}"`,
    ...challenge.algorithm === undefined ? [] : [`algorithm=${algorithm}`],
    ...qop ? [`qop=${qop}`, `nc=${nc}`] : [],
    ...qop || isSession ? [`cnonce="${cnonce}"`] : [],
    `response="${response}"`,
    ...opaque === undefined ? [] : [`opaque=${quote(opaque)}`],
  ].join(", "));
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
