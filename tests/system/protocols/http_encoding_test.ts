import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import type { Dict } from "../../../src/action/action.ts";
import { runHttp } from "../../../src/actions/http/run_http.ts";
import { actionContext } from "../../support/action_context.ts";
import { withFiles } from "../../support/temp_dir.ts";

Deno.test("http decodes what nginx compresses; its facts are of the decoded body", async () => {
  await using context = actionContext();
  const text = Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`).join("");
  const facts = [text.length, createHash("sha256").update(text).digest("hex")];
  await withFiles({ "page.txt": text }, async (directory) => {
    const socket = `${directory}/nginx.sock`;
    const config = `
daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}
http {
  access_log off; types { text/plain txt; }
  client_body_temp_path ${directory}/b; proxy_temp_path ${directory}/p; fastcgi_temp_path ${directory}/f;
  uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  server { listen unix:${socket}; root ${directory}; gzip on; gzip_types text/plain; }
}`;
    await Deno.chmod(directory, 0o755);
    await Deno.writeTextFile(`${directory}/nginx.conf`, config);
    const child = new Deno.Command("/usr/sbin/nginx", {
      args: ["-c", `${directory}/nginx.conf`],
      stdout: "null",
      stderr: "null",
    }).spawn();
    const get = async (params: Dict = {}) =>
      (await runHttp({ get: "http://nginx/page.txt", unix_socket: socket, ...params }, context))
        .res;
    try {
      for (let tries = 0;; tries++) {
        try {
          await get();
          break;
        } catch (error) {
          if (tries === 100) throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
      const encodingOf = (res: Dict) => (res.headers as Dict)["Content-Encoding"];
      const decoded = await get();
      assertEquals([encodingOf(decoded), decoded.body], ["gzip", text]);
      assertEquals([decoded.size, decoded.sha256], facts);
      const save = `${directory}/saved.txt`;
      const saved = await get({ save });
      assertEquals([encodingOf(saved), saved.size, saved.sha256], ["gzip", ...facts]);
      assertEquals(await Deno.readTextFile(save), text);
      const plain = await get({ headers: { "accept-encoding": "identity" } });
      assertEquals([encodingOf(plain), plain.size, plain.sha256], [undefined, ...facts]);
      const head = await runHttp({ head: "http://nginx/page.txt", unix_socket: socket }, context);
      assertEquals([head.res.code, head.res.size], [200, 0]);
    } finally {
      child.kill("SIGTERM");
      await child.status;
    }
  });
});
