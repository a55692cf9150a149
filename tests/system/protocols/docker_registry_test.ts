import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { freePort } from "../../support/servers/free_port.ts";

/** A port that nothing listens on. */
function config(port: number, directory: string): string {
  return `version: 0.1
log: { level: error, accesslog: { disabled: true } }
storage: { filesystem: { rootdirectory: ${directory}/data } }
http: { addr: "127.0.0.1:${port}" }
`;
}

/** Pushes a layer as `docker push` does, and pulls it back. */
function pushAndPull(port: number, directory: string, digest: string): string {
  return `name: A layer
jobs:
  - name: push and pull
    defaults:
      http: { url: "http://127.0.0.1:${port}" }
    steps:
      - name: the registry is up
        uses: http
        with: { get: /v2/ }
        retry: { max_attempts: 100, interval: 50ms }
        test: res.code == 200
      - name: begin an upload
        id: upload
        uses: http
        with: { post: /v2/app/blobs/uploads/ }
        test: res.code == 202
        outputs: { location: res.headers.Location }
      - name: another digest is refused
        uses: http
        with:
          put: "{{outputs.upload.location}}&digest=sha256:${"0".repeat(64)}"
          file: ${directory}/layer.tgz
          headers: { content-type: application/octet-stream }
        test: res.code == 400 && res.body.errors[0].code == "DIGEST_INVALID"
      - name: begin again
        id: again
        uses: http
        with: { post: /v2/app/blobs/uploads/ }
        test: res.code == 202
        outputs: { location: res.headers.Location }
      - name: push
        uses: http
        with:
          put: "{{outputs.again.location}}&digest=sha256:${digest}"
          file: ${directory}/layer.tgz
          headers: { content-type: application/octet-stream }
        test: res.code == 201 && res.headers["Docker-Content-Digest"] == "sha256:${digest}"
      - name: pull
        uses: http
        with: { get: "/v2/app/blobs/sha256:${digest}", save: ${directory}/pulled.tgz }
        test: |
          res.code == 200 && "sha256:" + res.sha256 == res.headers["Docker-Content-Digest"] &&
          res.sha256 == "${digest}" && res.size == int(res.headers["Content-Length"])
      - name: a layer that was not pushed
        uses: http
        with: { get: "/v2/app/blobs/sha256:${"1".repeat(64)}", save: ${directory}/none.tgz }
        test: res.code == 404 && res.body.errors[0].code == "BLOB_UNKNOWN"
`;
}

Deno.test("http pushes a layer to a Docker registry, and save pulls it back", async () => {
  const port = freePort();
  // More than the buffers of the sockets hold.
  const layer = new Uint8Array(8_000_000).map((_, at) => (at * at) >> 7);
  const digest = createHash("sha256").update(layer).digest("hex");
  await withFiles({ "layer.tgz": layer }, async (directory) => {
    await Deno.writeTextFile(`${directory}/registry.yml`, config(port, directory));
    await Deno.writeTextFile(`${directory}/w.yml`, pushAndPull(port, directory, digest));
    const registry = new Deno.Command("/usr/bin/docker-registry", {
      args: ["serve", `${directory}/registry.yml`],
      stdout: "null",
      stderr: "null",
    }).spawn();
    try {
      const { code, stdout, stderr } = await runMain([`${directory}/w.yml`]);
      assertEquals([code, stderr], [0, ""], stdout);
      assertEquals(await Deno.readFile(`${directory}/pulled.tgz`), layer);
      const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
      assertEquals(names, ["data", "layer.tgz", "pulled.tgz", "registry.yml", "w.yml"]);
    } finally {
      registry.kill("SIGTERM");
      await registry.status;
    }
  });
});
