import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runHttp } from "../../../src/actions/http/run_http.ts";
import type { Dict } from "../../../src/action/action.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { freePorts } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const EXAMPLES = fromFileUrl(new URL("../../../examples/http/", import.meta.url));
const FIXTURES = tlsPath("");
const ca = `${FIXTURES}authority.pem`;
const client = { cert: `${FIXTURES}good.pem`, key: `${FIXTURES}good_key.pem` };

/** Runs a server until `use` is done; it is up when a request to `url` is answered. */
async function withServer(
  command: readonly string[],
  url: string,
  context: TestContext,
  use: () => Promise<void>,
): Promise<void> {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, { args, stdout: "null", stderr: "null" }).spawn();
  try {
    for (let tries = 0;; tries++) {
      try {
        await runHttp({ get: url }, context);
        break;
      } catch (error) {
        if (tries === 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    await use();
  } finally {
    child.kill("SIGTERM");
    await child.status;
  }
}

function server(listen: string, certificate: string, directives = ""): string {
  return `server {
    listen ${listen}; server_name localhost; ${directives}
    ssl_certificate ${FIXTURES}${certificate}.pem;
    ssl_certificate_key ${FIXTURES}${certificate}_key.pem;
    location / { default_type text/plain; return 200 "$ssl_protocol $ssl_client_verify $server_protocol"; }
  }`;
}

Deno.test("http and nginx speak TLS: certificates, versions, mutual TLS, HTTP/2, a Unix socket", async () => {
  await using context = actionContext();
  const [plain, good, expired, future, other, self, mutual, old, older] = freePorts(9);
  const at = (port: number | undefined) => `https://127.0.0.1:${port}/`;
  await withFiles({}, async (directory) => {
    const socket = `${directory}/nginx.sock`;
    const tls = (port: number | undefined, options = "") => `127.0.0.1:${port} ssl${options}`;
    const config = `
daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}
http {
  access_log off; ssl_protocols TLSv1.2 TLSv1.3; gzip on; gzip_min_length 1; gzip_types text/plain;
  client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p; fastcgi_temp_path ${directory}/f;
  uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  server { listen 127.0.0.1:${plain}; listen unix:${socket}; location / { return 200 "plain $host"; } }
  ${server(tls(good, " http2"), "good")}
  ${server(tls(expired), "expired")}
  ${server(tls(future), "future")}
  ${server(tls(other), "other")}
  ${server(tls(self), "localhost")}
  ${server(tls(mutual), "good", `ssl_verify_client on; ssl_client_certificate ${ca};`)}
  ${server(tls(old), "good", "ssl_protocols TLSv1.2;")}
  ${server(tls(older), "good", "ssl_protocols TLSv1 TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;")}
}`;
    await Deno.chmod(directory, 0o755);
    await Deno.writeTextFile(`${directory}/nginx.conf`, config);
    const command = ["/usr/sbin/nginx", "-c", `${directory}/nginx.conf`];
    await withServer(command, `http://127.0.0.1:${plain}/`, context, async () => {
      const get = async (url: string, params: Dict = {}) =>
        (await runHttp({ get: url, ...params }, context)).res;
      assertEquals((await get(at(good), { tls: { ca } })).body, "TLSv1.3 NONE HTTP/1.1");
      for (const version of ["2", "auto"]) {
        const res = await get(at(good), { tls: { ca }, version });
        assertEquals([res.body, res.version], ["TLSv1.3 NONE HTTP/2.0", "2"]);
      }
      assertEquals(
        (await get(at(mutual), { tls: { ca, ...client } })).body,
        "TLSv1.3 SUCCESS HTTP/1.1",
      );
      const page = await get(at(mutual), { tls: { ca } });
      assertEquals(page.code, 400);
      assertStringIncludes(String(page.body), "No required SSL certificate was sent");
      assertEquals((await get(at(old), { tls: { ca } })).body, "TLSv1.2 NONE HTTP/1.1");
      assertEquals((await get("http://docker/", { unix_socket: socket })).body, "plain docker");
      const wrong = await get(`http://127.0.0.1:${good}/`);
      assertEquals(wrong.code, 400);
      const mistakes = [
        [at(expired), "expired on 2025-03-01"],
        [at(future), "is not valid before 2040-01-01"],
        [at(other), "is for another host: a.example, b.example"],
        [at(self), "is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)"],
        [at(older), "does not support TLS 1.2 or newer (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION)"],
        [`https://127.0.0.1:${plain}/`, "does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)"],
      ] as const;
      for (const [url, message] of mistakes) {
        await assertRejects(() => get(url, { tls: { ca } }), StepError, message);
      }
      await assertRejects(() => get(at(good)), StepError, "unknown certificate authority");
      await assertRejects(
        () => get(at(old), { tls: { ca, min_version: 1.3 } }),
        StepError,
        "does not support TLS 1.3 (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION)",
      );
    });
  });
});

Deno.test("http goes through tinyproxy, plain and by a tunnel", async () => {
  await using context = actionContext();
  const [port] = freePorts(1);
  await using target = Deno.serve(
    {
      port: 0,
      hostname: "127.0.0.1",
      onListen() {},
      cert: Deno.readTextFileSync(client.cert),
      key: Deno.readTextFileSync(client.key),
    },
    () => new Response("in"),
  );
  await using plain = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => new Response(request.headers.get("via")),
  );
  const config = `Port ${port}\nListen 127.0.0.1\nTimeout 10\nBasicAuth ann t0p\nMaxClients 10\n`;
  await withFiles({ "tinyproxy.conf": config }, async (directory) => {
    const command = ["/usr/bin/tinyproxy", "-d", "-c", `${directory}/tinyproxy.conf`];
    const proxy = `http://ann:t0p@127.0.0.1:${port}`;
    await withServer(command, `http://127.0.0.1:${port}/`, context, async () => {
      const via = await runHttp({ get: `http://127.0.0.1:${plain.addr.port}/`, proxy }, context);
      assertStringIncludes(String(via.res.body), "tinyproxy");
      const get = `https://127.0.0.1:${target.addr.port}/`;
      assertEquals((await runHttp({ get, proxy, tls: { ca } }, context)).res.body, "in");
      await assertRejects(
        () => runHttp({ get, proxy: `127.0.0.1:${port}`, tls: { ca } }, context),
        StepError,
        `the proxy 127.0.0.1 port ${port} refused to connect to 127.0.0.1 port ${target.addr.port}: 407`,
      );
    });
  });
});

Deno.test("http explains the alert by which openssl refuses a client certificate", async () => {
  await using context = actionContext();
  const [port] = freePorts(1);
  const args = ["s_server", "-accept", `127.0.0.1:${port}`, "-www", "-quiet", "-CAfile", ca];
  const options = [
    "-cert",
    client.cert,
    "-key",
    client.key,
    "-Verify",
    "1",
    "-verify_return_error",
  ];
  const url = `https://127.0.0.1:${port}/`;
  const trusted = { get: url, tls: { ca, ...client } };
  const command = ["openssl", ...args, ...options];
  const [program = "", ...rest] = command;
  const child = new Deno.Command(program, { args: rest, stdout: "null", stderr: "null" }).spawn();
  try {
    for (let tries = 0; tries < 100; tries++) {
      const isUp = await runHttp(trusted, context).then(() => true, () => false);
      if (isUp) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const [name, alert] of [["localhost", "UNKNOWN_CA"], ["expired", "CERTIFICATE_EXPIRED"]]) {
      const pair = { cert: `${FIXTURES}${name}.pem`, key: `${FIXTURES}${name}_key.pem` };
      const error = await assertRejects(
        () => runHttp({ get: url, tls: { ca, ...pair } }, context),
        StepError,
        "refused the client certificate (ERR_SSL_",
      );
      assertStringIncludes(error.message, `_ALERT_${alert})`);
    }
  } finally {
    child.kill("SIGTERM");
    await child.status;
  }
});

Deno.test("the examples of TLS, HTTP/2 and where to connect pass at nginx and tinyproxy", async () => {
  await using context = actionContext();
  const [plain, good, mutual, proxy] = freePorts(4);
  await withFiles({}, async (directory) => {
    const socket = `${directory}/nginx.sock`;
    const config = `
daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}
http {
  access_log off; ssl_protocols TLSv1.2 TLSv1.3;
  client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p; fastcgi_temp_path ${directory}/f;
  uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  server { listen 127.0.0.1:${plain}; listen unix:${socket}; location / { return 200 "$host"; } }
  ${server(`127.0.0.1:${good} ssl http2`, "good")}
  ${
      server(
        `127.0.0.1:${mutual} ssl`,
        "good",
        `ssl_verify_client on; ssl_client_certificate ${ca};`,
      )
    }
}`;
    await Deno.chmod(directory, 0o755);
    await Deno.writeTextFile(`${directory}/nginx.conf`, config);
    await Deno.writeTextFile(`${directory}/proxy.conf`, `Port ${proxy}\nListen 127.0.0.1\n`);
    const nginx = ["/usr/sbin/nginx", "-c", `${directory}/nginx.conf`];
    const tinyproxy = ["/usr/bin/tinyproxy", "-d", "-c", `${directory}/proxy.conf`];
    const passes = async (name: string, env: Readonly<Record<string, string>>) => {
      const { code, stdout } = await runMain([name], { cwd: EXAMPLES, env });
      assertEquals(code, 0, stdout);
    };
    await withServer(nginx, `http://127.0.0.1:${plain}/`, context, async () => {
      const site = { SITE_URL: `https://127.0.0.1:${good}`, SITE_CA: ca };
      await passes("certificates.yml", site);
      await passes("http2.yml", site);
      const signed = { CLIENT_CERT: client.cert, CLIENT_KEY: client.key };
      const url = `https://127.0.0.1:${mutual}`;
      await passes("mutual_tls.yml", { ...site, ...signed, SITE_URL: url });
      await withServer(
        tinyproxy,
        `http://127.0.0.1:${proxy}/`,
        context,
        () =>
          passes("connect.yml", {
            PROXY_URL: `http://127.0.0.1:${proxy}`,
            GREEN_ADDRESS: `127.0.0.1:${plain}`,
            SITE_SOCKET: socket,
          }),
      );
    });
  });
});
