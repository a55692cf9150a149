import { freePort } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const TLS = tlsPath("");

/** The seed of a key that signs in. */
export const SEED = "SUAMNZ7Q5JN3N3FM4MCNV3XFQJOGKFVKUWT2DXYY2WLMOEI4NCXLNZ4RA4";

/** How clients sign in to a server. */
type SignIn = "user" | "token" | "nkey";

/**
 * A NATS with JetStream on a free port, gone when it leaves its scope. The user ann has no right to
 * subjects that begin with `secret.`. With a certificate, it wants TLS.
 */
export async function natsServer(dir: string, signIn: SignIn = "user", certificate?: string) {
  const port = freePort();
  const home = await Deno.makeTempDir({ dir });
  const denied = '{ deny: ["secret.>"] }';
  const users = {
    user: `users: [{ user: ann, password: open-sesame-42,
      permissions: { publish: ${denied}, subscribe: ${denied} } }]`,
    token: "token: open-sesame-42",
    nkey: "users: [{ nkey: UAS6RUQVPHM2A7CW5WTWUGHGIM6ASYENUBR6JCQFDSXQWRP2XI2E5AVJ }]",
  };
  const tls = certificate === undefined
    ? ""
    : `tls: { cert_file: "${TLS}${certificate}.pem", key_file: "${TLS}${certificate}_key.pem" }`;
  await Deno.writeTextFile(
    `${home}/nats.conf`,
    `listen: "127.0.0.1:${port}"
jetstream: { store_dir: "${home}/store" }
authorization: { ${users[signIn]} }
${tls}
`,
  );
  const child = new Deno.Command("/usr/sbin/nats-server", {
    args: ["-c", `${home}/nats.conf`],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("Server is ready")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`nats-server ended: ${said}`);
    said += value;
  }
  const drained = (async () => {
    while (!(await reader.read()).done);
  })();
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await drained;
    },
  };
}
