import { freePorts } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const TLS = tlsPath("");

/**
 * A RabbitMQ with the user ann on free ports, with a node and a port mapper of its own, gone when it
 * leaves its scope. By TLS, it presents that certificate.
 */
export async function rabbitServer(dir: string, certificate = "good") {
  const [port, tlsPort, distPort, mapperPort] = freePorts(4);
  const home = `${dir}/rabbit`;
  await Deno.mkdir(home);
  await Deno.writeTextFile(`${home}/plugins`, "[].\n");
  await Deno.writeTextFile(
    `${home}/rabbitmq.conf`,
    `listeners.tcp.1 = 127.0.0.1:${port}
listeners.ssl.1 = 127.0.0.1:${tlsPort}
ssl_options.cacertfile = ${TLS}authority.pem
ssl_options.certfile = ${TLS}${certificate}.pem
ssl_options.keyfile = ${TLS}${certificate}_key.pem
default_user = ann
default_pass = open-sesame-42
log.console = true
log.console.level = info
`,
  );
  const env = {
    HOME: home,
    ERL_EPMD_PORT: `${mapperPort}`,
    RABBITMQ_CONFIG_FILE: `${home}/rabbitmq.conf`,
    RABBITMQ_DIST_PORT: `${distPort}`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${home}/plugins`,
    RABBITMQ_LOG_BASE: `${home}/log`,
    RABBITMQ_MNESIA_BASE: `${home}/mnesia`,
    RABBITMQ_NODENAME: "test@localhost",
    RABBITMQ_PID_FILE: `${home}/pid`,
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 1:1 +sbwt none",
  };
  const child = new Deno.Command("/usr/lib/rabbitmq/bin/rabbitmq-server", {
    env,
    cwd: home,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let said = "";
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (!said.includes("Server startup complete")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`rabbitmq-server ended: ${said}`);
    said += value;
  }
  const drained = (async () => {
    while (!(await reader.read()).done);
  })();
  return {
    port: port!,
    tlsPort: tlsPort!,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await drained;
      await new Deno.Command("epmd", { args: ["-kill"], env, stdout: "null" }).output();
    },
  };
}
