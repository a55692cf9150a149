import { check, steps } from "../workflows.ts";

Deno.test("a header that is read by a name that is not canonical is a warning", () => {
  const found = (name: string, hint: string) =>
    `warning header-name: "${name}" is always nil: headers are kept by canonical names (write ${hint})`;
  return check(["header-name"], [
    [
      steps(["uses: http, with: { get: 'http://x' }, test: res.headers.¦ETag == '1'"]),
      found("ETag", "res.headers.Etag"),
    ],
    [
      steps([
        `uses: http, with: { get: 'http://x' }, id: a, outputs: { left: 'res.headers[¦"X-RateLimit-Remaining"] ?? 1' }`,
      ]),
      found("X-RateLimit-Remaining", 'res.headers["X-Ratelimit-Remaining"]'),
    ],
    [
      steps([
        `uses: http, with: { get: 'http://x' }, retry: { max_attempts: 2, interval: "{{res.headers[¦'retry-after']}}" }, test: res.code == 200`,
      ]),
      found("retry-after", 'res.headers["Retry-After"]'),
    ],
    // Nothing tells what the keys are here.
    [steps(["uses: http, with: { get: 'http://x' }, test: res.headers.Etag == '1'"])],
    [steps(["uses: http, with: { get: 'http://x' }, test: res.headers[vars.name] == '1'"])],
    [steps(["uses: http, with: { get: 'http://x' }, test: res.body.headers.ETag == '1'"])],
    [steps(["uses: hello, with: { headers: { a: 1 } }, test: res.headers.a == 1"])],
    [steps([
      "uses: http, with: { get: 'http://x' }, test: 'let res = vars.x; res.headers.a == 1'",
    ])],
  ]);
});
