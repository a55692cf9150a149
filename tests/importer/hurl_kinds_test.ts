import { assertEquals } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";

const DATA = {
  ...{ a: { b: 1, "c d": 2 }, text: "tea", word: "héllo", list: ["tea", 2, null], one: ["tea"] },
  ...{ none: [], nil: null, n: 5, s: "5", half: 1.5, empty: "", map: {}, b64: "iTT/" },
  ...{
    day: "2024-03-20 11:23:56z",
    local: "2024-03-20T11:23:56",
    id: "01cc0f5448854a1d9121ae5d316a33c5",
  },
  ...{ json: '{"a": [1, 2]}', url: "a/b!*'()é", yes: true },
};

/** The text has numbers that JavaScript writes in another way. */
const JSON_TEXT = JSON.stringify({ ...DATA, whole: "W" }).replace('"W"', "1.0");

const BYTES = Uint8Array.of(0, 0x89, 0x34, 0xff, 1);

function respond(request: Request): Response {
  const { pathname, origin } = new URL(request.url);
  const answer = (body: BodyInit, type: string) =>
    new Response(body, { headers: { "content-type": type } });
  switch (pathname) {
    case "/json":
      return answer(JSON_TEXT, "application/json");
    case "/exponent":
      return answer('{"e": 1e3, "n": 5}', "application/json");
    case "/items":
      return answer('["id"]', "application/json");
    case "/text":
      return answer("héllo wörld 42", "text/plain; charset=utf-8");
    case "/latin1":
      return answer(Uint8Array.of(0xe9, 0x41), "text/plain; charset=iso-8859-1");
    case "/bytes":
      return answer(BYTES, "application/octet-stream");
    case "/html":
      return answer("<DIV id=x>x</DIV><p>a<p>b", "text/html; charset=utf-8");
    case "/xml":
      return answer('<a xmlns="u:1" xmlns:n="u:2"><b>1</b><n:c>2</n:c></a>', "application/xml");
    case "/page":
      return answer("<html><p>x</p></html>", "application/xml");
    case "/redirect":
      return Response.redirect(`${origin}/other?1`, 302);
    case "/other":
      return Response.redirect(`${origin}/text`, 302);
    case "/headers": {
      const response = answer("", "text/plain");
      for (const value of ["one", "two, three"]) response.headers.append("X-Two", value);
      response.headers.set("X-Comma", "one, two");
      response.headers.set("X-Number", "7");
      for (const attributes of ["a=1; Max-Age=60; Secure", "b=2; Domain=.localhost; Path=/x"]) {
        response.headers.append("Set-Cookie", attributes);
      }
      return response;
    }
    default:
      return answer("{}", "application/json");
  }
}

/** Asserts by what Hurl makes of them: it passes, it fails, or it is left out with a comment. */
type Cases = Readonly<
  Record<string, { readonly pass: string[]; readonly fail: string[]; readonly left?: string[] }>
>;

const ASSERTS: Cases = {
  "/json": {
    pass: [
      'jsonpath "$.a.b" == 1',
      "jsonpath \"$.a['c d']\" == 2",
      'jsonpath "$.nil" exists',
      'jsonpath "$.nil" == null',
      'jsonpath "$.list[2]" == null',
      'jsonpath "$.text[0]" not exists',
      'jsonpath "$.text.a" not exists',
      'jsonpath "$.none[0]" not exists',
      'jsonpath "$.gone" not == "x"',
      'jsonpath "$.gone" not isString',
      'jsonpath "$.gone" not contains "x"',
      'jsonpath "$.text" != "x"',
      'jsonpath "$.list" contains "tea"',
      'jsonpath "$.list" includes 2',
      'jsonpath "$.list" contains null',
      'jsonpath "$.one[*]" == "tea"',
      'jsonpath "$.list[?(@ == 2)]" == 2',
      'jsonpath "$.one[*]" contains "te"',
      'jsonpath "$.list" count == 3',
      'jsonpath "$.list" last == null',
      'jsonpath "$.list" nth -2 == 2',
      'jsonpath "$.list[*]" isCollection',
      'jsonpath "$.none" isEmpty',
      'jsonpath "$.map" isEmpty',
      'jsonpath "$.empty" isEmpty',
      'jsonpath "$.n" >= {{five}}',
      'jsonpath "$.n" == {{five}}',
      'jsonpath "$.s" == "{{five}}"',
      'jsonpath "$.nil" == {{nothing}}',
      'jsonpath "$.{{key}}" == "tea"',
      'jsonpath "$.n" isInteger',
      'jsonpath "$.whole" isFloat',
      'jsonpath "$.whole" not isInteger',
      'jsonpath "$.half" isFloat',
      'jsonpath "$.whole" == 1',
      'jsonpath "$.word" matches /^\\w+$/',
      'jsonpath "$.text" matches "^te[a]$"',
      'jsonpath "$.word" regex /h(.)l/ == "é"',
      'jsonpath "$.word" regex /x(.)/ not exists',
      'jsonpath "$.day" isIsoDate',
      'jsonpath "$.local" not isIsoDate',
      'jsonpath "$.id" isUuid',
      'jsonpath "$.text" not isUuid',
      'jsonpath "$.b64" base64Decode == hex,8934ff;',
      'jsonpath "$.json" jsonpath "$.a" count == 2',
      'jsonpath "$.url" urlEncode == "a/b%21%2A%27%28%29%C3%A9"',
      'jsonpath "$.s" toInt == 5',
      'jsonpath "$.text" split "e" count == 2',
      'jsonpath "$.text" == `tea`',
      'jsonpath "$.text" == ```tea``` # said',
      'jsonpath "$.text" == "te\\u{61}"#without a space',
      'jsonpath "$.yes" == true',
      "status == 200",
      'body contains "tea"',
      'header "Content-Type" == "application/json"',
      "duration < 60000",
      'variable "five" == 5',
      'variable "nothing" == null',
      "bytes count > 3",
    ],
    fail: [
      'jsonpath "$.a.b" == "1"',
      'jsonpath "$.gone" == null',
      'jsonpath "$.gone" != "x"',
      'jsonpath "$.nil" not exists',
      'jsonpath "$.nil" not contains "x"',
      'jsonpath "$.nil" not isEmpty',
      'jsonpath "$.text" count == 3',
      'jsonpath "$.map" count == 0',
      'jsonpath "$.one[*]" count == 1',
      'jsonpath "$.text" first == "t"',
      'jsonpath "$.text" nth 0 == "t"',
      'jsonpath "$.none" first == null',
      'jsonpath "$.gone" count == 0',
      'jsonpath "$.gone" count != 1',
      'jsonpath "$.gone" toInt not == 1',
      'jsonpath "$.n" not contains "x"',
      'jsonpath "$.n" not isUuid',
      'jsonpath "$.n" not isIsoDate',
      'jsonpath "$.n" not startsWith "x"',
      'jsonpath "$.s" > 4',
      'jsonpath "$.s" == {{five}}',
      'jsonpath "$.n" == "{{five}}"',
      'jsonpath "$.list" contains "te"',
      'jsonpath "$.whole" isInteger',
      'jsonpath "$.n" isFloat',
      'jsonpath "$.word" not matches /^\\w+$/',
      'jsonpath "$.local" isIsoDate',
      'jsonpath "$.b64" base64Decode == hex,8934fe;',
      'jsonpath "$.text" jsonpath "$" exists',
      'jsonpath "$.n" == 5.5',
      "bytes isEmpty",
      'variable "five" == "5"',
    ],
    left: [
      'jsonpath "$.word" matches /\\bh/',
      'jsonpath "$.word" matches "{{key}}"',
      'jsonpath "$.n" toString == "5"',
      'jsonpath "$.day" toDate "%Y" exists',
      'jsonpath "$.text" toHex == "00"',
      'jsonpath "$.text" regex /tea/ not exists',
      'jsonpath "$.day" > "2024-01-01"',
      'certificate "Subject" == "x"',
      'jsonpath "$.day" daysAfterNow > 3',
      'jsonpath "$.text" replaceRegex /a/ "b" == "x"',
      'ip == "127.0.0.1"',
      'header "Content-Type" location == "x"',
      "bytes contains hex,34ff;",
      "status exists",
    ],
  },
  "/exponent": {
    pass: ['jsonpath "$.e" == 1000'],
    fail: ['jsonpath "$.e" isInteger', 'jsonpath "$.e" not isFloat'],
  },
  "/items": { pass: ['jsonpath "$.id" not exists'], fail: ['jsonpath "$.id" exists'] },
  "/text": {
    pass: [
      'body == "héllo wörld 42"',
      'regex /(\\d+)$/ == "42"',
      "regex /(x)/ not exists",
      "bytes count == 16",
    ],
    fail: [
      'jsonpath "$" exists',
      'jsonpath "$.a" not exists',
      'jsonpath "$[0]" not exists',
      'body not contains "wör"',
      'regex /(x)/ != "y"',
      'xpath "//a" not exists',
    ],
  },
  "/latin1": {
    pass: ['body == "éA"', "bytes == hex,e941;", "bytes count == 2", "bytes != hex,c3a941;"],
    fail: ["bytes == hex,c3a941;", "sha256 == hex,00;"],
  },
  "/bytes": {
    pass: [
      "bytes == hex,008934ff01;",
      "bytes == base64,AIk0/wE=;",
      "bytes count == 5",
      "bytes not isEmpty",
      "bytes == file,data.bin;",
      'md5 toHex == "cd05adc001c3ef3fbdf459e29382c41c"',
      "sha256 == hex,SHA256;",
    ],
    fail: [
      "bytes isEmpty",
      "bytes == hex,00;",
      'body == ""',
      "body isEmpty",
      'body not == "x"',
      'body != "x"',
      'body not contains "x"',
      "regex /(x)/ not exists",
      "bytes != file,data.bin;",
      'jsonpath "$.a" not exists',
    ],
  },
  "/html": {
    pass: [
      'xpath "//div" exists',
      'xpath "/html/body/p" count == 2',
      'xpath "string(//p)" == "a"',
      'xpath "string(//*[@id=\'{{ident}}\'])" == "x"',
      'xpath "count(//p)" isFloat',
      'xpath "count(//p)" == 2',
      'xpath "//p" != "a"',
      'xpath "//h1" not exists',
      'xpath "//h1" isEmpty',
      'xpath "//p" isCollection',
      'xpath "boolean(//h1)" == false',
    ],
    fail: [
      'xpath "//p" == "a"',
      'xpath "//p" contains "a"',
      'xpath "//p" not contains "x"',
      'xpath "string(//p)" count == 1',
      'xpath "count(//p)" isString',
      'xpath "//h1" exists',
    ],
    left: ['xpath "count(//p)" isInteger', 'xpath "//p" nth 0 exists'],
  },
  "/xml": {
    pass: ['xpath "string(/_:a/_:b)" == "1"', 'xpath "//n:c" count == 1', 'xpath "//b" not exists'],
    fail: ['xpath "//b" exists'],
  },
  "/page": { pass: ['xpath "/html/p" exists'], fail: ['xpath "/html/body" exists'] },
  "/headers": {
    pass: [
      'header "X-Two" count == 2',
      'header "X-Two" contains "two, three"',
      'header "X-Two" not == "one"',
      'header "x-two" nth 0 == "one"',
      'header "{{name}}" == "7"',
      'header "X-Comma" == "one, two"',
      'header "X-Comma" contains "e, t"',
      'header "Gone" not exists',
      'header "Gone" not contains "x"',
      'header "Set-Cookie" count == 2',
      'cookie "a" == "1"',
      'cookie "{{letter}}" == "1"',
      'cookie "a[Max-Age]" == 60',
      'cookie "b[Domain]" == ".localhost"',
      'cookie "b[Path]" == "/x"',
      'cookie "a[Secure]" exists',
      'cookie "b[Secure]" not exists',
      'cookie "a[Domain]" not exists',
      'cookie "a[Expires]" not exists',
      'cookie "c" not exists',
    ],
    fail: [
      'header "X-Two" == "one, two, three"',
      'header "X-Two" contains "on"',
      'header "X-Comma" count == 2',
      'header "X-Comma" == "one"',
      'header "Gone" != "x"',
      'header "Gone" count != 1',
      'cookie "a[Domain]" exists',
      'cookie "a[Max-Age]" == "60"',
      'cookie "c" != "x"',
      'header "X-Number" == 7',
    ],
  },
};

const OPTIONS = `[Options]
variable: five=5
variable: nothing=null
variable: key=text
variable: ident=x
variable: name=X-Number
variable: letter=a
`;

/** What a step with these lines sends after one that captures `id` (7), `q` (a"b) and `nil`. */
const SENT: readonly (readonly [lines: string, sent: Partial<Seen>])[] = [
  ["[Form]\n{{key}}: 1\nb: {{q}}\n", { body: "text=1&b=a%22b" }],
  ['{"id": "{{id}}", "n": {{id}}, "q": "{{q}}", "x": "<{{q}}>"}', {
    body: '{"id":"7","n":7,"q":"a\\"b","x":"<a\\"b>"}',
  }],
  ['{"n": 1.0, "id": "{{id}}", "q": "{{q}}"} # c', { body: '{"n": 1.0, "id": "7", "q": "a\\"b"}' }],
  ['{"nil": {{nil}}, "five": {{five}}}', { body: '{"nil":null,"five":5}' }],
  ['"{{q}}"', { body: '"a\\"b"' }],
  ["12", { body: "12" }],
  ["true # c", { body: "true" }],
  ["null", { body: "null" }],
  ["{{id}}", { body: "7" }],
  ['Content-Type: text/plain\n{"a": 1}', { body: '{"a":1}', type: "text/plain" }],
  ["X-A: caf\\u{e9}\\t\\\\# c", { header: "caf\u00c3\u00a9\t\\" }],
  ["X-A: a\\#b # c", { header: "a#b" }],
  ["X-A: a#c", { header: "a" }],
  ['X-A: "a # b"', { header: '"a' }],
  ["X-A: {{nothing}}", { header: "null" }],
  ["[Query]\na\\:b: \\u{e9}\n\\u{5b}0\\u{5d}: {{id}}", { path: "?a%3Ab=%C3%A9&%5B0%5D=7" }],
  ["[Cookies]\na: b\\u{21}\nc: {{id}}", { cookie: "a=b!; c=7" }],
  ["`a\\tb\\`{{id}}`", { body: "a\tb`7" }],
  ["```\r\na\r\n{{id}}\r\n```", { body: "a\r\n7\r\n" }],
  ["```raw\n{{id}}\n```", { body: "{{id}}\n" }],
  ["```xml\n<a>{{id}}</a>\n```", { body: "<a>7</a>\n", type: "application/xml" }],
  ["<a>\n{{id}}\nGET http://x\n</a>", {
    body: "<a>\n{{id}}\nGET http://x\n</a>",
    type: "application/xml",
  }],
  ["```\nGET http://x\nHTTP 200\n```", { body: "GET http://x\nHTTP 200\n" }],
  ["hex,c3a9;", { body: "\u00e9" }],
  ["base64, dGVh ; # c", { body: "tea" }],
  ["file,a\\ b.txt;", { body: "from a file" }],
  ["[Options]\nskip: {{nothing}}x", { left: 1 }],
  ["[Options]\nmax-redirs: {{five}}\nmax-time: 5\ndelay: 1ms\nretry: {{zero}}", {}],
  ["[Options]\nmax-redirs: {{id}}", { left: 1 }],
  ["[Options]\nretry: {{unset}}\ndelay: {{unset}}\ninsecure: {{unset}}", { left: 3 }],
  ["[Options]\naws-sigv4: aws:amz:x\nrepeat: 3", { left: 2 }],
  ["[Options]\ncompressed: true", { encoding: "gzip, deflate" }],
  ["# see {{docs}}", { encoding: null }],
  ["[Options]\nvariable: five=6\n[Query]\nv: {{five}}", { path: "?v=6" }],
  ["[Options]\nvariable: id=6\n[Query]\nv: {{id}}", { path: "?v=6" }],
  ["[Options]\nvariable: w={{id}}-{{five}}\n[Query]\nv: {{w}}", { path: "?v=7-5" }],
  ["[Query]\nv: {{five}}", { path: "?v=5" }],
  ['```graphql\n{ a }\nvariables { "id": {{id}}, "s": "{{id}}" }\n```', {
    body: '{"query":"{ a }","variables":{"id":7,"s":"7"}}',
  }],
];

interface Seen {
  readonly body: string;
  readonly path: string;
  readonly header: string | null;
  readonly type: string | null;
  readonly cookie: string | null;
  readonly encoding: string | null;
  readonly left: number;
}

Deno.test("new --from hurl: what is sent is what Hurl sends", async () => {
  const seen: Omit<Seen, "left">[] = [];
  await using server = withServer(async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/first") return Response.json({ id: 7, q: 'a"b', nil: null });
    const header = (name: string) => request.headers.get(name);
    seen.push({
      body: await request.text(),
      path: search,
      header: header("x-a"),
      type: header("content-type"),
      cookie: header("cookie"),
      encoding: header("accept-encoding"),
    });
    return new Response("");
  });
  const wrong: unknown[] = [];
  for (const [lines, { left = 0, ...sent }] of SENT) {
    const file = `GET URL/first
[Options]
variable: five=5
variable: zero=0
variable: nothing=null
variable: key=text
HTTP 200
[Captures]
id: jsonpath "$.id"
q : jsonpath "$.q"
nil: jsonpath "$.nil"

QUERY URL/second
${lines}
HTTP *
`;
    const { code, notes, text, out } = await translate(server.url, file);
    const got = seen.pop() as Record<string, unknown> | undefined;
    const right = notes === left && code === 0 && seen.length === 0 &&
      Object.entries(sent).every(([name, value]) => got?.[name] === value);
    if (!right) wrong.push({ lines, got, notes, text: text.split("method: QUERY")[1], out });
    seen.length = 0;
  }
  assertEquals(wrong, []);
});

Deno.test("new --from hurl: long bodies and many asserts fit into expressions", async () => {
  const text = "tea ".repeat(4000);
  await using server = withServer(() => new Response(text));
  const asserts = Array.from(
    { length: 300 },
    (_, index) => `body contains "${"tea ".repeat(9)}" #${index}`,
  );
  const file = (body: string) =>
    `GET URL/{{a}}\n[Options]\nvariable: a=1\nHTTP 200\n[Asserts]\n${
      asserts.join("\n")
    }\n\`${body}\`\n`;
  for (const [body, expected] of [[text, 0], [`${text}x`, 1]] as const) {
    const { code, notes, out } = await translate(server.url, file(body));
    assertEquals([code, notes], [expected, 0], out);
  }
});

/** Captures, and what the next step reads; null where the first step fails. */
const CAPTURED: readonly (readonly [captures: string, value: string | null])[] = [
  ['x: jsonpath "$.text"', "tea"],
  ['x: jsonpath "$..gone"', null],
  ['x: jsonpath "$.gone"', null],
  ['x: jsonpath "$.text[0]"', null],
  ['x: jsonpath "$.list[1]"', "2"],
  ['x: jsonpath "$.one[*]"', "tea"],
  ['x: header "gone"', null],
  ['x: header "Content-Type" split "/" first', "application"],
  ['x: cookie "n"', null],
  ['x: regex "text.:.(t.)"', "te"],
  ["x: regex /nope(.)/", null],
  ['x: jsonpath "$.text" regex /(z)/', null],
  ['x: jsonpath "$.text" regex /(.)$/', "a"],
  ['x: jsonpath "$.gone" toInt', null],
  ['x: jsonpath "$.none" nth 0', null],
  ['y: jsonpath "$.text"\nx: variable "y" replace "t" "s"', "sea"],
  ['y: jsonpath "$.text"\nx: jsonpath "$.{{y}}"', null],
  ['y: jsonpath "$.json"\nx: variable "y" jsonpath "$.a[1]"', "2"],
  ['ABC : jsonpath "$.s"\nx: variable "ABC"', "5"],
  ["x: status", "200"],
  ['x: jsonpath "$.text" redact', "tea"],
  ["x: redirects nth 0 location", null],
];

Deno.test("new --from hurl: a capture that finds nothing fails", async () => {
  let path = "";
  await using server = withServer((request) => {
    if (request.url.endsWith("/json")) return respond(request);
    path = new URL(request.url).pathname;
    return new Response("");
  });
  const wrong: unknown[] = [];
  for (const [captures, value] of CAPTURED) {
    path = "";
    const file = `GET URL/json\nHTTP 200\n[Captures]\n${captures}\n\nGET URL/is/{{x}}\nHTTP 200\n`;
    const { code, notes, text, out } = await translate(server.url, file);
    const expected = value === null ? [1, 0, ""] : [0, 0, `/is/${value}`];
    if (JSON.stringify([code, notes, path]) !== JSON.stringify(expected)) {
      wrong.push({ captures, code, path, text, out });
    }
  }
  assertEquals(wrong, []);
});

async function translate(
  url: string,
  rest: string,
): Promise<
  { readonly text: string; readonly notes: number; readonly code: number; readonly out: string }
> {
  const files = { "a.hurl": rest.replaceAll("URL", url) };
  return await withFiles(files, async (cwd) => {
    await Deno.writeFile(`${cwd}/data.bin`, BYTES);
    await Deno.writeTextFile(`${cwd}/a b.txt`, "from a file");
    const { stdout: text, stderr } = await runMain(["new", "--from", "hurl", "a.hurl"], { cwd });
    if (text === "") throw new Error(`${rest}\n${stderr}`);
    await Deno.writeTextFile(`${cwd}/made.yml`, text);
    const { code, stdout, stderr: err } = await runMain(["made.yml"], { cwd, env: {} });
    return { text, notes: text.match(/# Not translated/g)?.length ?? 0, code, out: stdout + err };
  });
}

for (const [path, { pass, fail, left = [] }] of Object.entries(ASSERTS)) {
  Deno.test(`new --from hurl: asserts have the verdicts of Hurl about ${path}`, async () => {
    await using server = withServer(respond);
    const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", BYTES)).toHex();
    const fill = (assert: string) => assert.replace("SHA256", sha256);
    const wrong: string[] = [];
    for (
      const [verdict, asserts] of [["pass", pass], ["fail", fail], ["left", left]] as const
    ) {
      for (const assert of asserts) {
        const file = `GET URL${path}\n${OPTIONS}HTTP 200\n[Asserts]\n${fill(assert)}\n`;
        const { code, notes, text, out } = await translate(server.url, file);
        const got = notes > 0 ? "left" : code === 0 ? "pass" : "fail";
        if (got !== verdict) {
          wrong.push(`${assert}: ${got}, not ${verdict}\n${text.split("test:")[1]}\n${out}`);
        }
      }
    }
    assertEquals(wrong.join("\n"), "");
  });
}
