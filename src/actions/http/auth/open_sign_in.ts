import { type Dict, isDict } from "../../../base/value/value.ts";
import type { SecretSink } from "../../../action/action.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { withHeaders } from "../request/with_headers.ts";
import { isSecret } from "./auth_parameter.ts";
import { basicHeader } from "../request/http_syntax.ts";
import type { SignIn, SignInContext } from "./sign_in.ts";

/** Opens the sign-in that the parameter `auth` describes; undefined if nothing is to be sent. */
export async function openSignIn(
  auth: Dict,
  request: HttpRequest,
  signIn: SignInContext,
): Promise<SignIn | undefined> {
  addSecrets(auth, signIn.context.secrets);
  const { basic, bearer, digest, oauth2, aws, netrc } = auth;
  if (isDict(basic)) return always(basicHeader(String(basic.username), String(basic.password)));
  if (bearer !== undefined && bearer !== null) return always(`Bearer ${bearer}`);
  if (isDict(digest)) return (await import("./digest.ts")).openDigest(digest, signIn);
  if (isDict(oauth2)) return (await import("./oauth2.ts")).openOauth2(oauth2, signIn);
  if (isDict(aws)) return (await import("./aws.ts")).openAws(aws);
  if (netrc !== true && netrc !== "true") return undefined;
  // Credentials in the URL are closer to the request.
  if (request.headers.Authorization !== undefined) return undefined;
  const { readNetrc } = await import("./netrc.ts");
  const login = await readNetrc(request.url, signIn.context);
  return login && always(basicHeader(login.username, login.password));
}

function always(authorization: string): SignIn {
  return { sign: (request) => withHeaders(request, { Authorization: authorization }) };
}

function addSecrets(auth: Dict, secrets: SecretSink): void {
  for (const [name, value] of Object.entries(auth)) {
    if (isDict(value)) addSecrets(value, secrets);
    else if (isSecret(name, value)) secrets.add(String(value));
  }
}
