import { assertEquals } from "@std/assert";
import { embedded } from "../../../src/actions/embedded.ts";
import { http } from "../../../src/actions/http/http.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { hideFields } from "../../../src/run/execute/step_detail.ts";

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
