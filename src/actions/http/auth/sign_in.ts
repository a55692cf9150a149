import type { ActionContext } from "../../../action/action.ts";
import { readStepText } from "../../../action/step_file.ts";
import type { Aws, Login } from "../http_params.ts";
import { type Content, isStream } from "../request/body.ts";
import { toByteString } from "../request/http_syntax.ts";
import { type HttpRequest, withHeaders } from "../request/read_request.ts";
import type { RawResponse } from "../transport/model.ts";

/** Adds the credentials of a step to its requests. */
export interface SignIn {
  sign(request: HttpRequest): HttpRequest | Promise<HttpRequest>;
  /** The request to send after one was refused with 401; undefined if that would not help. */
  again?(request: HttpRequest, refused: RawResponse): Promise<HttpRequest | undefined>;
}

/** The context that a sign-in needs besides its parameters. */
export interface SignInContext {
  readonly context: ActionContext;
  /** Sends an auxiliary request, for example for a token. */
  readonly sendAuxiliary: (request: HttpRequest) => Promise<RawResponse>;
}

/** The challenge of a server: the parameters of `WWW-Authenticate: Digest`. */
type Challenge = Readonly<Record<string, string>>;

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
export async function openDigest(
  { username, password }: Login,
  { context }: SignInContext,
): Promise<SignIn> {
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
      const answered = challenges.get(keyOf(request));
      isNew = false;
      return answered
        ? answer(request, answered)
        : withHeaders(request, { Authorization: undefined });
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

/** The value that S3 accepts in place of the digest of a body. */
const UNSIGNED = "UNSIGNED-PAYLOAD";

/** Signs requests by AWS Signature Version 4. */
export async function openAws(aws: Aws): Promise<SignIn> {
  const { AwsV4Signer } = await import("aws4fetch");
  const { service, region } = aws;
  return {
    async sign(unsigned) {
      const request = service === "s3" ? withPlus(unsigned) : unsigned;
      const { method, headers, body = "" } = request;
      const digest = await digestOf(body, service, request);
      const signer = new AwsV4Signer({
        method,
        url: urlOf(request),
        headers: {
          ...signedHeaders(request),
          ...service === "s3" || typeof body !== "string" ? { "X-Amz-Content-Sha256": digest } : {},
        },
        body: typeof body === "string" && body !== "" ? body : undefined,
        accessKeyId: aws.access_key_id,
        secretAccessKey: aws.secret_access_key,
        sessionToken: aws.session_token,
        service,
        region,
        datetime: typeof headers["X-Amz-Date"] === "string" ? headers["X-Amz-Date"] : undefined,
        allHeaders: true,
      });
      const signed = await signer.sign();
      const added: Record<string, string> = {};
      for (const name of ["X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256"]) {
        const value = signed.headers.get(name);
        if (value !== null) added[name] = value;
      }
      return withHeaders(request, {
        ...added,
        Authorization: signed.headers.get("Authorization") ?? undefined,
      });
    },
  };
}

/** A request without a plus sign in its path, which S3 and the library take for a space. */
function withPlus(request: HttpRequest): HttpRequest {
  if (!request.url.pathname.includes("+")) return request;
  const url = new URL(request.url);
  url.pathname = url.pathname.replaceAll("+", "%2B");
  return { ...request, url };
}

/** The SHA-256 of a body. S3 does not need it over TLS. */
async function digestOf(body: Content, service: string, { url }: HttpRequest): Promise<string> {
  if (isStream(body) && service === "s3" && url.protocol === "https:") return UNSIGNED;
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  if (isStream(body)) {
    for await (const chunk of body.open()) hash.update(chunk);
  } else {
    hash.update(body);
  }
  return hash.digest("hex");
}

/** The URL with the host that is sent to the server. */
function urlOf({ url, headers }: HttpRequest): string {
  const { Host: host } = headers;
  if (typeof host !== "string" || host === url.host) return url.href;
  const signed = new URL(url);
  signed.host = host;
  return signed.href;
}

/** The headers that are signed: proxies change others. */
function signedHeaders({ headers }: HttpRequest): Record<string, string> {
  const signed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (/^(?:X-Amz-|(?:Content-Type|Content-Md5|Date|Range)$)/.test(name)) {
      signed[name] = [value].flat().join(",");
    }
  }
  return signed;
}

/** The login of a host in the file that NETRC names, or in .netrc in the home directory. */
export async function readNetrc(url: URL, context: ActionContext): Promise<Login | undefined> {
  const { host, secrets } = context;
  const path = host.env.get("NETRC") ?? pathAtHome(context);
  const file = { path, what: "the netrc file", parameter: "auth" };
  const text = await readStepText(file, context);
  const login = findLogin(text, url.hostname);
  if (login) secrets.add(login.password);
  else context.log(`"${path}" has no login for ${url.hostname}`);
  return login;
}

function pathAtHome({ host: { env } }: ActionContext): string {
  const isWindows = Deno.build.os === "windows";
  const home = env.get("HOME") ?? (isWindows ? env.get("USERPROFILE") : undefined) ?? "~";
  return `${home}/${isWindows ? "_netrc" : ".netrc"}`;
}

/** The login of a host in the text of a netrc file; `default` is for every host. */
export function findLogin(text: string, hostname: string): Login | undefined {
  const tokens = tokensOf(text);
  let isWanted = false;
  let username = "";
  let password: string | undefined;
  for (let at = 0; at < tokens.length; at++) {
    switch (tokens[at]) {
      case "machine":
      case "default":
        if (password !== undefined) return { username, password };
        isWanted = tokens[at] === "default" || tokens[++at]?.toLowerCase() === hostname;
        username = "";
        break;
      case "login":
        at++;
        if (isWanted) username = tokens[at] ?? "";
        break;
      case "password":
        at++;
        if (isWanted) password = tokens[at];
        break;
      case "account":
        at++;
    }
  }
  return password === undefined ? undefined : { username, password };
}

/** The words of a netrc file, without comments and macros. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const bare = text.replace(/^\s*macdef\b[^]*?(?:\n\s*\n|$(?![^]))/gm, "");
  for (const line of bare.split(/\r?\n/)) {
    for (const [word, quoted] of line.matchAll(/"((?:[^"\\]|\\.)*)"|\S+/g)) {
      if (word.startsWith("#") && tokens.at(-1) !== "password") break;
      tokens.push(quoted?.replace(/\\(.)/g, "$1") ?? word);
    }
  }
  return tokens;
}
