import { assertEquals } from "@std/assert";
import {
  canBeSecret,
  cookieSecrets,
  dsnPasswords,
  isSecretField,
  isSecretHeader,
  isSecretName,
  withoutCookieValues,
  withoutPassword,
} from "../../src/secrets/secrets.ts";

const split = (text: string) => text.trim().split(/\s+/);

Deno.test("isSecretName() looks at the words of a name", () => {
  const secret = split(`
    TOKEN API_KEY GITHUB_TOKEN my-secret dbPassword APIKEY AWS_CREDENTIALS BASIC_AUTH key X.PASS
    GITHUB_PAT MYSQL_PWD PASSPHRASE GPG_PASSPHRASE JWT BEARER SESSION_COOKIE SLACK_WEBHOOK
    SLACK_WEBHOOK_URL SIGNATURE TOKENS SSH_KEYS PRIVATEKEY GITHUBTOKEN GITHUBTOKENS DBPASSWORD
    PGPASSWORD SECRET_KEY_BASE API_KEY_PROD DB_PASSWORD_1 AWS_ACCESS_KEY_ID accessToken APIKey
    csrfToken CSRFToken pwd DB_PW smtpPw`);
  const plain = split(`
    GIT_AUTHOR_NAME KEYBOARD PATH MONKEY TOKENS_USED BYPASS HOME PWD OLDPWD COMPASS AUTHOR
    SSH_AUTH_SOCK AUTH_URL TOKEN_URL TOKEN_TYPE PASSWORD_FILE KEY_PATH SECRET_NAME PUBLIC_KEY
    IDEMPOTENCY_KEY CACHE_KEY SESSION_MANAGER XDG_SESSION_TYPE DESKTOP_SESSION SIGNAL PATTERN
    OAUTH_CLIENT_ID TOKENIZERS_PARALLELISM COOKIE_DOMAIN WEBHOOK_PORT MAX_TOKENS_COUNT`);
  assertEquals(secret.filter((name) => !isSecretName(name)), []);
  assertEquals(plain.filter(isSecretName), []);
});

Deno.test("isSecretHeader() knows headers by their words, in any case", () => {
  const secret = split(`
    Authorization proxy-authorization COOKIE Set-Cookie X-Api-Key X-Auth-Token
    Ocp-Apim-Subscription-Key X-Amz-Security-Token x-functions-key X-Vault-Token PRIVATE-TOKEN
    X-Hub-Signature-256 X-Session-Id X-CSRFToken X-XSRF-TOKEN X-Access-Key X-Client-Secret
    X-Credentials X-Private-Key X-Auth-Key Api-Key ApiKey X-Passwd X-User-Password`);
  const plain = split(`
    Accept Location Idempotency-Key Sec-WebSocket-Key Cache-Key Keep-Alive WWW-Authenticate
    X-OAuth-Scopes Access-Control-Allow-Credentials X-RateLimit-Remaining-Tokens Surrogate-Key
    Content-Type Author Public-Key-Pins X-Request-Id Sec-WebSocket-Accept`);
  assertEquals(secret.filter((name) => !isSecretHeader(name)), []);
  assertEquals(plain.filter(isSecretHeader), []);
});

Deno.test("isSecretField() knows fields of bodies and queries", () => {
  const secret = split(`
    access_token refresh_token id_token client_secret password api_key apiKey secret session_token
    accessToken token sessionId PHPSESSID JSESSIONID private_key credentials csrf_token authToken`);
  const plain = split(`
    key token_type expires_in access_token_expires_at public_key name auth_url authorization_endpoint
    token_endpoint passed compass author session max_tokens_limit secret_name password_policy
    keyboard pattern idempotency_key i18n_key`);
  assertEquals(secret.filter((name) => !isSecretField(name)), []);
  assertEquals(plain.filter(isSecretField), []);
});

Deno.test("canBeSecret() leaves settings of authentication alone", () => {
  const settings: [string, string | number][] = [
    ["auth", "https://login.example.com/realms/a"],
    ["auth", 123456789],
    ["auth", "123456789"],
    ["auth", "basic"],
    ["auth", "Bearer"],
    ["auth", "OAuth2"],
    ["auth", "short"],
    ["total_tokens", 12345678],
  ];
  assertEquals(settings.filter(([name, value]) => canBeSecret(name, value)), []);
  const secrets: [string, string | number][] = [
    ["auth", "hunter22"],
    ["auth_token", 12345678],
    ["token", "https://example.com/?k=1"],
    ["password", "basic"],
  ];
  assertEquals(secrets.filter(([name, value]) => !canBeSecret(name, value)), []);
});

Deno.test("withoutCookieValues() shows names and attributes", () => {
  for (
    const [header, shown] of [
      ["lang=de; sid=abc", "lang=***; sid=***"],
      ["a=1; Path=/x; HttpOnly; SameSite=Lax", "a=***; Path=/x; HttpOnly; SameSite=Lax"],
      [
        'a=x=y; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Max-Age=10, b="q"; Secure',
        "a=***; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Max-Age=10, b=***; Secure",
      ],
      ["gone=; Max-Age=0", "gone=; Max-Age=0"],
      ['json={"a": 1, "b": 2}; Path=/', "json=***; Path=/"],
    ] as const
  ) assertEquals(withoutCookieValues(header, "***"), shown);
});

Deno.test("cookieSecrets() leaves settings alone", () => {
  assertEquals(
    cookieSecrets('lang=german; theme=dark-blue; session=abc123; id="q1w2e3"; n=12; sid=deleted'),
    ["abc123", "q1w2e3"],
  );
});

Deno.test("dsnPasswords() finds the password of each way to name a database", () => {
  const cases: [string, string[]][] = [
    ["postgresql://user:pw-of-db@host/db", ["pw-of-db"]],
    ["postgresql://user:p%40ss-word@host", ["p%40ss-word", "p@ss-word"]],
    ["host=db user=me password=pw-of-db dbname=x", ["pw-of-db"]],
    ["Server=db;User Id=me;Password='pw of db';", ["pw of db"]],
    ["jdbc:mysql://host/db?user=me&password=pw-of-db", ["pw-of-db"]],
    ["me:pw-of-db@tcp(host:3306)/db", ["pw-of-db"]],
    ["http://localhost:8080/a@b", []],
    ["see http://localhost:80, or ask a@example.com", []],
  ];
  for (const [text, expected] of cases) assertEquals([...new Set(dsnPasswords(text))], expected);
});

Deno.test("withoutPassword() takes the password out of a URL and nothing else", () => {
  assertEquals(withoutPassword("http://u:pw@h/a@b:c@d"), "http://u:***@h/a@b:c@d");
  assertEquals(withoutPassword("http://h:80/x?a=b@c"), "http://h:80/x?a=b@c");
  assertEquals(withoutPassword("http://h:80/x@c"), "http://h:80/x@c");
  assertEquals(withoutPassword("http://u:p/w@h/x"), "http://u:***@h/x");
  assertEquals(withoutPassword("http://u:p#w/q@h/x"), "http://u:***@h/x");
});
