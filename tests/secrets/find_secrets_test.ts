import { assertEquals } from "@std/assert";
import {
  addSecretsOf,
  findExchangedSecrets,
  findVariableSecrets,
} from "../../src/secrets/find_secrets.ts";
import { Masker } from "../../src/secrets/masker.ts";

/** The secrets that are long enough. */
function found(data: Record<string, unknown>): string[] {
  const texts: string[] = [];
  findExchangedSecrets(data, (text, shortest) => {
    if (text.length >= shortest) texts.push(text);
  });
  return texts;
}

Deno.test("findExchangedSecrets() finds credentials and cookies in headers", () => {
  assertEquals(
    found({
      headers: {
        Authorization: "Bearer token-1",
        "Proxy-Authorization": `Basic ${btoa("me:pass-2")}`,
        "X-Api-Key": "k-3-k-3",
        Cookie: "lang=english; sid=0123456789abcdef",
        "Idempotency-Key": "idempotency-4",
        "Set-Cookie": 'a="q1w2e3"; Path=/',
      },
      cookies: ["session=fedcba9876543210; Path=/long-path-of-it", "l=de"],
    }),
    [
      "Bearer token-1",
      "token-1",
      "Basic bWU6cGFzcy0y",
      "bWU6cGFzcy0y",
      "pass-2",
      "k-3-k-3",
      "0123456789abcdef",
      "q1w2e3",
      "fedcba9876543210",
    ],
  );
});

Deno.test("findExchangedSecrets() takes no scheme without credentials for a secret", () => {
  assertEquals(
    found({ headers: { Authorization: "Bearer ", "Proxy-Authorization": "Basic" } }),
    [],
  );
});

Deno.test("findExchangedSecrets() takes a map called headers for headers wherever it is", () => {
  // An echo service answers with the headers that it got. Other data under that name is safe: only
  // the values of names that announce a secret are found, shorter ones too.
  const headers = { "X-Api-Key": "k-3-k-3", "X-Total": "12345678", columns: ["name", "price"] };
  assertEquals(found({ body: { headers } }), ["k-3-k-3"]);
  assertEquals(found({ body: { header: headers, rows: headers } }), []);
});

Deno.test("findExchangedSecrets() finds fields of data with eight characters or more", () => {
  const body = {
    access_token: "first-one",
    list: [{ password: "second-one", user: "ann-of-some-place" }, { api_key: "short" }],
    tokens: ["third-one"],
    secret: { value: "fourth-one", name: "my very own one" },
    token: 123456789,
    auth: true,
    token_type: "bearer-token",
    key: "some-object-key",
  };
  const expected = ["first-one", "second-one", "third-one", "fourth-one", "123456789"];
  assertEquals(found({ body }), expected);
});

Deno.test("findExchangedSecrets() finds fields in texts: JSON, forms, URLs and multipart bodies", () => {
  const texts = [
    ['{"a": {"access_token" : "first-\\u0041-one"}}', ["first-\\u0041-one", "first-A-one"]],
    ['{"cut": 1, "password": "second-one"} and more', ["second-one", "second-one"]],
    ["user=ann&password=a+b%26c+d%2Be&x=1", ["a+b%26c+d%2Be", "a b&c d+e"]],
    ["http://h/x?api_key=0123456789#access_token=abcdefghij", [
      "0123456789",
      "0123456789",
      "abcdefghij",
      "abcdefghij",
    ]],
    ["http://me:p%61ss-1@h/", ["p%61ss-1", "pass-1"]],
    [
      '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nplain-plain\r\n' +
      '--b\r\nContent-Disposition: form-data; name="client_secret"; filename="x"\r\n' +
      "Content-Type: text/plain\r\n\r\nline one\r\nline two\r\n--b--\r\n",
      ["line one\r\nline two", "line one\r\nline two"],
    ],
    ["<a:Password x='1'>in-some-xml</a:Password>", ["in-some-xml", "in-some-xml"]],
    ["<a user='anna-anna' b:Password = 'in \"some\" xml'/>", ['in "some" xml', 'in "some" xml']],
    ['<a apiKey="in &amp; some xml">no-secret</a>', ["in &amp; some xml", "in & some xml"]],
    ["user: ann\npassword: in-some-yaml  # changed\nport: 12345678\n", [
      "in-some-yaml",
      "in-some-yaml",
    ]],
    ['a:\r\n  - client_secret: "in \\u0041 yaml"\r\n', ["in \\u0041 yaml", "in A yaml"]],
    ["a: {token: in-flow-yaml, b: 1}\n", ["in-flow-yaml", "in-flow-yaml"]],
    ["a:\n  'api-key': 'in some yaml'\n", ["in some yaml", "in some yaml"]],
    ["{ user: ann, token: 0123456789}", ["0123456789}", "0123456789"]],
    ["private_key: |-\n  line one of it\n  line two of it\nnext: something\n", [
      "\n  line one of it\n  line two of it",
      "line one of it\nline two of it",
    ]],
    ["password: must be longer than that\ntoken: $(get-a-token)\nport: 12345678\n", []],
    ["run --password=on-a-line --token=$(get it) --secret=${A_SECRET_VAR}", [
      "on-a-line",
      "on-a-line",
    ]],
    ["https://h/x?sv=1&sig=0123456789%3D", ["0123456789%3D", "0123456789="]],
    ["the password = something-else and token: whatever-it-is", []],
    ["page=next-token&sort=key-of-it&token=short", []],
  ] as const;
  for (const [body, expected] of texts) assertEquals(found({ body }), [...expected], body);
});

Deno.test("findVariableSecrets() finds the passwords of URLs under any name", () => {
  const texts: string[] = [];
  findVariableSecrets({
    DATABASE_URL: "postgres://me:pw-of-db@h/x",
    AUTH_URL: "https://login.example.com/a",
    auth: { url: "https://login.example.com/b", password: "hunter22" },
    HOME: "/home/ann",
    STORAGE: "DefaultEndpointsProtocol=https;AccountName=ann-of-x;AccountKey=0123456789ab==;",
    REMOTE: "https://ghp_0123456789abcdef@github.com/ann/x",
    ACCOUNT: '{"user": "ann-of-some-place", "private_key": "-----BEGIN\\nabcdefgh"}',
  }, (text) => texts.push(text));
  assertEquals([...new Set(texts)], [
    "pw-of-db",
    "hunter22",
    "0123456789ab==",
    "ghp_0123456789abcdef",
    "-----BEGIN\\nabcdefgh",
    "-----BEGIN\nabcdefgh",
  ]);
});

Deno.test("addSecretsOf() makes values of secret names secret, at any depth", () => {
  const masker = new Masker();
  addSecretsOf({
    TOKEN: "abcdef",
    PASS: "short",
    HOME: "/home/ann",
    db: { password: "hunter22", port: 5432123, pin: { key: 987654 } },
  }, masker);
  assertEquals(
    masker.mask("abcdef short /home/ann hunter22 5432123 987654"),
    "*** short /home/ann *** 5432123 ***",
  );
});

Deno.test("addSecretsOf() takes no schema, no setting and no word of a report for a secret", () => {
  const masker = new Masker();
  addSecretsOf({
    password: { type: "string", pattern: "^[A-Z0-9]+$", example: "exampl3-text" },
    schema: { type: "object", properties: { token: { type: "integer", title: "t1tle-of-it" } } },
    secret: "response",
    DB_PASSWORD: "string",
    credentials: {
      user: "annabel",
      method: "p0st-form",
      hint: "the name of the cat",
      pw: "s3cret",
    },
    tokens: { ann: "k0123456789", bob: "k9876543210" },
  }, masker);
  assertEquals(masker.secrets, ["s3cret", "k0123456789", "k9876543210"]);
});

Deno.test("addSecretsOf() makes what lies under a secret name secret", () => {
  const masker = new Masker();
  addSecretsOf({
    token: ["first-one", ["second-one"], 1234567],
    auth: { value: "third-one", deep: { list: [{ x: "f0urth-one" }] } },
    credentials: { user: "fifth-one", pw: "sixth-one" },
    list: [{ name: "plain-one", password: "seventh-one" }],
  }, masker);
  assertEquals(
    masker.mask(
      "first-one second-one 1234567 third-one f0urth-one fifth-one sixth-one plain-one seventh-one",
    ),
    "*** *** *** *** *** fifth-one *** plain-one ***",
  );
});

Deno.test("addSecretsOf() looks once at data that holds a part again and again", () => {
  const masker = new Masker();
  const shared = { plain: "pla1n-one", key: "secret-one" };
  let value: unknown = shared;
  for (let i = 0; i < 60; i++) value = [value, { value }];
  addSecretsOf({ value }, masker);
  assertEquals(masker.mask("pla1n-one secret-one"), "pla1n-one ***");
  addSecretsOf({ shared, auth: shared }, masker);
  assertEquals(masker.mask("pla1n-one secret-one"), "*** ***");
});
