import { assertEquals } from "@std/assert";
import { digestServer } from "../../support/servers/digest_server.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { freePort } from "../../support/servers/free_port.ts";

/** Starts a server, waits until it answers, and ends it after `use`. */
async function withCommand(
  command: readonly string[],
  port: number,
  use: () => Promise<void>,
): Promise<void> {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, { args, stdout: "null", stderr: "null" }).spawn();
  try {
    const up = `name: up
jobs:
  - name: up
    steps:
      - name: up
        uses: http
        with: { get: "http://127.0.0.1:${port}/" }
        retry: { max_attempts: 100, interval: 50ms }
        test: res.code > 0
`;
    await withFiles({ "up.yml": up }, async (cwd) => {
      assertEquals((await runMain(["up.yml"], { cwd })).code, 0);
    });
    await use();
  } finally {
    child.kill("SIGTERM");
    await child.status;
  }
}

async function passes(steps: string): Promise<void> {
  const workflow = `name: w\njobs:\n  - name: j\n    steps:\n${
    steps.replace(/^(?=.)/gm, "      ")
  }`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
    assertEquals([code, stderr], [0, ""], stdout);
  });
}

const PASSWORD = "password-1";

Deno.test("http signs in at nginx by basic and by the URL, and is refused otherwise", async () => {
  const port = freePort();
  const config = (directory: string) => `
daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}
http {
  access_log off;
  client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p; fastcgi_temp_path ${directory}/f;
  uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  server {
    listen 127.0.0.1:${port};
    location / { auth_basic "r"; auth_basic_user_file ${directory}/users; return 200 "hi $remote_user"; }
    location /private { auth_basic "r"; auth_basic_user_file ${directory}/users; try_files /index /users; root ${directory}; }
  }
}`;
  await withFiles({ users: `ann:{PLAIN}${PASSWORD}\n` }, async (directory) => {
    await Deno.chmod(directory, 0o755);
    await Deno.writeTextFile(`${directory}/nginx.conf`, config(directory));
    await withCommand(["/usr/sbin/nginx", "-c", `${directory}/nginx.conf`], port, () =>
      passes(`
- uses: http
  with: { get: "http://127.0.0.1:${port}/private", auth: { basic: { username: ann, password: "${PASSWORD}" } } }
  test: res.code == 200
- uses: http
  with: { get: "http://ann:password-1@127.0.0.1:${port}/private" }
  test: res.code == 200
- uses: http
  with: { get: "http://127.0.0.1:${port}/private", auth: { basic: { username: ann, password: other } } }
  test: res.code == 401
`));
  });
});

Deno.test("http signs in at httpbin by basic, bearer and digest, and keeps its cookies", async () => {
  const port = freePort();
  const program = `from httpbin import app; app.run(host="127.0.0.1", port=${port})`;
  const get = `get: "http://127.0.0.1:${port}`;
  const digest = `auth: { digest: { username: ann, password: secret } }`;
  await withCommand(["/usr/bin/python3", "-c", program], port, () =>
    passes(`
- uses: http
  with: { ${get}/basic-auth/ann/secret", auth: { basic: { username: ann, password: secret } } }
  test: res.code == 200 && res.body.authenticated
- uses: http
  with: { ${get}/bearer", auth: { bearer: token-1 } }
  test: res.body.token == "token-1"
- uses: http
  with: { ${get}/digest-auth/auth/ann/secret/MD5", ${digest} }
  test: res.code == 200
- uses: http
  with: { ${get}/digest-auth/auth/ann/secret/SHA-256", ${digest} }
  test: res.code == 200
- uses: http
  with: { ${get}/digest-auth/auth-int/ann/secret/SHA-256", ${digest} }
  test: res.code == 200
- uses: http
  with: { ${get}/cookies/set?theme=dark&size=2" }
  test: res.body.cookies.theme == "dark" && cookie(res, "size").value == "2"
- uses: http
  with: { ${get}/cookies/delete?theme" }
  test: res.body.cookies.theme == nil && res.body.cookies.size == "2"
`));
});

for (const algorithm of ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess"]) {
  Deno.test(`curl --digest signs in at the server of the tests with ${algorithm}`, async () => {
    await using server = digestServer({ algorithm, qop: "auth" }, "ann", "secret");
    const { stdout } = await new Deno.Command("curl", {
      args: ["-s", "--digest", "-u", "ann:secret", `${server.url}/a?b=1`],
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "welcome");
  });
}
