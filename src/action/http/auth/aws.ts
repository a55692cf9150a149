import type { Dict } from "../../../value/value.ts";
import { StepError } from "../../../source/errors.ts";
import type { Request } from "../request/read_request.ts";
import { withHeaders } from "../request/with_headers.ts";
import type { SignIn } from "./sign_in.ts";

/** What S3 takes for the digest of a body that is not known before it is sent. */
const UNSIGNED = "UNSIGNED-PAYLOAD";

/** Signs requests by AWS Signature Version 4. */
export async function openAws(aws: Dict): Promise<SignIn> {
  const [{ AwsV4Signer }, { hash }] = await Promise.all([
    import("aws4fetch"),
    import("node:crypto"),
  ]);
  const service = String(aws.service);
  return {
    async sign(request) {
      const { method, url, headers, body = "" } = request;
      if (typeof body !== "string" && service !== "s3") {
        throw new StepError(
          `cannot sign ${method} "${url}" for ${service}: its body is streamed from a file`,
          "only s3 takes such a body; send it as text",
          { parameter: "auth" },
        );
      }
      const digest = typeof body === "string" ? hash("sha256", body, "hex") : UNSIGNED;
      const signer = new AwsV4Signer({
        method,
        url: urlOf(request),
        headers: {
          ...signedHeaders(request),
          ...service === "s3" ? { "X-Amz-Content-Sha256": digest } : {},
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

/** The URL with the host that the server is told. */
function urlOf({ url, headers }: Request): string {
  const { Host: host } = headers;
  if (typeof host !== "string" || host === url.host) return url.href;
  const told = new URL(url);
  told.host = host;
  return told.href;
}

/** The headers that are signed: proxies change others. */
function signedHeaders({ headers }: Request): Record<string, string> {
  const signed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (/^(?:X-Amz-|(?:Content-Type|Content-Md5|Date|Range)$)/.test(name)) {
      signed[name] = [value].flat().join(",");
    }
  }
  return signed;
}
