/**
 * Builds the one file and runs it as users do: from a URL that redirects, in an empty directory,
 * with nothing in the cache and no registry that answers.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import config from "../../../deno.json" with { type: "json" };
import { openShop } from "../../../scripts/demo_server.ts";
import { Editor } from "../../support/programs/editor.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));

const WORKFLOWS = {
  "passes.yml": `name: passes
jobs:
- name: j
  steps:
  - uses: http
    with: {get: "{{ vars.url }}/hello"}
    test: res.code == 200 && res.body.path == "/hello"
  - uses: mine
    test: res.sum == 3
vars: {url: "{{ URL }}"}
`,
  "fails.yml": `name: fails
jobs:
- name: j
  steps:
  - uses: echo
    with: {message: hello}
    test: res.message startsWith "b"
`,
  "wrong.yml": "name: wrong\njobs:\n- name: j\n  steps: [{uses: hallo}]\n",
  "api.yml": "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths: {}\n",
  "plugins/runner-mine.ts": `export default ({ action, integer }: any) => action({
  name: "mine",
  summary: "Adds",
  params: { a: integer("A number").default(1) },
  run: (_: unknown, { a }: { a: number }) => Promise.resolve({ res: { sum: a + 2 } }),
});
`,
};

/** Steps that need a library each; those that need a server find none. */
const LIBRARY_USERS = `name: libraries
vars: { url: "{{SHOP_URL}}" }
jobs:
  - name: no servers
    steps:
      - { uses: redis, with: { url: "redis://127.0.0.1:1", command: PING } }
      - { uses: db, with: { dsn: "postgres://u:password@127.0.0.1:1/x", query: select 1 } }
      - { uses: db, with: { dsn: "mysql://u:password@127.0.0.1:1/x", query: select 1 } }
      - { uses: smtp, with: { addr: "127.0.0.1:1", from: a@b.example, to: c@d.example } }
      - { uses: imap, with: { host: 127.0.0.1, port: 1, username: a, password: secret-key, commands: [{ name: noop }] } }
      - { uses: websocket, with: { url: "{{vars.url}}/support", send: bye, max_messages: 9 }, test: res.close_reason == "see you" }
      - { uses: sse, with: { url: "{{vars.url}}/deliveries", max_events: 3 }, test: len(res.events) == 3 }
      - uses: ssh
        with:
          host: 127.0.0.1
          port: 1
          user: u
          key_file: "-----BEGIN OPENSSH PRIVATE KEY-----\\nAAAA\\n-----END OPENSSH PRIVATE KEY-----"
          cmd: "true"
      - uses: grpc
        with: { addr: "127.0.0.1:1", proto: api.proto, service: S, method: M, body: { a: "1" } }
      - uses: http
        with:
          get: http://127.0.0.1:1/
          auth: { aws: { region: a, service: s3, access_key_id: b, secret_access_key: secret-key } }
      - { uses: browser, with: { executable: /bin/sh, actions: [{ name: wait_ready }] } }
      - { uses: dns, with: { name: a.example, server: "127.0.0.1:1", timeout: 100ms } }
  - name: no need of any
    load: { users: 2, count: 2, expect: "stats.p95 < 10" }
    steps:
      - { uses: db, with: { dsn: "sqlite://:memory:", query: select 1 as a }, test: "res.rows[0].a == 1" }
      - uses: echo
        with: { message: x }
        test: |
          json_path({"a": [1]}, "$.a[0]")[0] == 1 &&
          css("<p>x</p>", "p")[0] == "x" && capture("ab", "a(b)")[1] == "b" && xpath("<a>x</a>", "//a")[0] == "x" &&
          parse_csv("a\\n1")[0].a == "1" && parse_yaml("a: 1").a == 1 &&
          schema(1, {"$schema": "http://json-schema.org/draft-04/schema#"}) &&
          schema("a@b.example", {"format": "email"}) &&
          schema(1, {"$schema": "https://json-schema.org/draft/2019-09/schema"}) &&
          schema(1, {"$schema": "http://json-schema.org/draft-07/schema#"})
`;

const PROTO = `syntax = "proto3";
message T { string a = 1; }
service S { rpc M(T) returns (T); }
`;

Deno.test("the bundle is one file that runs from any URL", async (test) => {
  await withFiles({}, async (directory) => {
    const commits = [await headOf(CHECKOUT)];
    const said = await runDeno(["run", "-A", `${CHECKOUT}scripts/bundle.ts`, directory]);
    assertEquals(said.code, 0, said.stdout + said.stderr);
    const path = `${directory}/runner.js`;
    const text = await Deno.readTextFile(path);

    await test.step("it is small, and its size is printed", async () => {
      const { size } = await Deno.stat(path);
      assert(size < 1_760_000, `${size} bytes`);
      assertStringIncludes(said.stdout, `runner.js  ${(size / 1000).toFixed(1)} kB`);
      assertMatch(said.stdout, /split\/ {2}[\d.]+ kB in \d+ files/);
    });

    await test.step("it imports built-in modules only, and only when they are needed", async () => {
      assertEquals(text.includes("createRequire"), false);
      const { stdout } = await runDeno(["info", "--json", "--no-config", path]);
      const [module] = JSON.parse(stdout).modules as Module[];
      const imports = module!.dependencies ?? [];
      assertEquals(imports.filter(({ specifier }) => !specifier.startsWith("node:")), []);
      assertEquals(imports.filter(({ isDynamic }) => !isDynamic), []);
    });

    await test.step("it loads the pages of the documents from the file beside it", async () => {
      const help = ["help", "functions"];
      const { code, stdout } = await runDeno(["run", "-A", "--no-config", path, ...help]);
      assertEquals(code, 0);
      assertStringIncludes(stdout, "FUNCTIONS\n");
      await Deno.mkdir(`${directory}/alone`);
      await Deno.copyFile(path, `${directory}/alone/runner.js`);
      const alone = `${directory}/alone/runner.js`;
      const missing = await runDeno(["run", "-A", "--no-config", alone, ...help]);
      assertEquals(missing.code, 1);
      assertMatch(
        missing.stderr,
        /^runner: error: the pages of the documents are in runner-pages\.js, which cannot be loaded: /,
      );
      assertStringIncludes(missing.stderr, "\n  download it from the same release into");
    });

    await test.step("it is stamped with version and commit", async () => {
      const { stdout } = await runDeno(["run", "-A", "--no-config", path, "--version"]);
      // Somebody may commit meanwhile.
      commits.push(await headOf(CHECKOUT));
      const lines = commits.map((commit) =>
        `Runner Version ${config.version} (commit: ${commit.slice(0, 7)})\n`
      );
      assert(lines.includes(stdout), stdout);
    });

    await test.step("the chunks run by themselves", async () => {
      const options = ["-A", "--no-config", "--no-npm", "--no-remote"];
      const env = { DENO_DIR: `${directory}/chunks_cache` };
      const program = `${directory}/split/cli.js`;
      const { code, stdout } = await runDeno(["run", ...options, program, "--help"], { env });
      assertEquals(code, 0);
      assertStringIncludes(stdout, "Usage: runner");
      const page = await runDeno(["run", ...options, program, "help", "functions"], { env });
      assertStringIncludes(page.stdout, "FUNCTIONS\n");
      const editor = new Editor({ program: ["run", ...options, `${directory}/split/cli.js`], env });
      assertEquals((await editor.initialize()).hoverProvider, true);
      assertEquals(await editor.end(), 0);
      await Deno.writeTextFile(`${directory}/libraries.yml`, LIBRARY_USERS);
      await Deno.writeTextFile(`${directory}/api.proto`, PROTO);
      const shop = openShop();
      const users = await runDeno(["run", ...options, program, `${directory}/libraries.yml`], {
        env: { ...env, SHOP_URL: shop.url },
      });
      await shop.close();
      assertEquals(users.code, 1);
      assertEquals(/internal error/.test(users.stdout), false, users.stdout);
      // The library judges this key.
      assertMatch(users.stdout, /Malformed OpenSSH private key$/m);
      // Each of them, and once in the list of failures.
      assertEquals(users.stdout.match(/ECONNREFUSED\)/g)?.length, 7 + 1, users.stdout);
      assertStringIncludes(users.stdout, "6 passed · 10 failed");
      assertStringIncludes(users.stdout, "/bin/sh ended with exit code 2 before it took commands");
    });

    await runFromUrl(test, text, await Deno.readTextFile(`${directory}/runner-pages.js`));
  });
});

async function runFromUrl(test: Deno.TestContext, text: string, pages: string): Promise<void> {
  const registry: string[] = [];
  const loaded: string[] = [];
  await using server = withServer((request) => {
    const { pathname, origin } = new URL(request.url);
    switch (pathname) {
      case "/latest/download/runner.js":
        return Response.redirect(`${origin}/objects/8f2c1d?signature=x`, 302);
      case "/objects/8f2c1d":
        return new Response(text, { headers: { "content-type": "application/octet-stream" } });
      case "/latest/download/runner-pages.js":
        return Response.redirect(`${origin}/objects/17ab9c`, 302);
      case "/objects/17ab9c":
        loaded.push(pathname);
        return new Response(pages, { headers: { "content-type": "application/octet-stream" } });
      case "/hello":
        return Response.json({ path: pathname });
      default:
        registry.push(pathname);
        return new Response("no", { status: 503 });
    }
  });
  const { url } = server;
  await withFiles(WORKFLOWS, async (cwd) => {
    const files = await namesIn(cwd);
    const cache = await Deno.makeTempDir({ prefix: "runner_test_" });
    const env: Record<string, string> = {
      DENO_DIR: cache,
      NPM_CONFIG_REGISTRY: url,
      JSR_URL: url,
      URL: url,
      RUNNER_PLUGIN_DIR: `${cwd}/plugins`,
    };
    const run = (args: string, permissions = ["-A"]) => {
      const program = `${url}/latest/download/runner.js`;
      return runDeno(["run", ...permissions, program, ...args.split(" ")], { cwd, env });
    };

    await test.step("from a URL it runs a workflow with requests and a plugin", async () => {
      const { code, stdout, stderr } = await run("passes.yml");
      assertEquals(code, 0, stdout + stderr);
    });

    await test.step("from a URL it prints where a test failed", async () => {
      const { code, stdout } = await run("fails.yml");
      assertEquals(code, 1);
      assertStringIncludes(stdout, "fails.yml:7:11: test is false");
    });

    await test.step("from a URL it prints what is wrong with a file", async () => {
      const { code, stderr } = await run("wrong.yml");
      assertEquals(code, 1);
      assertStringIncludes(stderr, "wrong.yml:4:18");
      assertStringIncludes(stderr, '"hello"');
    });

    assertEquals(loaded, [], "the pages of the documents were not needed so far");

    await test.step("from a URL it loads the pages of the documents once", async () => {
      for (const topic of ["functions", "http"]) {
        const { code, stdout, stderr } = await run(`help ${topic}`);
        assertEquals(code, 0, stderr);
        assertMatch(stdout, /^(FUNCTIONS|HTTP)\n/);
      }
      assertEquals(loaded.length, 1);
    });

    await test.step("what it contains needs no permission", async () => {
      const narrow = [
        "--no-prompt",
        "--allow-read",
        "--allow-env",
        `--allow-import=127.0.0.1:${server.port}`,
      ];
      const { code, stdout } = await run("fails.yml", narrow);
      assertEquals(code, 1);
      assertStringIncludes(stdout, "fails.yml:7:11: test is false");
    });

    assertEquals(registry, [], "no registry was asked so far");

    await test.step("a library that cannot be fetched is named with what needs it", async () => {
      const { code, stderr } = await run("gen api.yml");
      const name = "openapi-sampler";
      const specifier = config.imports[name].replace("npm:", "");
      assertEquals(code, 1);
      assertStringIncludes(stderr, `needs the npm package "${specifier}", which cannot be loaded`);
      assertEquals(/\n +at /.test(stderr), false, stderr);
      assert(registry.length > 0, "the registry was asked");
    });

    await test.step("every action that needs a library says so", async () => {
      const [actions = ""] = LIBRARY_USERS.split("  - name: no need of any");
      await Deno.writeTextFile(`${cwd}/libraries.yml`, actions);
      await Deno.writeTextFile(`${cwd}/api.proto`, PROTO);
      env.SHOP_URL = url;
      const { stdout, stderr } = await run("libraries.yml");
      const needed = /(?<=\d+: )\S[^:\n]* needs the npm package "[^"]+", which cannot be loaded/g;
      assertEquals(stdout.match(needed)?.length, 12, stdout + stderr);
      for (const name of ["libraries.yml", "api.proto"]) await Deno.remove(`${cwd}/${name}`);
    });

    assertEquals(await namesIn(cwd), files, "nothing was left behind");
    await Deno.remove(cache, { recursive: true });
  });
}

/** A module in the output of `deno info --json`. */
interface Module {
  readonly dependencies?: readonly { readonly specifier: string; readonly isDynamic?: boolean }[];
}

async function runDeno(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    ...options,
    env: { NO_COLOR: "1", ...options.env },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out!, stderr: err! };
}

/** The commit that is checked out, as git reports it; `unknown` without git. */
async function headOf(cwd: string): Promise<string> {
  try {
    const { stdout } = await new Deno.Command("git", { args: ["rev-parse", "HEAD"], cwd }).output();
    return new TextDecoder().decode(stdout).trim() || "unknown";
  } catch {
    return "unknown";
  }
}

async function namesIn(directory: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(directory), ({ name }) => name)).sort();
}
