import type { Dict } from "../../../src/base/value/value.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const FIXTURES = tlsPath("");

/** Node ends the connection where it refuses a certificate; other servers send a page. */
const SERVER = `
const { createServer } = require("node:https");
const { readFileSync } = require("node:fs");
const read = (name) => readFileSync(process.argv[1] + name + ".pem");
const options = { cert: read("good"), key: read("good_key"), ca: read("authority"), requestCert: true };
const server = createServer({ ...options, maxVersion: process.argv[2] }, (_, response) => response.end("in"));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

for (const version of ["TLSv1.2", "TLSv1.3"]) {
  Deno.test(`http explains why a server refuses its client certificate: ${version}`, async () => {
    await using context = actionContext();
    const args = ["-e", SERVER, FIXTURES, version];
    const child = new Deno.Command("node", { args, stdout: "piped" }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    try {
      const port = Number((await reader.read()).value);
      const get = `https://127.0.0.1:${port}/`;
      const ask = async (name?: string) => {
        const own: Dict = name === undefined
          ? {}
          : { cert: `${FIXTURES}${name}.pem`, key: `${FIXTURES}${name}_key.pem` };
        const tls: Dict = { ca: `${FIXTURES}authority.pem`, ...own };
        return (await runHttp({ get, tls }, context)).res.body;
      };
      assertEquals(await ask("good"), "in");
      const place = `127.0.0.1 port ${port}`;
      const wanted = version === "TLSv1.3"
        ? "wants a client certificate"
        : "refused the TLS handshake";
      await assertRejects(() => ask(), StepError, `${place} ${wanted} (ERR_SSL_`);
      for (const name of ["localhost", "expired"]) {
        const error = await assertRejects(() => ask(name), StepError, "closed the connection");
        assertEquals(error.hint, "the server may have refused the client certificate");
      }
    } finally {
      await reader.cancel();
      child.kill();
      await child.status;
    }
  });
}
