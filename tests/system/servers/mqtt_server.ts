import { freePorts } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const TLS = tlsPath("");

/**
 * A Mosquitto on free ports, gone when it leaves its scope. The user ann must sign in, and has no
 * right to topics that begin with `secret/`. By TLS, it presents that certificate.
 */
export async function mqttServer(dir: string, certificate = "good") {
  const [port, tlsPort, webPort, webTlsPort] = freePorts(4);
  const tls = `cafile ${TLS}authority.pem
certfile ${TLS}${certificate}.pem
keyfile ${TLS}${certificate}_key.pem`;
  const home = `${dir}/mosquitto`;
  await Deno.mkdir(home);
  await Deno.writeTextFile(`${home}/passwords`, "ann:open-sesame-42\n");
  await new Deno.Command("mosquitto_passwd", { args: ["-U", `${home}/passwords`] }).output();
  await Deno.writeTextFile(
    `${home}/rights`,
    "user ann\ntopic readwrite orders/#\ntopic readwrite status/#\n",
  );
  await Deno.writeTextFile(
    `${home}/mosquitto.conf`,
    `user root
allow_anonymous false
password_file ${home}/passwords
acl_file ${home}/rights
persistence false
listener ${port} 127.0.0.1
listener ${tlsPort} 127.0.0.1
${tls}
listener ${webPort} 127.0.0.1
protocol websockets
listener ${webTlsPort} 127.0.0.1
protocol websockets
${tls}
`,
  );
  const child = new Deno.Command("/usr/sbin/mosquitto", {
    args: ["-c", `${home}/mosquitto.conf`],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!/mosquitto version \S+ running/.test(said)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`mosquitto ended: ${said}`);
    said += value;
  }
  const drained = (async () => {
    while (!(await reader.read()).done);
  })();
  return {
    port: port!,
    tlsPort: tlsPort!,
    webPort: webPort!,
    webTlsPort: webTlsPort!,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await drained;
    },
  };
}
