import { isTemplate } from "../../../expr/template/template_data.ts";
import { didYouMean } from "../../../base/text/suggest.ts";
import { StepError } from "../../../base/errors.ts";
import { type Dict, isDict, isNumber, type Value } from "../../../base/value/value.ts";
import type { Parameter, ParameterProblem } from "../../../action/action.ts";
import { checkValue } from "../../../action/parameters.ts";
import { readUrl } from "../request/request_url.ts";

const USER_AND_PASSWORD: readonly Parameter[] = [
  { name: "username", type: "string", summary: "The name of the user", required: true },
  { name: "password", type: "string", summary: "The password", required: true },
];

/** The parts of a sign-in that are not secret. */
const PUBLIC: ReadonlySet<string> = new Set(
  "grant token_url scope audience resource send region service netrc".split(" "),
);

/** The names of users and clients are secrets unless they are plain words. */
const NAMES: ReadonlySet<string> = new Set(["username", "client_id"]);
const PLAIN_WORD = /^[a-z_-]{1,20}$/i;

/** Whether a field of `auth` is never shown. */
export function isSecret(name: string, value: Value): boolean {
  if (typeof value !== "string" && !isNumber(value) || PUBLIC.has(name)) return false;
  return !NAMES.has(name) || !PLAIN_WORD.test(String(value));
}

function hideAuth(auth: Value, mask: string): Value {
  if (!isDict(auth)) return auth;
  return Object.fromEntries(
    Object.entries(auth).map(([name, value]) => [
      name,
      isDict(value)
        ? hideAuth(value, mask)
        : isSecret(name, value) && !isTemplate(value)
        ? mask
        : value,
    ]),
  );
}

/** The authentication of a step. */
export const AUTH: Parameter = {
  name: "auth",
  type: "map",
  summary: "How to sign in, in one of these ways; it is not sent to another origin",
  oneField: true,
  hide: hideAuth,
  fields: [
    {
      name: "basic",
      type: "map",
      summary: "User and password, as in a URL",
      fields: USER_AND_PASSWORD,
    },
    { name: "bearer", type: "string", summary: "A token" },
    {
      name: "digest",
      type: "map",
      summary: "User and password, which are not sent themselves: MD5 or SHA-256",
      fields: USER_AND_PASSWORD,
    },
    {
      name: "oauth2",
      type: "map",
      summary: "A token that is fetched once for the run, and again when it expires",
      fields: [
        {
          name: "grant",
          type: "string",
          summary: "how to get it: client_credentials, password or refresh_token",
          default: "client_credentials",
        },
        {
          name: "token_url",
          type: "string",
          summary: "The token endpoint of the authorization server",
          required: true,
        },
        { name: "client_id", type: "string", summary: "The ID of the client", required: true },
        { name: "client_secret", type: "string", summary: "Its secret, if it has one" },
        { name: "username", type: "string", summary: "The user, for the grant password" },
        { name: "password", type: "string", summary: "The password, for the grant password" },
        { name: "refresh_token", type: "string", summary: "For the grant refresh_token" },
        { name: "scope", type: ["string", "list"], summary: "The scopes to ask for" },
        { name: "audience", type: "string", summary: "For whom the token is" },
        { name: "resource", type: ["string", "list"], summary: "For which resource the token is" },
        {
          name: "send",
          type: "string",
          summary: "Where the client secret is sent: header or body",
          default: "header",
        },
      ],
    },
    {
      name: "aws",
      type: "map",
      summary: "Signs the request for AWS and compatible services (Signature Version 4)",
      fields: [
        { name: "region", type: "string", summary: "Such as eu-central-1", required: true },
        { name: "service", type: "string", summary: "Such as s3 or execute-api", required: true },
        { name: "access_key_id", type: "string", summary: "The ID of the key", required: true },
        { name: "secret_access_key", type: "string", summary: "The key", required: true },
        { name: "session_token", type: "string", summary: "The token of temporary credentials" },
      ],
    },
    {
      name: "netrc",
      type: "boolean",
      summary: "Whether to take user and password from the file .netrc",
    },
  ],
};

const GRANTS = ["client_credentials", "password", "refresh_token"];

/** The parameters that each grant needs besides the client. */
const GRANT_NEEDS: Readonly<Record<string, readonly string[]>> = {
  client_credentials: ["client_secret"],
  password: ["username", "password"],
  refresh_token: ["refresh_token"],
};

/** Problems of the sign-in of a step beyond types. */
export function checkAuth({ auth, headers }: Dict): ParameterProblem[] {
  if (!isDict(auth)) return [];
  const problems = checkOauth2(auth.oauth2);
  if (auth.bearer === "") {
    problems.push({
      path: ["auth", "bearer"],
      message: '"auth.bearer" is empty',
      hint:
        "is the variable set that the token comes from? A request without a token has auth: null",
    });
  }
  const header = isDict(headers) &&
    Object.keys(headers).find((name) =>
      name.toLowerCase() === "authorization" && headers[name] !== null
    );
  if (header) {
    problems.push({
      path: ["auth"],
      at: "key",
      message: `"auth" and the header "${header}" cannot be combined`,
      hint: "keep one of them",
    });
  }
  return problems;
}

function checkOauth2(oauth2: Value | undefined): ParameterProblem[] {
  if (!isDict(oauth2)) return [];
  const at = (key: string) => ["auth", "oauth2", key];
  const problems: ParameterProblem[] = [];
  const { grant, token_url: url, send } = oauth2;
  if (typeof url === "string" && !isTemplate(url)) {
    const problem = readUrl(url);
    if (!(problem instanceof URL)) problems.push({ path: at("token_url"), ...problem });
  }
  if (typeof send === "string" && !isTemplate(send) && send !== "body" && send !== "header") {
    const message = `"auth.oauth2.send" must be "header" or "body", not "${send}"`;
    problems.push({ path: at("send"), message });
  }
  if (isTemplate(grant)) return problems;
  const name = grant ?? GRANTS[0]!;
  const needs = typeof name === "string" && GRANTS.includes(name) ? GRANT_NEEDS[name]! : undefined;
  if (!needs) {
    const hint = didYouMean(String(name), GRANTS) ?? `the grants are ${GRANTS.join(", ")}`;
    return [...problems, { path: at("grant"), message: `unknown grant "${name}"`, hint }];
  }
  for (const key of needs) {
    if (oauth2[key] !== undefined && oauth2[key] !== null) continue;
    const message = `the grant ${name} needs "${key}" in "auth.oauth2"`;
    problems.push({ path: ["auth", "oauth2"], message });
  }
  return problems;
}

/** The sign-in of a step once its templates are rendered. Throws `StepError` if it is wrong. */
export function readAuth({ auth }: Dict): Dict | undefined {
  if (auth === undefined || auth === null) return undefined;
  const [problem] = [...checkValue(AUTH, auth, ["auth"]), ...checkAuth({ auth })];
  if (!problem) return auth as Dict;
  throw new StepError(`cannot run http: ${problem.message}`, problem.hint, { parameter: "auth" });
}
