import { tlsCertificate } from "../../tests/support/servers/tls_fixture.ts";
import type { Figure, Workbench } from "./bench.ts";

const SIZE = 2 * 1024 ** 3;
const CHUNK = new Uint8Array(1024 ** 2);

/** A file of 2 GB up and down, which must not be held in memory. */
export async function* benchTransfer(workbench: Workbench): AsyncGenerator<Figure> {
  await using server = startServer();
  await using secure = startServer(tlsCertificate("good"));
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const secureUrl = `https://127.0.0.1:${secure.addr.port}/`;
  const save = `save: ${workbench.path("received.bin")}, timeout: 5m`;
  const file = workbench.path("large.bin");
  await Deno.writeFile(file, new Uint8Array());
  await Deno.truncate(file, SIZE);
  const transfers = {
    up: `put: "${url}", file: ${file}`,
    down: `get: "${url}", ${save}`,
    "down over TLS": `get: "${secureUrl}", ${save}, tls: { verify: false }`,
  };
  for (const [way, parameters] of Object.entries(transfers)) {
    const test = way === "up" ? `res.body == ${SIZE}` : `res.size == ${SIZE}`;
    const workflow = `name: n\njobs: [{name: j, steps: [{uses: http, with: {${parameters}}, ` +
      `test: "res.code == 200 && ${test}"}]}]\n`;
    const path = await workbench.write(`${way}.yml`, workflow);
    const { seconds, megabytes } = await workbench.runner(path);
    yield { what: `2 GB ${way}`, value: seconds, unit: "s" };
    yield { what: "its peak memory", value: megabytes, unit: "MB", goal: { max: 200 } };
  }
}

/** Counts the bytes of a body that comes, or sends as many. */
function startServer(keyPair: { cert?: string; key?: string } = {}): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, ...keyPair },
    async (request) => {
      let bytes = 0;
      if (request.body) {
        for await (const chunk of request.body) bytes += chunk.length;
        return Response.json(bytes);
      }
      const body = new ReadableStream({
        pull(controller) {
          if (bytes === SIZE) return controller.close();
          controller.enqueue(CHUNK);
          bytes += CHUNK.length;
        },
      });
      return new Response(body, { headers: { "content-length": String(SIZE) } });
    },
  );
}
