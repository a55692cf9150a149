import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createHash, createHmac } from "node:crypto";
import { type RawServer, rawServer } from "../support/servers/raw_server.ts";
import { runCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";
import { tlsCertificate } from "../support/servers/tls_fixture.ts";

const SECRETS = {
  API_TOKEN: 'tok\'en "with" $every\\thing',
  SIMPLE_TOKEN: "abc-123-def",
  MULTI_SECRET: "first line\nsecond 100% line",
};

const cases: readonly (readonly [what: string, parameters: string])[] = [
  ["a plain GET", "get: URL/plain"],
  [
    "a query with quotes and spaces",
    `{get: "URL/q?a=it's&b=x y&c=\\"d\\"&e=$HOME\`id\`", query: {f: "ü&="}}`,
  ],
  ["brackets and braces in the URL", `get: "URL/list?ids[]=1&ids[]=2&range=[1-3]&set={a,b}"`],
  [
    "a POST of JSON",
    `{post: URL/json, body: {text: "it's \\"quoted\\"\\nnext \\\\ $x \`y\`", n: 1.5, uni: "ü😀\\u2028"}}`,
  ],
  [
    "a form",
    `{post: URL/form, headers: {Content-Type: application/x-www-form-urlencoded}, body: {a: "x y&z=1", b: [1, "it's"]}}`,
  ],
  [
    "a text body with line ends, percent signs and tabs",
    `{put: URL/text, body: "- 100%\\tof\\r\\nit's \\\\n all\\n\\n"}`,
  ],
  [
    "a body of control characters",
    `{post: URL/control, body: "a\\u0001b\\u007fc\\u0085d\\u202ee"}`,
  ],
  ["a body of two dashes", `{post: URL/dashes, body: "--"}`],
  ["a body like a file name", `{post: URL/at, body: "@/etc/passwd"}`],
  ["JSON of its own parameter", '{post: URL/json, json: [1, "it\'s"]}'],
  ["a form of its own parameter", "{post: URL/form, form: {a: 'x y&z=1', b: [1, true]}}"],
  ["a file", "{put: URL/file, file: 'it''s a file.txt'}"],
  [
    "a multipart form",
    `{post: URL/multipart, multipart: {note: "it's; \\"@x\\", y", tags: [a, b], meta: {value: {a: "x;y"}}, f: {file: "it's a file.txt", type: text/csv, filename: 'a;"b,.csv'}}}`,
  ],
  ["a GraphQL query", "{post: URL/graphql, graphql: {query: '{ a }', variables: {x: 1}}}"],
  ["a POST without a body", "post: URL/empty"],
  ["a DELETE", "delete: URL/thing/1"],
  ["a GET with a body", `{get: URL/search, body: {q: 1}}`],
  ["a HEAD", "{method: HEAD, url: URL/head}"],
  ["a HEAD with a body", "{method: HEAD, url: URL/head-body, body: x}"],
  ["OPTIONS", `{method: OPTIONS, url: URL/options}`],
  [
    "headers with quotes, and of other languages",
    `{get: URL/headers, headers: {X-Quote: "it's \\"a\\" $b \`c\` \\\\ !", X-Word: "grüße 😀", X-Tab: "a\\tb", If-Match: "\\"v1\\""}}`,
  ],
  ["an empty header", `{get: URL/empty-header, headers: {X-Empty: ""}}`],
  [
    "headers that were taken out",
    `{post: URL/none, headers: {Accept: null, User-Agent: null, Accept-Encoding: null}, body: text}`,
  ],
  [
    "headers that curl has by itself",
    `{get: URL/own, headers: {User-Agent: "mine/1.0 (it's)", Accept: text/html, Host: "other.test", Accept-Encoding: gzip}}`,
  ],
  ["a token", `{get: URL/token, headers: {Authorization: "Bearer {{vars.api_token}}"}}`],
  [
    "a token in a header of another name",
    `{get: URL/key, headers: {X-Api-Key: "{{vars.simple_token}}"}}`,
  ],
  ["a token in the URL", `get: "URL/in/{{vars.simple_token}}/path?t={{vars.simple_token}}"`],
  ["a token in JSON", `{post: URL/json-token, body: {token: "{{vars.simple_token}}", more: "x"}}`],
  [
    "tokens in a text",
    `{post: URL/text-token, body: "a={{vars.simple_token}}\\n{{vars.multi_secret}}\\n{{vars.api_token}}%\\n"}`,
  ],
];

const SHELLS = ["sh", "bash", "zsh"];

Deno.test("the command below a failure reproduces the request in any shell", async () => {
  await using server = rawServer(async (connection) => {
    for (let request; (request = await connection.request()) !== undefined;) {
      await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      if (/^connection: close/im.test(request)) return;
    }
  });
  // Failures that say the same are shown once.
  const steps = cases.map(([what, parameters], index) =>
    `      - {name: ${JSON.stringify(what)}, uses: http, with: ${
      (parameters.startsWith("{") ? parameters : `{${parameters}}`).replaceAll("URL", server.url)
    }, test: "${index} < 0"}`
  );
  const workflow = [
    "name: n",
    "vars:",
    ...Object.keys(SECRETS).map((name) => `  ${name.toLowerCase()}: "{{${name}}}"`),
    "jobs:",
    "  - name: j",
    "    steps:",
    ...steps,
  ].join("\n");
  const files = { "w.yml": workflow, "it's a file.txt": "some content\n" };
  await withFiles(files, async (directory) => {
    const { stdout, stderr } = await runCli(["w.yml"], { cwd: directory, env: SECRETS });
    const commands = commandsIn(stdout);
    assertEquals(commands.length, cases.length, stdout + stderr);
    const originals = server.requests.slice();
    assertEquals(originals.length, cases.length);
    for (const secret of Object.values(SECRETS)) assert(!stdout.includes(secret));
    for (const [index, [what]] of cases.entries()) {
      for (const shell of SHELLS) {
        const repeated = await requestOf(shell, commands[index]!, server, directory);
        assertEquals(
          repeated,
          comparable(originals[index]!),
          `${what}, ${shell}: ${commands[index]}`,
        );
      }
    }
  });
});

/** The commands of a report as users copy them: with leading spaces. */
function commandsIn(report: string): string[] {
  return report.split(/^ +reproduce with:\n/m).slice(1).map((rest) => {
    const [indent = ""] = /^ +/.exec(rest) ?? [];
    const lines = rest.split("\n");
    const end = lines.findIndex((line) => !line.startsWith(indent));
    return lines.slice(0, end).join("\n");
  });
}

/** Returns the request that the server receives when a shell runs a command. */
async function requestOf(
  shell: string,
  command: string,
  server: RawServer,
  cwd: string,
): Promise<unknown> {
  const before = server.requests.length;
  const { success, stderr } = await new Deno.Command("timeout", {
    args: ["10", shell, "-c", command],
    cwd,
    clearEnv: true,
    env: { ...SECRETS, PATH: Deno.env.get("PATH")!, LC_ALL: "C.UTF-8" },
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, `${shell}: ${command}\n${new TextDecoder().decode(stderr)}`);
  assertEquals(server.requests.length, before + 1, command);
  return comparable(server.requests.at(-1)!);
}

/** A request without what curl chooses by itself. */
function comparable(sent: string): unknown {
  // Each has its own boundary.
  const [, boundary] = /boundary=(\S+)/.exec(sent) ?? [];
  const request = boundary === undefined
    ? sent
    : sent.replaceAll(boundary, "BOUNDARY").replace(/^content-length: .*\r\n/im, "");
  const [head = "", ...body] = request.split("\r\n\r\n");
  const [line, ...headers] = head.split("\r\n");
  const fields = headers.map((header) => {
    const [, name = "", value = ""] = /^([^:]*): *(.*)$/s.exec(header) ?? [];
    return [name.toLowerCase(), value] as const;
  }).filter(([name, value]) =>
    name !== "connection" && !(name === "user-agent" && /^(runner|curl)/.test(value))
  ).sort();
  return { line, headers: fields, body: body.join("\r\n\r\n") };
}

Deno.test("the command below a failure follows redirects and trusts certificates as the step did", async () => {
  const certificate = tlsCertificate("localhost");
  const seen: string[] = [];
  await using server = withServer((request) => {
    const { pathname } = new URL(request.url);
    seen.push(pathname);
    return pathname === "/from"
      ? new Response(null, { status: 302, headers: { Location: "/to" } })
      : new Response("{}");
  }, certificate);
  const step = (fields: string) =>
    `      - {uses: http, with: {get: "${server.url}/from", insecure: true${fields}}, test: "false"}\n`;
  const workflow = `name: n\njobs:\n  - name: j\n    steps:\n${step("")}${
    step(", follow_redirects: false")
  }`;
  await withFiles({ "w.yml": workflow }, async (directory) => {
    const { stdout } = await runCli(["w.yml"], { cwd: directory });
    assertEquals(seen, ["/from", "/to", "/from"]);
    for (const command of commandsIn(stdout)) {
      const { success } = await new Deno.Command("sh", { args: ["-c", command], stdout: "null" })
        .output();
      assert(success, command);
    }
    assertEquals(seen.slice(3), ["/from", "/to", "/from"]);
    assertNotEquals(commandsIn(stdout).length, 0);
  });
});

Deno.test("the command below a failure reads a large body from a file, as it says", async () => {
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  const body = "long ".repeat(5000);
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - {uses: http, with: {post: "${server.url}/x", body: "${body}"}, test: "false"}
`;
  await withFiles({ "w.yml": workflow, "body": body }, async (directory) => {
    const { stdout } = await runCli(["w.yml"], { cwd: directory });
    const [command = ""] = commandsIn(stdout);
    assert(command.includes('# put the body, 25000 characters, into a file "body" first'), command);
    const { success } = await new Deno.Command("sh", { args: ["-c", command], cwd: directory })
      .output();
    assert(success);
    assertEquals(comparable(server.requests[1]!), comparable(server.requests[0]!));
  });
});

/** Whether the signature of a request is that of the headers which the server has received. */
function isSigned(sent: string, secretKey: string): boolean {
  const [head = "", body = ""] = sent.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const headers = new Map(lines.map((one) => {
    const [, name = "", value = ""] = /^([^:]*): *(.*)$/.exec(one) ?? [];
    return [name.toLowerCase(), value] as const;
  }));
  const [, scope = "", names = "", signature] =
    /Credential=[^/]+\/(\S+), *SignedHeaders=(\S+), *Signature=(\w+)/.exec(
      headers.get("authorization") ?? "",
    ) ?? [];
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const [method, path] = line.split(" ");
  const signed = names.split(";").map((name) => `${name}:${headers.get(name)}\n`);
  const request = [method, path, "", signed.join(""), names, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers.get("x-amz-date"), scope, sha256(request)].join("\n");
  const hmac = (key: string | Uint8Array, part: string) =>
    createHmac("sha256", key).update(part).digest();
  const key = scope.split("/").reduce(hmac, `AWS4${secretKey}` as string | Uint8Array);
  return hmac(key as Uint8Array, text).toString("hex") === signature;
}

Deno.test("the command below a failure signs a request to AWS as the server verifies it", async () => {
  await using server = rawServer(async (connection) => {
    for (; await connection.request() !== undefined;) {
      await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const key = "AKIDEXAMPLE/SECRET+KEY";
  const auth =
    `auth: {aws: {access_key_id: AKID, secret_access_key: "{{vars.key}}", region: eu-west-1, service: sqs}}`;
  const parts = [
    "get: URL/a",
    `post: URL/b, headers: {Content-Type: null, Accept: null, User-Agent: null}, body: text`,
    "put: URL/c, json: {a: 1}",
  ];
  const steps = parts.map((part, index) =>
    `      - {uses: http, with: {${
      part.replace("URL", server.url)
    }, ${auth}}, test: "${index} < 0"}\n`
  );
  const text = `name: n\nvars: {key: "{{SIMPLE_TOKEN}}"}\njobs:\n  - name: j\n    steps:\n`;
  await withFiles({ "w.yml": text + steps.join("") }, async (cwd) => {
    const env = { SIMPLE_TOKEN: key };
    const { stdout } = await runCli(["w.yml"], { cwd, env });
    for (const command of commandsIn(stdout)) {
      const { success } = await new Deno.Command("sh", {
        ...{ args: ["-c", command], cwd, stdout: "null" },
        env: { ...env, AKID: "AKID" },
      }).output();
      assert(success, command);
    }
    assertEquals(server.requests.map((sent) => isSigned(sent, key)), Array(6).fill(true), stdout);
  });
});
