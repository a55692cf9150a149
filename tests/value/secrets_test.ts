import { assertEquals } from "@std/assert";
import { isSecretHeader, isSecretName } from "../../src/value/secrets.ts";

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

Deno.test("isSecretHeader() knows headers in any case", () => {
  const secret = ["Authorization", "proxy-authorization", "COOKIE", "Set-Cookie"];
  assertEquals(secret.filter((name) => !isSecretHeader(name)), []);
  assertEquals(["Accept", "X-Cookie", "Location"].filter(isSecretHeader), []);
});
