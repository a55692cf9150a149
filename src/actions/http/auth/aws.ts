import type { Dict } from "../../../base/value/value.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { type Content, isStream } from "../request/request_body.ts";
import { withHeaders } from "../request/with_headers.ts";
import type { SignIn } from "./sign_in.ts";

/** The value that S3 accepts in place of the digest of a body. */
const UNSIGNED = "UNSIGNED-PAYLOAD";

/** Signs requests by AWS Signature Version 4. */
export async function openAws(aws: Dict): Promise<SignIn> {
  const { AwsV4Signer } = await import("aws4fetch");
  const service = String(aws.service);
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
        ...typeof body === "string" && body !== "" ? { body } : {},
        accessKeyId: String(aws.access_key_id),
        secretAccessKey: String(aws.secret_access_key),
        ...aws.session_token ? { sessionToken: String(aws.session_token) } : {},
        service,
        region: String(aws.region),
        ...typeof headers["X-Amz-Date"] === "string" ? { datetime: headers["X-Amz-Date"] } : {},
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
