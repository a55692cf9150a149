import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory, REPORT_FILES } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";

/** A secret for every way by which one comes into a run. */
const SECRETS = {
  env: "tkn/Env+Z9&q1",
  dsn: "Dsn-Pw8x!q",
  urlPassword: "Url-Pw7y_w",
  access: "acc-R3sponse.tok",
  refresh: "ref-R3sponse.tok",
  id: "eyJhbGciOi.J9eyJzdWI.iOiIxMjM0",
  nested: "nested-Client-s3c",
  cookie: "cook1e-Val.ue",
  redirect: "red1rect-Cook",
  authToken: "x-4uth-T0ken-v",
  form: "form P4ss&w=rd",
  multipart: "mult1part-Pw",
  query: "qu3ry-ApiKey",
  jsonBody: 'json-B0dy"Pw',
  bearer: "b3arer-T0ken-x",
  apiKey: "4pi-Key-Head",
  basic: "b4sic-Passw0rd",
  output: "0utput-Value-s",
  said: "s4id-In-Vars",
  pin: "8x1y",
  saidInStep: "s4id-In-Step-x",
  shell: "sh3ll-Env-Val",
  job: "j0b-File-Var-x",
} as const;

const MULTIPART = [
  "--b",
  'Content-Disposition: form-data; name="user"',
  "",
  "readable-user",
  "--b",
  'Content-Disposition: form-data; name="password"',
  "",
  SECRETS.multipart,
  "--b--",
  "",
].join("\r\n");

function answer(request: Request): Response | Promise<Response> {
  const { pathname, origin } = new URL(request.url);
  switch (pathname) {
    case "/login":
      return Response.json({
        access_token: SECRETS.access,
        token_type: "Readable-Type",
        expires_in: 3600123,
        auth: true,
        token: "abcde",
        data: [{ refresh_token: SECRETS.refresh, id_token: SECRETS.id }],
        oauth: { client_secret: SECRETS.nested },
        user: "readable-user",
      }, {
        headers: {
          "set-cookie": `session=${SECRETS.cookie}; Path=/readable; HttpOnly`,
          "x-auth-token": SECRETS.authToken,
        },
      });
    case "/redirect":
      return new Response(null, {
        status: 302,
        headers: {
          location: `${origin}/echo?from=redirect`,
          "set-cookie": `sid=${SECRETS.redirect}`,
        },
      });
    case "/output":
      return Response.json({ plain: SECRETS.output, said: SECRETS.saidInStep });
    default:
      return echo(request);
  }
}

async function echo(request: Request): Promise<Response> {
  const said = await request.text();
  const cookie = `old=${SECRETS.redirect}`;
  return Response.json({ url: request.url, headers: [...request.headers], said, cookie });
}

const WORKFLOW = `name: leaks
vars:
  AUTH_URL: "{{AUTH_URL}}"
  db: "{{DATABASE_URL}}"
  given: "{{secret(GIVEN)}}"
  map: "{{ secret({'a': ['{pin}'], 'n': 1}) }}"
jobs:
  - name: "job {{vars.given}}"
    id: all
    steps:
      - name: "shell {{vars.given}}"
        uses: shell
        with:
          env: { A_PASSWORD: "{shell}" }
          cmd: |
            printf '%s\\n' "$API_TOKEN" "$API_TOKEN" "$GIVEN" "$A_PASSWORD" "$DATABASE_URL"
            printf '%s' "$API_TOKEN" | base64
            printf 'x%s' "$API_TOKEN" | base64
            printf 'xy%s' "$GIVEN" | base64
            printf '%s' "$API_TOKEN" | od -An -v -tx1 | tr -d ' \\n'
            printf '%s' "$GIVEN" | od -An -v -tx1 | tr -d ' \\n' | tr a-f A-F
            printf '%s' "$GIVEN" | tr a-z A-Z
            printf '%s' "$A_PASSWORD" | base64 | base64
            exit 1
        test: res.stdout == vars.db
        echo: "{{res.stdout}} {{vars.db}} {{vars.AUTH_URL}} {{vars.map}}"
      - id: login
        uses: http
        with:
          post: "{url}/login"
          headers:
            Idempotency-Key: readable-idempotency
            X-Api-Key: "{apiKey}"
            Authorization: "Bearer {bearer}"
          body: { password: '{jsonBody}', auth: 12345678, user: readable-user }
        test: res.code == 200
        outputs:
          access: res.body.access_token
          all: res.body
        echo: "{{res.body}} {{res.headers}} {{req.headers}} {{req.body}} {{res.cookies}}"
      - name: "later {{outputs.login.access}}"
        uses: http
        with:
          post: "{url}/echo?access_token={{outputs.login.access}}&api_key={query}"
          headers: { content-type: application/x-www-form-urlencoded }
          body: { password: "{form}", user: readable-user }
        test: res.body.said == "" && res.body == outputs.login.all
        echo: "{{res.body}} {{toBase64(outputs.login.access)}} {{upper(outputs.login.access)}}"
      - uses: http
        with:
          post: "{url}/echo"
          headers: { content-type: "multipart/form-data; boundary=b" }
          body: |-
{multipart}
        test: res.body.said == ""
        echo: "{{res.body}}"
      - uses: http
        with: { get: "{account}/redirect" }
        test: res.body.cookie == "{urlPassword}"
        echo: "{{res.body}} {urlPassword}"
      - id: made
        uses: http
        with: { get: "{url}/output" }
        outputs: { client_secret: res.body.plain, other: secret(res.body.said) }
        test: res.code == 200
        echo: "{{res.body.plain}} {{res.body.said}}"
      - uses: http
        with:
          get: "{url}/echo"
          headers: { authorization: "Basic {{toBase64('me:{basic}')}}", cookie: "lang=de; sid={cookie}" }
        retry: { max_attempts: 2 }
        test: res.body == "{basic}"
        echo: "{{req.headers}} {{res.body}}"
      - uses: embedded
        with: { path: job.yml, vars: { a_token: "{job}", list: ["{{outputs.login.access}}"] } }
      - uses: http
        with: { get: "{account}/echo", timeout: "{{outputs.made.other}}" }
      - uses: shell
        with: { cmd: "echo {{outputs.made.client_secret}}; echo {{vars.given}} >&2; sleep 10", timeout: 300ms }
      - uses: shell
        with: { cmd: "true", workdir: "/nowhere/{{outputs.made.other}}" }
  - name: "never {{vars.given}}"
    needs: [all]
    steps: [{ uses: hello, name: "{{vars.given}}" }]
`;

const JOB = `name: "inside {{vars.a_token}}"
steps:
  - name: "{{vars.a_token}}"
    uses: echo
    with: { message: "{{vars.a_token}} {{vars.list}}" }
    test: res.message == "x"
    echo: "{{res.message}}"
`;

/** Texts that stay readable in a report with all details. */
const READABLE = [
  "readable-idempotency",
  "https://login.example.com/readable",
  "readable-user",
  "Readable-Type",
  "3600123",
  "12345678",
  "abcde",
  "Path=/readable",
  "session=***",
];

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Returns the forms of a secret that must not appear, in lower case. */
function forms(secret: string): string[] {
  const hex = bytesOf(secret).toHex();
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([["", secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
    secret.replaceAll("&", "&amp;").replaceAll('"', "&quot;"),
    hex,
    ...[secret, secret.toUpperCase(), secret.toLowerCase(), encodeURIComponent(secret)].flatMap(
      (text) => ["", "a", "ab"].map((before) => base64Core(before, text)),
    ),
    base64Core("", bytesOf(secret).toBase64()),
  ].filter((form) => form.length >= Math.min(8, secret.length)).map((form) => form.toLowerCase());
}

/** Base64 of a text behind another, without what its neighbors share in. */
function base64Core(before: string, text: string): string {
  const encoded = bytesOf(before + text).toBase64().replace(/=+$/, "");
  return encoded.slice(before === "" ? 0 : 4, -2);
}

const MODES = [
  ["--report-dir", "reports", "w.yml"],
  ["-v", "--timing", "--report-dir", "reports", "w.yml"],
  ["-q", "--report-dir", "reports", "w.yml"],
  ["-v", "--report", "ndjson=-", "w.yml"],
  ["--dry-run", "w.yml"],
  ["--list", "w.yml"],
  ["dag", "w.yml"],
];

Deno.test("no secret is in any file or stream of a run, however it came in", async () => {
  await using server = withServer(answer);
  const account = server.url.replace("://", `://me:${SECRETS.urlPassword}@`);
  let workflow = WORKFLOW.replaceAll("{url}", server.url).replaceAll("{account}", account)
    .replace(
      "{multipart}",
      MULTIPART.trimEnd().split("\r\n").map((line) => "            " + line).join("\n"),
    );
  for (const [name, secret] of Object.entries(SECRETS)) {
    workflow = workflow.replaceAll(`{${name}}`, secret);
  }
  const env = {
    API_TOKEN: SECRETS.env,
    DATABASE_URL: `postgresql://me:${SECRETS.dsn}@db/x`,
    GIVEN: SECRETS.said,
    AUTH_URL: "https://login.example.com/readable",
    GITHUB_ACTIONS: "true",
  };
  await withFiles({ "w.yml": workflow, "job.yml": JOB }, async (cwd) => {
    for (const args of MODES) {
      await Deno.remove(`${cwd}/reports`, { recursive: true }).catch(() => {});
      const { code, stdout, stderr } = await runMain(args, { cwd, env });
      const reports = readDirectory(`${cwd}/reports`);
      const isRun = !["--dry-run", "--list", "dag"].includes(args[0]!);
      assertEquals(code, isRun ? 1 : 0, stderr);
      if (args.includes("--report-dir")) {
        assertEquals(Object.keys(reports).length, REPORT_FILES.length);
      }
      const texts = { stdout, stderr, ...reports };
      for (const [name, text] of Object.entries(texts)) {
        const seen = text.toLowerCase();
        const joined = seen.replace(/\s+|\\n/g, "");
        for (const [origin, secret] of Object.entries(SECRETS)) {
          for (const form of forms(secret)) {
            const at = seen.indexOf(form);
            assert(
              at < 0 && !joined.includes(form),
              `${origin} (${form}) in ${name} of ${args}: ${
                text.slice(Math.max(0, at - 300), at + 80)
              }`,
            );
          }
        }
      }
      if (args[0] === "-v" && isRun) {
        for (const word of READABLE) assertStringIncludes(stdout, word);
      }
    }
  });
});
