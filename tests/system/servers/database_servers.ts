/** Real database servers for tests: each on a free port, with its data in a temporary directory. */

export interface DatabaseServer extends AsyncDisposable {
  readonly port: number;
}

/** PostgreSQL with the user `app` and its password. */
export async function postgresServer(password: string): Promise<DatabaseServer> {
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
  if (isRoot) await carryOut("chown", "-R", "postgres", home);
  const data = `${home}/data`;
  await run(
    "initdb",
    ...["-D", data, "-A", "scram-sha-256", `--pwfile=${home}/password`, "-U", "app"],
    ...["--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C"],
  );
  const settings = [
    `listen_addresses='127.0.0.1'\nport=${port}\nunix_socket_directories='${home}'`,
    "fsync=off\nsynchronous_commit=off\nshared_buffers=16MB\nmax_connections=20\nautovacuum=off\n",
  ];
  await Deno.writeTextFile(`${data}/postgresql.conf`, settings.join("\n"), { append: true });
  await run("pg_ctl", "-D", data, "-w", "-l", `${home}/log`, "start");
  return {
    port,
    async [Symbol.asyncDispose]() {
      await run("pg_ctl", "-D", data, "-m", "immediate", "stop");
      await Deno.remove(home, { recursive: true });
    },
  };
}

/** MariaDB with the user `app`, its password and the database `test`. */
export async function mariadbServer(password: string): Promise<DatabaseServer> {
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
  ];
  await Deno.writeTextFile(`${home}/init.sql`, statements.join("\n") + "\n");
  const child = new Deno.Command("/usr/sbin/mariadbd", {
    args: [
      ...common,
      ...[`--socket=${home}/socket`, `--pid-file=${home}/pid`, `--init-file=${home}/init.sql`],
      ...["--bind-address=127.0.0.1", `--port=${port}`, "--skip-name-resolve", "--skip-log-bin"],
      ...["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"],
      ...["--innodb-log-file-size=4M", "--max-connections=20"],
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
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
      await Deno.remove(home, { recursive: true });
    },
  };
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

async function carryOut(program: string, ...args: string[]): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd: "/" }).output();
  if (success) return;
  const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  throw new Error(`${program} failed: ${said}`);
}
