/**
 * Runs examples/release against servers of the system: nginx as the site, its canary and one that is
 * not up yet, and an authenticator in Python.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runCli } from "../support/run/run_cli.ts";
import type { CliResult } from "../support/run/run_cli.ts";
import { freePort, freePorts } from "../support/servers/free_port.ts";
import { withFiles } from "../support/temp_dir.ts";
import { assertPassed } from "../support/assert_passed.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/release/", import.meta.url));

function example(name: string, env: Record<string, string>): Promise<CliResult> {
  return runCli([name], { cwd: EXAMPLES, env });
}

async function passes(name: string, env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await example(name, env);
  assertEquals([code, stderr], [0, ""], stdout);
  assertPassed(stdout);
  return stdout;
}

/** Runs a server of the system while `use` runs. */
async function withProgram(command: readonly string[], use: () => Promise<void>): Promise<void> {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, { args, stdout: "null", stderr: "null" }).spawn();
  try {
    await use();
  } finally {
    child.kill("SIGTERM");
    await child.status;
  }
}

/** Waits until something listens at a port. */
async function untilOpen(port: number): Promise<void> {
  for (let tries = 0;; tries++) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (tries === 400) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

function nginx(directory: string, servers: string): string {
  return `daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}
http {
  access_log off; default_type application/json;
  client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  ${servers}
}`;
}

const PRODUCTS = (id: string, stock: number) =>
  `{"request_id":"${id}","updated_at":"${id}","products":[{"name":"tea","stock":12,` +
  `"updated_at":"${id}"},{"name":"mug","stock":${stock},"updated_at":"${id}"}]}`;

function site(port: number, id: string, stock: number): string {
  return `server {
    listen 127.0.0.1:${port};
    location = /catalogue { return 200 '${PRODUCTS(id, stock)}'; }
    location = /prices { return 200 '{"tea":4.5,"mug":12}'; }
    location = /health { return 200 '{"status":"ok"}'; }
    location = /version { return 200 '{"version":"1.3.0"}'; }
    location = /robots.txt { default_type text/plain; return 200 'User-agent: *\\nDisallow: /cart\\n'; }
    location ~ ^/(\\w+)/(\\w+)/catalogue$ { return 200 '{"tenant":"$1","region":"$2"}'; }
    location /search { return 500; }
  }`;
}

Deno.test("the examples of releases pass and fail at nginx as they say", async (test) => {
  const [port, canary, other] = freePorts(3);
  await withFiles({}, async (directory) => {
    await Deno.chmod(directory, 0o755);
    const servers = site(port!, "a", 3) + site(canary!, "b", 3) + site(other!, "c", 4);
    await Deno.writeTextFile(`${directory}/nginx.conf`, nginx(directory, servers));
    await withProgram(["/usr/sbin/nginx", "-c", `${directory}/nginx.conf`], async () => {
      await untilOpen(port!);
      const url = (port?: number) => `http://127.0.0.1:${port}`;
      const env = { SITE_URL: url(port), PRODUCTION_URL: url(port), CANARY_URL: url(canary) };
      await test.step("answers.yml", async () => void await passes("answers.yml", env));
      await test.step("canary.yml", async () => {
        await passes("canary.yml", env);
        const wrong = await example("canary.yml", { ...env, CANARY_URL: url(other) });
        assertEquals(wrong.code, 1);
        assertStringIncludes(wrong.stdout, "products[1].stock");
      });
      await test.step("tenants.yml", async () => {
        const stdout = await passes("tenants.yml", env);
        assertStringIncludes(stdout, "initech in us");
        assert(!stdout.includes("globex in us"));
      });
      await test.step("quarantine.yml", async () => {
        const { code, stdout } = await example("quarantine.yml", env);
        assertEquals(code, 0, stdout);
        assertStringIncludes(stdout, "allowed failure");
      });
    });
  });
});

Deno.test("examples/release/waves.yml stops at the first bad wave", async () => {
  const port = freePort();
  await withFiles({}, async (directory) => {
    await Deno.chmod(directory, 0o755);
    const conf = `${directory}/nginx.conf`;
    const serve = (code: number) =>
      Deno.writeTextFile(
        conf,
        nginx(
          directory,
          `split_clients $request_uri $code { 1% ${code}; * 200; }
           server {
             listen 127.0.0.1:${port};
             location / { if ($code = 500) { return 500; } return 200; }
           }`,
        ),
      );
    await serve(200);
    const shift = `${directory}/shift.sh`;
    await Deno.writeTextFile(
      shift,
      `#!/bin/sh -e
old=$(pgrep -P "$(cat ${directory}/nginx.pid)")
sed -i "s/{ [0-9]*% /{ $1% /" ${conf}
/usr/sbin/nginx -c ${conf} -s reload
for worker in $old; do while kill -0 $worker 2>/dev/null; do sleep 0.01; done; done
echo $1 >> ${directory}/waves
`,
      { mode: 0o755 },
    );
    const waves = () => Deno.readTextFile(`${directory}/waves`);
    const env = { SITE_URL: `http://127.0.0.1:${port}`, SHIFT_TRAFFIC: shift };
    await withProgram(["/usr/sbin/nginx", "-c", conf], async () => {
      await untilOpen(port);
      await passes("waves.yml", env);
      assertEquals(await waves(), "5\n25\n100\n");
      await serve(500);
      const bad = await example("waves.yml", env);
      assertEquals(bad.code, 1, bad.stdout);
      assertEquals((await waves()).slice("5\n25\n100\n".length), "5\n", bad.stdout);
    });
  });
});

Deno.test("examples/release/health.yml waits for a server that accepts and hangs at first", async () => {
  const port = freePort();
  await withFiles({}, async (directory) => {
    await Deno.chmod(directory, 0o755);
    await Deno.writeTextFile(`${directory}/nginx.conf`, nginx(directory, site(port, "a", 3)));
    const hanging = Deno.listen({ hostname: "127.0.0.1", port });
    const run = passes("health.yml", { SITE_URL: `http://127.0.0.1:${port}` });
    const first = await hanging.accept();
    first.close();
    hanging.close();
    await withProgram(["/usr/sbin/nginx", "-c", `${directory}/nginx.conf`], async () => {
      assertStringIncludes(await run, "✓ the release is healthy within two minutes");
    });
  });
});

const LOGIN = `import http.server, json, pyotp, sys
class Login(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        good = pyotp.TOTP(sys.argv[2]).verify(body.get("code", ""), valid_window=1)
        self.send_response(200 if good else 401)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"user": body["user"]} if good else {}).encode())
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Login).serve_forever()
`;

Deno.test("examples/release/one_time_code.yml logs in at an authenticator", async () => {
  const port = freePort();
  const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
  await withProgram(["/usr/bin/python3", "-c", LOGIN, `${port}`, secret], async () => {
    await untilOpen(port);
    const env = { SITE_URL: `http://127.0.0.1:${port}`, TOTP_SECRET: secret };
    await passes("one_time_code.yml", env);
    const wrong = await example("one_time_code.yml", { ...env, TOTP_SECRET: "GEZDGNBVGY3TQOJQ" });
    assertEquals(wrong.code, 1);
    assertStringIncludes(wrong.stdout, "res.code is 401");
    assert(!wrong.stdout.includes("GEZDGNBV"), wrong.stdout);
  });
});

Deno.test("examples/release/service.yml starts a server for its job", async () => {
  await passes("service.yml", { PORT: `${freePort()}` });
});
