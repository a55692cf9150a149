import { freePort } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { carryOut } from "./carry_out.ts";

/** Real database servers for tests: each on a free port, with its data in a temporary directory. */

export interface DatabaseServer extends AsyncDisposable {
  readonly port: number;
}

/** A server that speaks TLS, with certificates of tests/fixtures/tls. */
export interface TlsDatabaseServer extends DatabaseServer {
  /** Presents the certificate of that name from now on; "named" is for `localhost` by name alone. */
  present(name: string): Promise<void>;
  /** The path of the certificate. */
  readonly certificate: string;
}

const FIXTURES = tlsPath("");

/** Copies a certificate and its key to where a server reads them. */
async function install(name: string, home: string): Promise<void> {
  if (name === "named") {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-keyout", `${home}/server_key.pem`, "-out", `${home}/server.pem`];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    return await carryOut("openssl", "req", "-x509", ...key, ...subject, ...files);
  }
  await Deno.copyFile(`${FIXTURES}${name}.pem`, `${home}/server.pem`);
  await Deno.copyFile(`${FIXTURES}${name}_key.pem`, `${home}/server_key.pem`);
  await Deno.chmod(`${home}/server_key.pem`, 0o600);
}

/**
 * PostgreSQL with the user `app` and its password. By TLS, the database `template1` wants a client
 * certificate, and no plain connections.
 */
export async function postgresServer(password: string, tls = false): Promise<TlsDatabaseServer> {
  const port = freePort();
  const versions = [...Deno.readDirSync("/usr/lib/postgresql")].map(({ name }) => name);
  const bin = `/usr/lib/postgresql/${versions.sort().at(-1)}/bin`;
  const home = await Deno.makeTempDir({ prefix: "postgres-" });
  // PostgreSQL refuses to run as root.
  const isRoot = Deno.uid() === 0;
  const run = (program: string, ...args: string[]) =>
    isRoot
      ? carryOut("runuser", "-u", "postgres", "--", `${bin}/${program}`, ...args)
      : carryOut(`${bin}/${program}`, ...args);
  await Deno.writeTextFile(`${home}/password`, password);
  await install("good", home);
  await Deno.copyFile(`${FIXTURES}authority.pem`, `${home}/authority.pem`);
  const changeOwner = () => isRoot ? carryOut("chown", "-R", "postgres", home) : undefined;
  await changeOwner();
  const data = `${home}/data`;
  await run(
    "initdb",
    ...["-D", data, "-A", "scram-sha-256", `--pwfile=${home}/password`, "-U", "app"],
    ...["--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C"],
  );
  const settings = [
    `listen_addresses='127.0.0.1'\nport=${port}\nunix_socket_directories='${home}'`,
    "fsync=off\nsynchronous_commit=off\nshared_buffers=16MB\nmax_connections=100\nautovacuum=off\n",
  ];
  if (tls) {
    settings.push(
      `ssl=on\nssl_cert_file='${home}/server.pem'\nssl_key_file='${home}/server_key.pem'`,
      `ssl_ca_file='${home}/authority.pem'\n`,
    );
    const access = [
      "hostssl template1 all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca",
      "hostnossl template1 all 127.0.0.1/32 reject",
      "host all all 127.0.0.1/32 scram-sha-256\n",
    ];
    await Deno.writeTextFile(`${data}/pg_hba.conf`, access.join("\n"));
  }
  await Deno.writeTextFile(`${data}/postgresql.conf`, settings.join("\n"), { append: true });
  await run("pg_ctl", "-D", data, "-w", "-l", `${home}/log`, "start");
  return {
    port,
    certificate: `${home}/server.pem`,
    async present(name) {
      await install(name, home);
      await changeOwner();
      const log = `${home}/log`;
      const before = (await Deno.readTextFile(log)).length;
      await run("pg_ctl", "-D", data, "reload");
      // The first connection with the new certificate shows that the old one is gone.
      while (!(await Deno.readTextFile(log)).slice(before).includes("reloading")) {
        await new Promise((done) => setTimeout(done, 10));
      }
    },
    async [Symbol.asyncDispose]() {
      await run("pg_ctl", "-D", data, "-m", "immediate", "stop");
      await Deno.remove(home, { recursive: true });
    },
  };
}

/**
 * MariaDB with the user `app`, its password and the database `test`. By TLS, the user `strict`
 * needs a client certificate.
 */
export async function mariadbServer(password: string, tls = false): Promise<TlsDatabaseServer> {
  const port = freePort();
  const home = await Deno.makeTempDir({ prefix: "mariadb-" });
  const data = `${home}/data`;
  const { username } = await import("node:os").then(({ userInfo }) => userInfo());
  const common = ["--no-defaults", `--user=${username}`, `--datadir=${data}`];
  await carryOut(
    "mariadb-install-db",
    ...common,
    ...["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"],
  );
  // One statement on each line.
  const statements = [
    `CREATE USER app@'%' IDENTIFIED BY '${password}';`,
    "GRANT ALL ON *.* TO app@'%';",
    "CREATE DATABASE test;",
    ...tls ? [`CREATE USER strict@'%' IDENTIFIED BY '${password}' REQUIRE X509;`] : [],
  ];
  await Deno.writeTextFile(`${home}/init.sql`, statements.join("\n") + "\n");
  await install("good", home);
  const certificates = [
    ...[`--ssl-cert=${home}/server.pem`, `--ssl-key=${home}/server_key.pem`],
    `--ssl-ca=${FIXTURES}authority.pem`,
  ];
  const child = new Deno.Command("/usr/sbin/mariadbd", {
    args: [
      ...common,
      ...[`--socket=${home}/socket`, `--pid-file=${home}/pid`, `--init-file=${home}/init.sql`],
      ...["--bind-address=127.0.0.1", `--port=${port}`, "--skip-name-resolve", "--skip-log-bin"],
      ...["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"],
      ...["--innodb-log-file-size=4M", "--max-connections=100"],
      ...tls ? certificates : [],
    ],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("ready for connections")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`mariadbd ended: ${said}`);
    said += value;
  }
  return {
    port,
    certificate: `${home}/server.pem`,
    async present(name) {
      await install(name, home);
      const login = [
        "-h",
        "127.0.0.1",
        "-P",
        `${port}`,
        "-u",
        "app",
        `-p${password}`,
        "--skip-ssl",
      ];
      await carryOut("mariadb", ...login, "-e", "FLUSH SSL");
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
      await Deno.remove(home, { recursive: true });
    },
  };
}
