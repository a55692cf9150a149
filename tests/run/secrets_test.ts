import { assertEquals } from "@std/assert";
import { addSecretsOf, isSecretName, withoutSecretHeaders } from "../../src/run/secrets.ts";
import { Masker } from "../../src/value/masker.ts";

Deno.test("isSecretName() looks for whole words", () => {
  const secret = [
    "TOKEN",
    "API_KEY",
    "GITHUB_TOKEN",
    "my-secret",
    "dbPassword",
    "APIKEY",
    "AWS_CREDENTIALS",
    "BASIC_AUTH",
    "key",
    "X.PASS",
  ];
  const plain = ["GIT_AUTHOR_NAME", "KEYBOARD", "PATH", "MONKEY", "TOKENS_USED", "BYPASS", "HOME"];
  assertEquals(secret.filter((name) => !isSecretName(name)), []);
  assertEquals(plain.filter(isSecretName), []);
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

Deno.test("withoutSecretHeaders() hides the values of secret headers, however short", () => {
  assertEquals(
    withoutSecretHeaders({
      url: "http://x",
      headers: { Authorization: "a", cookie: "b=1", "Set-Cookie": "c", accept: "d" },
      cookies: ["c"],
    }, "***"),
    {
      url: "http://x",
      headers: { Authorization: "***", cookie: "***", "Set-Cookie": "***", accept: "d" },
      cookies: ["***"],
    },
  );
});
