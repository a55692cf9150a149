import { assert, assertEquals } from "@std/assert";
import { embedded } from "../../src/actions/embedded.ts";
import { http } from "../../src/actions/http/http.ts";
import { addSecretsOf, hideFields } from "../../src/secrets/add_secrets.ts";
import { Masker } from "../../src/secrets/masker.ts";
import type { Dict } from "../../src/base/value/value.ts";

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

Deno.test("addSecretsOf() makes everything under a secret name secret", () => {
  const masker = new Masker();
  addSecretsOf({
    token: ["first-one", ["second-one"], 1234567],
    auth: { value: "third-one", deep: { list: [{ x: "fourth-one" }] } },
    credentials: { user: "fifth-one", pw: "sixth-one" },
    list: [{ name: "plain-one", password: "seventh-one" }],
  }, masker);
  assertEquals(
    masker.mask(
      "first-one second-one 1234567 third-one fourth-one fifth-one sixth-one plain-one seventh-one",
    ),
    "*** *** *** *** *** *** *** plain-one ***",
  );
});

Deno.test("addSecretsOf() looks once at data that holds a part again and again", () => {
  const masker = new Masker();
  const shared = { plain: "plain-one", key: "secret-one" };
  let value: unknown = shared;
  for (let i = 0; i < 60; i++) value = [value, { value }];
  addSecretsOf({ value }, masker);
  assertEquals(masker.mask("plain-one secret-one"), "plain-one ***");
  addSecretsOf({ shared, auth: shared }, masker);
  assertEquals(masker.mask("plain-one secret-one"), "*** ***");
});

Deno.test("hideFields() hides the values of secret headers of http, however short", () => {
  assertEquals(
    hideFields(
      {
        url: "http://x",
        headers: { Authorization: "a", cookie: "b=1", "Set-Cookie": "c=1; Path=/", accept: "d" },
        cookies: [{ name: "c", value: "1", raw: "c=1; Path=/" }],
      },
      http.responseFields!,
    ),
    {
      url: "http://x",
      headers: {
        Authorization: "***",
        cookie: "b=***",
        "Set-Cookie": "c=***; Path=/",
        accept: "d",
      },
      cookies: [{ name: "c", value: "***", raw: "c=***; Path=/" }],
    },
  );
});

const hideOutputs = (outputs: Dict) => hideFields({ outputs }, embedded.responseFields!);

Deno.test("hideFields() hides outputs of job files with secret names, by step id and flat", () => {
  assertEquals(
    hideOutputs({ token: "a", login: { token: "a", user: "u" }, n: 1 }),
    { outputs: { token: "***", login: { token: "***", user: "u" }, n: 1 } },
  );
});

Deno.test("hideFields() shows that an output with a secret name is nil", () => {
  assertEquals(
    hideOutputs({ token: null, login: { token: null, password: "" } }),
    { outputs: { token: null, login: { token: null, password: "***" } } },
  );
});

Deno.test("hideFields() does not copy a message whose action hides nothing", () => {
  const message = { headers: { authorization: "a" } };
  assert(hideFields(message, [{ name: "headers" }]) === message);
});
