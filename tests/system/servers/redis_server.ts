import { freePort } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const TLS = tlsPath("");

/**
 * A Redis server with a password on a free port, gone when it leaves its scope. By TLS, it presents
 * that certificate and requires one of its clients.
 */
export async function redisServer(dir: string, certificate = "good") {
  const [port, tlsPort] = [freePort(), freePort()];
  const child = new Deno.Command("redis-server", {
    args: ["--port", `${port}`, "--bind", "127.0.0.1", "--requirepass", "open-sesame-42"]
      .concat(["--save", "", "--dir", dir, "--tls-port", `${tlsPort}`])
      .concat(["--tls-cert-file", `${TLS}${certificate}.pem`])
      .concat(["--tls-key-file", `${TLS}${certificate}_key.pem`])
      .concat(["--tls-ca-cert-file", `${TLS}authority.pem`]),
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let said = "";
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  while (!said.includes("Ready to accept connections")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`redis-server ended: ${said}`);
    said += decoder.decode(value);
  }
  return {
    port,
    tlsPort,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await reader.cancel();
      await child.status;
    },
  };
}
