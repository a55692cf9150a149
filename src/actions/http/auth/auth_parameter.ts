import { isTemplate } from "../../../expr/template/template_data.ts";
import { didYouMean } from "../../../base/text/suggest.ts";
import { StepError } from "../../../base/errors.ts";
import { type Dict, isDict, isNumber, type Value } from "../../../base/value/value.ts";
import type { ParameterProblem } from "../../../action/action.ts";
import { flag, map, Rule, text, value } from "../../../action/schema.ts";
import { readUrl } from "../request/request_url.ts";

const USER_AND_PASSWORD = {
  username: text("The name of the user").required(),
  password: text("The password").required(),
};

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

const WAYS = map(
  {
    basic: map(USER_AND_PASSWORD, "User and password, as in a URL"),
    bearer: text("A token"),
    digest: map(
      USER_AND_PASSWORD,
      "User and password, which are not sent themselves: MD5 or SHA-256",
    ),
    oauth2: map({
      grant: text("how to get it: client_credentials, password or refresh_token")
        .with({ default: "client_credentials" }),
      token_url: text("The token endpoint of the authorization server").required(),
      client_id: text("The ID of the client").required(),
      client_secret: text("Its secret, if it has one"),
      username: text("The user, for the grant password"),
      password: text("The password, for the grant password"),
      refresh_token: text("For the grant refresh_token"),
      scope: value(["string", "list"], "The scopes to ask for"),
      audience: text("For whom the token is"),
      resource: value(["string", "list"], "For which resource the token is"),
      send: text("Where the client secret is sent: header or body").with({ default: "header" }),
    }, "A token that is fetched once for the run, and again when it expires"),
    aws: map({
      region: text("Such as eu-central-1").required(),
      service: text("Such as s3 or execute-api").required(),
      access_key_id: text("The ID of the key").required(),
      secret_access_key: text("The key").required(),
      session_token: text("The token of temporary credentials"),
    }, "Signs the request for AWS and compatible services (Signature Version 4)"),
    netrc: flag("Whether to take user and password from the file .netrc"),
  },
  "How to sign in, in one of these ways; it is not sent to another origin",
  { oneField: true },
);

/** The authentication of a step. A run works with what the step gives, which is a valid map. */
export const AUTH: Rule<Dict> = new Rule({ ...WAYS.form, hide: hideAuth }, (auth, param) => {
  WAYS.parse(auth, param);
  return auth as Dict;
});

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

/** The sign-in of a step once its templates are rendered. Throws a `StepError` if it is wrong. */
export function readAuth(auth: Dict | undefined): Dict | undefined {
  if (!auth) return undefined;
  const [problem] = checkAuth({ auth });
  if (!problem) return auth;
  throw new StepError(`cannot run http: ${problem.message}`, problem.hint, { parameter: "auth" });
}
