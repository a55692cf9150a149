import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path/join";
import { CHECKOUT } from "../support/documents.ts";
import { type ImportCase, importCase } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

const CASES: readonly (readonly [name: string, test: ImportCase])[] = [
  ["a URL", {
    args: ["curl", "curl URL/a?b=c"],
    lines: [
      "- name: GET /a",
      'get: "URL/a?b=c"',
      "test: res.code < 400",
      "follow_redirects: false",
    ],
    seen: ([one]) => assertEquals([one!.method, one!.path], ["GET", "/a?b=c"]),
  }],
  ["JSON as a browser copies it, with a token", {
    args: [
      "curl",
      `curl 'URL/orders' \\\n  -X 'POST' \\\n  -H 'authorization: Bearer aaaabbbbccccdddd' \\\n` +
      `  -H 'content-type: application/json' \\\n  --data-raw $'{"tea":"Assam \\u2615","n":{"m":1}}' --compressed -L`,
    ],
    lines: [
      'authorization: "Bearer {{vars.token}}"',
      'token: "{{TOKEN}}"',
      "json:",
      "tea: Assam ☕",
    ],
    env: { TOKEN: "aaaabbbbccccdddd" },
    seen: ([one]) => {
      assertEquals(one!.headers.get("authorization"), "Bearer aaaabbbbccccdddd");
      assertEquals(JSON.parse(one!.body), { tea: "Assam ☕", n: { m: 1 } });
    },
  }],
  ["several commands, --next, and quotes and dashes of a page", {
    args: [
      "curl",
      "curl URL/a --next URL/b",
      "curl “URL/c” –X PUT —data ‘{“a”: 1}’ -H 'X-Quote: “it”'",
    ],
    seen: ([one, two, three]) => {
      assertEquals([one!.path, two!.path, three!.path], ["/a", "/b", "/c"]);
      assertEquals([three!.method, three!.body], ["PUT", '{"a": 1}']);
    },
  }],
  ["words with quotes and dashes of a page", {
    args: ["curl", "--", "curl", "–X", "DELETE", "“URL/a”"],
    seen: ([one]) => assertEquals([one!.method, one!.path], ["DELETE", "/a"]),
  }],
  ["a script, whose lines that cannot be read cost no other one", {
    args: ["curl", "smoke.sh"],
    files: {
      "smoke.sh": `#!/bin/sh
SHOP=URL
curl $SHOP/a
TOKEN=$(curl $SHOP/login | jq -r .token)
curl $SHOP/b -d "$(cat x)" \\
  -X PUT
curl -d
curl $SHOP/c -d 'not closed
curl "$SHOP/d" | jq .
`,
    },
    lines: ['shop: "URL"'],
    notes: [
      "TOKEN=$(curl $SHOP/login | jq -r .token): this expansion of the shell is not supported",
      'curl $SHOP/b -d "$(cat x)"',
      "curl $SHOP/c -d 'not closed: the quote ' is not closed",
      "curl -d: the option -d of curl has no value",
    ],
    seen: (all) => assertEquals(all.map(({ path }) => path), ["/a", "/d"]),
  }],
  ["a secret after a brace, under the name of a variable of the machine", {
    args: ["curl", "curl URL/form -d 'path={ghp_16C7e42F292c6912E7710c838347Ae178B4a}'"],
    lines: ["path: \"{{ '{' }}{{vars.path_secret}}}\"", 'path_secret: "{{PATH_SECRET}}"'],
    env: { PATH_SECRET: "of-the-environment" },
    seen: ([one]) => assertEquals(one!.body, "path=%7Bof-the-environment%7D"),
  }],
  ["a form, a user and words after --", {
    args: [
      "curl",
      "--",
      "curl",
      "-s",
      "-u",
      "ann:tea-for-two",
      "-da=1",
      "-d",
      "b=x%20y",
      "URL/form",
    ],
    lines: ["form:", "b: x y", "username: ann", 'password: "{{vars.password}}"'],
    env: { PASSWORD: "tea-for-two" },
    seen: ([one]) => {
      assertEquals(one!.body, "a=1&b=x%20y");
      assertEquals(one!.headers.get("authorization"), `Basic ${btoa("ann:tea-for-two")}`);
    },
  }],
  ["a multipart form", {
    args: [
      "curl",
      "curl -F 'file=@a.txt;type=text/plain' -F 'note=a=b' -F 'data={};type=application/json' URL/up",
    ],
    files: { "a.txt": "content" },
    lines: ["multipart:", "file: a.txt", "type: text/plain", "note: a=b"],
    seen: ([one]) => {
      assertStringIncludes(one!.body, "content");
      assertMatch(one!.body, /name="data"\r\nContent-Type: application\/json\r\n\r\n\{\}\r\n/i);
    },
  }],
  ["-f, an empty body, and data of -G behind a fragment", {
    args: ["curl", "curl -fsSL URL/a -d ''\ncurl -G -d a=1 'URL/b?c=2#d'"],
    lines: ["Content-Type: application/x-www-form-urlencoded"],
    seen: ([one, two]) => {
      assertEquals(one!.headers.get("content-type"), "application/x-www-form-urlencoded");
      assertEquals(two!.path, "/b?c=2&a=1");
    },
  }],
  ["JSON that is sent without its type", {
    args: ["curl", `curl URL/a -d '{"tea": "a=b"}'`],
    lines: ["Content-Type: application/x-www-form-urlencoded"],
    seen: ([one]) => assertEquals(one!.body, '{"tea": "a=b"}'),
  }],
  ["data in the query, cookies, an agent and a timeout", {
    args: ["curl", `curl -G URL/q -d x=1 --data-urlencode "y=a b" -b "lang=de" -A me/1 -m 20 -I`],
    lines: ['head: "URL/q?x=1&y=a%20b"', "Cookie: lang=de", "User-Agent: me/1", "timeout: 20s"],
    seen: ([one]) => assertEquals([one!.method, one!.path], ["HEAD", "/q?x=1&y=a%20b"]),
  }],
  ["variables of the shell, and parts that come again", {
    args: [
      "curl",
      `curl "$BASE_URL/orders/\${ORDER}?x=\\$5" -H "Authorization: Bearer $TOKEN" -H 'X-Price: $5' ` +
      `-G --data-urlencode "q=a $WORD"\n` +
      `curl $BASE_URL/json -H 'Content-Type: application/json' -d "{\\"id\\": $ORDER}"\n` +
      "curl $BASE_URL/up -F tag=a -F tag=b",
    ],
    env: { BASE_URL: "URL", ORDER: "7", TOKEN: "token-of-the-shell-1", WORD: "tea" },
    lines: [
      'token: "{{TOKEN}}"',
      'get: "{{vars.base_url}}/orders/{{vars.order}}?x=$5&q=a%20{{vars.word}}"',
      'Authorization: "Bearer {{vars.token}}"',
      "name: BASE_URL",
      "- name: GET /orders/ORDER",
      "X-Price: $5",
    ],
    seen: ([read, json, up]) => {
      assertEquals(read!.path, "/orders/7?x=$5&q=a%20tea");
      assertEquals(read!.headers.get("authorization"), "Bearer token-of-the-shell-1");
      assertEquals(JSON.parse(json!.body), { id: 7 });
      for (const text of ["a", "b"]) assertStringIncludes(up!.body, `\r\n\r\n${text}\r\n`);
    },
  }],
  ["several commands, with comments, pipes and a lost backslash", {
    args: [
      "curl",
      "# sign in\ncurl -s URL/login -d a=1 2>/dev/null | jq .id\n\n" +
      "curl URL/orders?a=1&b=2 -H 'X-A: #1'  # the orders\n  -r 0-9\n" +
      "curl URL/c -x URL -U ann:tea-for-two > out.txt && curl 'URL/d'; echo done",
    ],
    notes: ["--proxy-user: write the user into the"],
    lines: ['get: "URL/orders?a=1&b=2"', "Range: bytes=0-9", 'get: "URL/d"'],
    seen: (requests) => {
      const paths = requests.map(({ path }) => path);
      assertEquals(paths, ["/login", "/orders?a=1&b=2", paths[2], "/d"]);
      assertEquals(requests[1]!.headers.get("x-a"), "#1");
    },
  }],
  ["lines of cmd.exe", {
    args: ["curl", 'curl "URL/a" ^\r\n  -H "X-A: b" ^\r\n  -X PUT'],
    lines: ['put: "URL/a"'],
    seen: ([one]) => assertEquals([one!.method, one!.headers.get("x-a")], ["PUT", "b"]),
  }],
  ["lines of cmd.exe with a caret before each sign", {
    args: [
      "curl",
      'curl ^"URL/a?x=1^&y=2^" ^\r\n  -H ^"accept: */*^" ^\r\n' +
      '  -H ^"content-type: application/json^" ^\r\n' +
      '  --data-raw ^"^{^\r\n\r\n^\\^"tea^\\^":^\\^"50^% ^& $HOME^\\^"^}^"',
    ],
    lines: ['post: "URL/a?x=1&y=2"'],
    seen: ([one]) => {
      assertEquals(one!.path, "/a?x=1&y=2");
      assertEquals(JSON.parse(one!.body), { tea: "50% & $HOME" });
    },
  }],
  ["what has braces and what cannot be translated", {
    args: [
      "curl",
      `curl --limit-rate 10k --request-target /y URL/x -H 'X-A: {{a}}' --retry 2 --tcp-fastopen`,
    ],
    notes: [
      "--limit-rate 10k: http has nothing like it",
      "--request-target /y: http has nothing like it",
      "--tcp-fastopen: http has nothing like it",
    ],
    lines: ["max_attempts: 3"],
    seen: ([one]) => assertEquals(one!.headers.get("x-a"), "{{a}}"),
  }],
  ["--json twice, and headers over those that options make", {
    args: [
      "curl",
      `curl URL/1 --json '{"a":' --json '1}'\n` +
      `curl URL/2 --json '{}' -H 'Content-Type: application/vnd.api+json' -H 'Accept:'\n` +
      `curl URL/3 -u ann:x -H 'Authorization: Bearer token-of-a-header-1' -b a=1 -H 'Cookie: b=2' -A ''`,
    ],
    env: { TOKEN: "token-of-a-header-1" },
    seen: ([one, two, three]) => {
      assertEquals(one!.body, '{"a":1}');
      assertEquals(one!.headers.get("accept"), "application/json");
      assertEquals(two!.headers.get("content-type"), "application/vnd.api+json");
      assertEquals(two!.headers.get("accept"), null);
      assertEquals(three!.headers.get("authorization"), "Bearer token-of-a-header-1");
      assertEquals(three!.headers.get("cookie"), "b=2");
      assertEquals(three!.headers.get("user-agent"), null);
    },
  }],
  ["versions of HTTP, ranges and where to connect", {
    args: [
      "curl",
      "curl URL/1 --http2 -r 600\n" +
      "curl http://tea.example/2 --connect-to ::ADDRESS\n" +
      "curl -X $METHOD URL/3 --resolve tea.example:443:127.0.0.1",
    ],
    env: { METHOD: "GET" },
    lines: ["version: auto", '"tea.example:443": "127.0.0.1:443"'],
    seen: ([one, two]) => {
      assertEquals(one!.headers.get("range"), "bytes=600-");
      assertEquals(two!.headers.get("host"), "tea.example");
    },
  }],
  ["quotes in the parts of a form", {
    args: [
      "curl",
      `curl URL/a -F 'a="x; \\"y";type=text/x; charset=utf-8' -F 'b=@"b.txt";filename="n;m"'`,
    ],
    files: { "b.txt": "content" },
    seen: ([one]) => {
      assertStringIncludes(one!.body, 'text/x; charset=utf-8\r\n\r\nx; "y\r\n');
      assertStringIncludes(one!.body, 'filename="n;m"\r\n');
    },
  }],
  ["queries, and files with the types of curl", {
    args: [
      "curl",
      "curl URL/a --url-query 'a=b c' --url-query '+x=%20' --url-query n@f\n" +
      "curl URL/b -d @b.json\ncurl URL/c/ -T b.json",
    ],
    files: { "b.json": "{}" },
    notes: ["--url-query n@f: it reads a file", "-d @b.json: curl leaves out its line breaks"],
    seen: ([a, b, c]) => {
      assertEquals(a!.path, "/a?a=b%20c&x=%20");
      assertEquals(b!.headers.get("content-type"), "application/x-www-form-urlencoded");
      assertEquals([c!.path, c!.headers.get("content-type")], ["/c/b.json", null]);
    },
  }],
  ["a file and several URLs", {
    args: ["curl", "curl --data-binary @body.bin -H 'Content-Type: application/x-own' URL/1"],
    files: { "body.bin": "bytes" },
    lines: ["file: body.bin"],
    seen: ([one]) => {
      assertEquals([one!.method, one!.body], ["POST", "bytes"]);
      assertEquals(one!.headers.get("content-type"), "application/x-own");
    },
  }],
];

for (const [name, test] of CASES) {
  Deno.test(`new --from curl translates ${name}`, async () => void await importCase(test));
}

Deno.test("new --from curl says what is wrong with a command", async () => {
  const table: readonly (readonly [args: readonly string[], message: string])[] = [
    [[], "new --from curl needs a command"],
    [["wget http://x"], "the command does not begin with curl"],
    [["curl -s"], "the curl command has no URL"],
    [["curl -H"], "the option -H of curl has no value"],
    [["curl 'http://x"], "curl:1:6: error: the quote ' is not closed"],
    [
      ['curl http://x -H "X: $(cat y)"'],
      "curl:1:22: error: this expansion of the shell is not supported",
    ],
    [["curl -d", "curl -s"], "no curl command has a URL"],
  ];
  for (const [args, message] of table) {
    const { code, stdout, stderr } = await runMain(["new", "--from", "curl", ...args]);
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, message);
  }
});

Deno.test("new - translates the commands of standard input", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(CHECKOUT, "cli.ts"), "new", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("curl http://h/a\ncurl http://h/b\n"));
  await writer.close();
  const { code, stdout } = await child.output();
  const text = new TextDecoder().decode(stdout);
  assertEquals([code, ...text.match(/get: .*/g)!], [0, 'get: "http://h/a"', 'get: "http://h/b"']);
});

Deno.test("new prints a workflow that runs, and overwrites nothing", async () => {
  await using server = withServer(() => new Response("tea"));
  await withFiles({}, async (cwd) => {
    const made = await runMain(["new", server.url, "-o", "w.yml"], { cwd });
    const wrote = "wrote w.yml: 2 jobs, 2 steps; run it with runner w.yml\n";
    assertEquals([made.code, made.stdout, made.stderr], [0, "", wrote]);
    const checked = await runMain(["check", "w.yml"], { cwd });
    assertStringIncludes(checked.stdout, "1 workflow checked: ok");
    const again = await runMain(["new", "-o", "w.yml"], { cwd });
    assertEquals(again.code, 1);
    assertStringIncludes(again.stderr, "'w.yml' already exists");
    const run = await runMain(["--strict", "w.yml"], { cwd });
    assertEquals([run.code, run.stderr], [0, ""], run.stdout);
    assertStringIncludes(run.stdout, "Steps      2 passed (2)");
    const failing = await runMain(["--var", "most=0", "w.yml"], { cwd });
    assertStringIncludes(failing.stdout, "vars.most is 0 (int)");
    assertStringIncludes(
      (await runMain(["new"], { cwd })).stdout,
      "BASE_URL ?? 'https://example.com'",
    );
  });
  const wrong = await runMain(["new", "file"]);
  assertStringIncludes(wrong.stderr, "new cannot tell what 'file' is");
  for (
    const [args, hint] of [
      [["load.js"], "runner help k6 shows what to write"],
      [["--from", "k6", "load.js"], "runner help k6 shows what to write"],
      [["--from", "stepci", "a.yml"], "runner help stepci shows what to write"],
      [["--and-run", "curl http://127.0.0.1"], "leave it out, and write a test"],
    ] as const
  ) {
    const { code, stderr } = await runMain(["new", ...args]);
    assertEquals(code, 1);
    assertStringIncludes(stderr, hint);
  }
});

Deno.test("new comments out what a workflow must not have, and the rest runs", async () => {
  const secret = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";
  const commands = `curl -m ${secret} http://x/3\ncurl -X 'A B' http://x/2\n` +
    "curl -m soon http://x/1\n".repeat(120);
  const { stdout, stderr } = await runMain(["new", commands]);
  assertStringIncludes(stdout, '# Not translated: with.timeout ("timeout" must be a duration');
  assertStringIncludes(stdout, '# Not translated: the step "A B /2": invalid method "A B"');
  assertStringIncludes(stdout, 'get: "http://x/1"');
  assertEquals(stderr.includes("does not load"), false, stderr);
  assertEquals((stdout + stderr).includes(secret), false);
  const alone = await runMain(["new", "curl -X 'A B' http://x/"]);
  assertStringIncludes(alone.stderr, 'the workflow does not load as it is: invalid method "A B"');
});

Deno.test("new tells formats from names and contents, and paths of files follow -o", async () => {
  const part = '{"info":{},"item":[{"request":{"method":"PUT","url":"http://x","body":';
  const files = {
    "in/a.hurl": "PUT http://x\n[Multipart]\na: file,b.bin;\nb: file,/b.bin;\n",
    "in/a.rest": "PUT http://x\n\n< ./b.bin\n",
    "in/a.json": `${part}{"mode":"file","file":{"src":"b.bin"}}}}]}`,
    "in/a.har": '{"log":{"entries":[]}}',
    "in/bruno.json": "{}",
    "in/a.bru": "put {\n  url: http://x\n  body: file\n}\nbody:file {\n  file: @file(b.bin)\n}\n",
  };
  await withFiles({ ...files, "made/old": "", "in/b.bin": "" }, async (cwd) => {
    const inputs = [...Object.keys(files).filter((name) => name !== "in/bruno.json"), "in"];
    for (const input of [...inputs, "curl -T in/b.bin http://x/"]) {
      const out = `made/${inputs.indexOf(input)}.yml`;
      const { code, stderr } = await runMain(["new", input, "-o", out], { cwd });
      assertEquals(code, 0, stderr);
      const text = await Deno.readTextFile(`${cwd}/${out}`);
      if (input !== "in/a.har") assertStringIncludes(text, "file: ../in/b.bin\n");
      if (input === "in/a.hurl") assertStringIncludes(text, "file: /b.bin\n");
    }
  });
});
