import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type CliResult, runCli, startCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { KEYS, type SshServer, sshServer } from "../servers/ssh_server.ts";

const PASSPHRASE = "pass phrase";

/** A workflow whose steps are given; they sign in with a key that needs no passphrase. */
const flow = (steps: string) => `
name: SSH
vars:
  port: "{{PORT}}"
  user: "{{LOGIN}}"
  home: "{{SERVER_HOME}}"
  word: "{{PASSWORD}}"
  known: "{{KNOWN_HOST}}"
jobs:
  - name: Server
    defaults:
      ssh:
        host: 127.0.0.1
        port: "{{vars.port}}"
        user: "{{vars.user}}"
        key_file: "{{vars.home}}/ed25519"
        known_hosts: "{{vars.known}}"
    steps:
${steps}`;

/** Every parameter, with what it does. */
const PARAMETERS = flow(`
      - name: cmd, code, stderr
        uses: ssh
        with: { cmd: "id -un; echo oops >&2; exit 3" }
        test: res.code == 3 && status == 1 && res.stdout == vars.user + "\\n" && res.stderr == "oops\\n" && res.signal == nil
      - name: workdir, env, stdin
        uses: ssh
        with: { cmd: 'pwd; echo "$A|$B"; cat', workdir: /usr, env: { A: "it's $HOME", B: "1\\n2" }, stdin: in }
        test: res.stdout == "/usr\\nit's $HOME|1\\n2\\nin"
      - name: env takes a variable away
        uses: ssh
        with: { cmd: 'echo "\${USER-gone}"', env: { USER: null } }
        test: res.stdout == "gone\\n"
      - name: values of env are not in the list of processes
        uses: ssh
        with: { cmd: "cat /proc/$$/cmdline", env: { TOKEN: a-secret-value } }
        test: res.code == 0 && !(res.stdout contains "a-secret-value")
      - name: pty
        uses: ssh
        with: { cmd: 'tty; echo "$A"; echo err >&2', pty: true, env: { A: x } }
        test: res.stdout contains "/dev/pts/" && res.stdout contains "x" && res.stdout contains "err" && res.stderr == ""
      - name: signal
        uses: ssh
        with: { cmd: "kill -9 $$" }
        test: res.code == -1 && res.signal == "SIGKILL" && status == 1
      - name: no such command
        uses: ssh
        with: { cmd: no-such-command }
        test: res.code == 127
      - name: max_output
        uses: ssh
        with: { cmd: "seq 100000", max_output: 100 }
        test: res.truncated && res.stdout endsWith "99999\\n100000\\n" && len(res.stdout) <= 100
      - name: 10 MB
        uses: ssh
        with: { cmd: "head -c 10000000 /dev/zero | tr '\\\\0' x", max_output: 20000000 }
        test: len(res.stdout) == 10000000 && !res.truncated
      - name: password
        uses: ssh
        with: { key_file: null, password: "{{vars.word}}", cmd: whoami }
        test: res.code == 0
      - name: agent
        uses: ssh
        with: { key_file: null, agent: true, cmd: whoami }
        test: res.code == 0
      - name: jump
        uses: ssh
        with: { jump: "127.0.0.1:{{vars.port}},{{vars.user}}@127.0.0.1:{{vars.port}}", cmd: echo through }
        test: res.stdout == "through\\n"
      - name: strict_host_check
        uses: ssh
        with: { known_hosts: other ssh-ed25519 AAAAC3Nz, strict_host_check: false, cmd: "true" }
        test: res.code == 0
      - name: known_hosts with hashed names, as a file
        uses: ssh
        with: { known_hosts: "{{vars.home}}/hashed", cmd: "true" }
        test: res.code == 0
      - name: known_hosts has another type of key than the server prefers
        uses: ssh
        with: { known_hosts: "{{vars.home}}/known_ecdsa", cmd: "true" }
        test: res.code == 0
      - name: upload, download
        uses: ssh
        with:
          upload: { script.sh: copied/, large: "~/large", empty: copied/nothing }
          cmd: copied/script.sh && cp large copied/larger
          download: { copied/larger: received/, copied/nothing: received/none }
        test: res.stdout == "ran\\n" && len(res.files) == 5 && res.files[1].size == 3000000
      - name: upload over a file of another user, who keeps its permissions
        uses: ssh
        with: { upload: { script.sh: copied/shared }, cmd: cat copied/shared }
        test: res.stdout contains "echo ran"
      - name: download a file that names no size
        uses: ssh
        with: { download: { /proc/version: received/ } }
        test: res.files[0].size > 20
      - name: fresh, connection
        uses: ssh
        with: { cmd: echo $SSH_CONNECTION, fresh: true }
        test: res.code == 0
      - name: a connection by name
        uses: ssh
        with: { cmd: echo $SSH_CONNECTION, connection: main }
        test: res.code == 0
`);

/** Steps that fail, and what they say. */
const ERRORS: readonly (readonly [given: string, words: string])[] = [
  ["port: 1", "127.0.0.1 port 1 refused the connection (ECONNREFUSED)"],
  ["host: no-such-host.invalid", 'cannot resolve host "no-such-host.invalid" (ENOTFOUND)'],
  ["key_file: null, password: wrong-password", "failed by password: permission denied (publickey,"],
  [
    'key_file: "{{vars.home}}/stranger"',
    "failed by publickey: permission denied (publickey,password)",
  ],
  ["user: nobody-here", 'sign-in of "nobody-here" failed by publickey'],
  ['key_file: "{{vars.home}}/ed25519_encrypted"', "is encrypted and needs a passphrase"],
  [
    'key_file: "{{vars.home}}/ed25519_encrypted", key_passphrase: another-phrase',
    "wrong passphrase for the key",
  ],
  ['key_file: "{{vars.home}}/ed25519.pub"', "is a public key"],
  ["key_file: /no/such/key", 'cannot read the key "/no/such/key": no such file (ENOENT)'],
  ["known_hosts: other ssh-ed25519 AAAAC3Nz", "host key verification failed: the host key ssh-"],
  ['known_hosts: "{{vars.home}}/changed"', "the host key has changed: it is ssh-ed25519 SHA256:"],
  ['known_hosts: "{{vars.home}}/revoked"', "is revoked by "],
  ["key_file: null, agent: true", "no agent is running: SSH_AUTH_SOCK is not set"],
  ["jump: 127.0.0.1:1", "127.0.0.1 port 1 refused the connection (ECONNREFUSED)"],
  ["upload: { w.yml: /no/such/place/x }", "no such file or directory (SSH_FX_NO_SUCH_FILE)"],
  ["upload: { w.yml: /etc/x }", "permission denied (SSH_FX_PERMISSION_DENIED)"],
  ["upload: { nothing: x }", 'cannot read the file to upload "'],
  ["upload: { .: x }", 'cannot upload ".": it is a directory'],
  ["download: { /etc: x }", 'cannot download "/etc": it is a directory'],
  ["upload: { w.yml: ~/no such/x }", `printf 'put -p w.yml "no such/x"\\n' |`],
  ["download: { nothing: x }", 'cannot download "nothing" as "x" from 127.0.0.1 port'],
];

Deno.test("ssh speaks to OpenSSH", async (test) => {
  await using server = await sshServer();
  await writeKnownHosts(server);
  const env = {
    PORT: `${server.port}`,
    LOGIN: server.user,
    SERVER_HOME: server.home,
    PASSWORD: server.password,
    KNOWN_HOST: server.knownHost,
  };
  const run = (yaml: string, args: readonly string[] = [], more: Record<string, string> = {}) =>
    withFiles({ "w.yml": yaml, "script.sh": "#!/bin/sh\necho ran\n", "empty": "" }, async (cwd) => {
      await Deno.chmod(`${cwd}/script.sh`, 0o755);
      await Deno.writeFile(`${cwd}/large`, pattern(3_000_000));
      const result = await runCli([...args, "w.yml"], { cwd, env: { ...env, ...more } });
      return { ...result, files: readAll(cwd) };
    });

  await test.step("every parameter does what it says", async () => {
    await using agent = await startAgent(server);
    await Deno.mkdir(`${server.home}/user/copied`);
    await new Deno.Command("chown", { args: [server.user, `${server.home}/user/copied`] }).output();
    await Deno.writeTextFile(`${server.home}/user/copied/shared`, "");
    await Deno.chmod(`${server.home}/user/copied/shared`, 0o666);
    const result = await run(PARAMETERS, ["-v", "--report-dir", "reports"], {
      SSH_AUTH_SOCK: agent.socket,
    });
    assertEquals(result.code, 0, result.stdout + result.stderr);
    assertEquals(result.files["received/larger"], decode(pattern(3_000_000)));
    assertEquals(result.files["received/none"], "");
    assertStringIncludes(
      result.stderr,
      '"copied/shared" does not get the permissions of "script.sh": permission denied',
    );
    assertHidden(result, [server.password, "a-secret-value"]);
  });

  await test.step("it takes keys of all formats", async () => {
    const steps = Object.entries(KEYS).map(([name, [, passphrase]]) => `
      - name: ${name}
        uses: ssh
        with: { key_file: "{{vars.home}}/${name}", ${
      passphrase === undefined ? "" : `key_passphrase: ${passphrase}, `
    }cmd: "true" }
        test: res.code == 0`).join("");
    const result = await run(flow(steps), ["--report-dir", "reports"]);
    assertEquals(result.code, 0, result.stdout);
    assertHidden(result, [PASSPHRASE]);
  });

  await test.step("every failure has a message, and no report a secret", async () => {
    const steps = ERRORS.map(([given]) => `
      - uses: ssh
        with: { ${given}${/load:/.test(given) ? "" : ", cmd: echo x"} }`).join("");
    const result = await run(flow(steps), ["-v", "--report-dir", "reports"]);
    assertEquals(result.code, 1);
    for (const [given, words] of ERRORS) assertStringIncludes(result.stdout, words, given);
    assertEquals(/internal error/.test(result.stdout), false);
    const key = await Deno.readTextFile(`${server.home}/ed25519`);
    assertHidden(result, ["wrong-password", "another-phrase", key.split("\n")[2]!]);
  });

  await test.step("the text of a key is a secret", async () => {
    const key = await Deno.readTextFile(`${server.home}/ed25519`);
    const steps = `
      - uses: ssh
        with: { key_file: "{{vars.text}}", cmd: exit 1 }
        test: res.code == 0
vars: { text: "{{KEY}}", port: "{{PORT}}", user: "{{LOGIN}}", home: x, word: x, known: "{{KNOWN_HOST}}" }`;
    const yaml = flow(steps).replace(/^vars:\n(?: {2}.*\n)+/m, "");
    const result = await run(yaml, ["-v", "--report-dir", "reports"], { KEY: key });
    assertStringIncludes(result.stdout, "res.code is 1");
    assertHidden(result, key.split("\n").slice(1, 5));
  });

  await test.step("options of the run restrict hosts and files", async () => {
    const cases: readonly (readonly [option: string, given: string, words: string])[] = [
      ["--allow-net=example.com", "cmd: ls", "--allow-net does not name 127.0.0.1 port"],
      [
        "--allow-net=127.0.0.1",
        'jump: "localhost:{{vars.port}}", cmd: ls',
        "--allow-net does not name localhost port",
      ],
      [
        "--allow-net=localhost",
        'jump: "localhost:{{vars.port}}", strict_host_check: false, cmd: ls',
        "--allow-net does not name 127.0.0.1 port",
      ],
      ["--allow-read=reports", "cmd: ls", "--allow-read does not name"],
      ["--allow-read=reports", 'key_file: "", agent: true, cmd: ls', "--allow-read does not name"],
      [`--allow-read=${server.home}`, "upload: { large: x }", "--allow-read does not name"],
      ["--allow-write=reports", "download: { copied/script.sh: x }", "--allow-write does not name"],
    ];
    for (const [option, given, words] of cases) {
      const steps = `
      - uses: ssh
        with: { ${given} }`.replace('key_file: ""', "key_file: null");
      const { code, stdout } = await run(flow(steps), [option], {
        SSH_AUTH_SOCK: "/nowhere/agent",
      });
      assertEquals(code, 1);
      assertStringIncludes(stdout, words, `${option} ${given}`);
      assertStringIncludes(stdout, `allow it with ${option.split("=")[0]}=`);
    }
    const steps = `
      - uses: ssh
        with: { cmd: echo x, download: { copied/script.sh: out/ } }
        test: res.code == 0`;
    const allowed = ["--allow-net=127.0.0.1", `--allow-read=${server.home}`, "--allow-write=."];
    const result = await run(flow(steps), allowed);
    assertEquals(result.code, 0, result.stdout);
  });

  await test.step("a timeout ends the command on the server", async () => {
    const steps = `
      - uses: ssh
        with: { cmd: "true" }
      - uses: ssh
        timeout: 800ms
        with: { cmd: "echo begun; sleep 61 & sleep 61" }
      - uses: ssh
        with: { cmd: "trap '' TERM; echo begun; sleep 61", timeout: 800ms }
      - uses: ssh
        with: { cmd: echo next }
        test: res.stdout == "next\\n"`;
    const { stdout } = await run(flow(steps));
    const place = `while the command ran on 127.0.0.1 port ${server.port}`;
    assertStringIncludes(stdout, `the step timed out after 800ms ${place}`);
    assertStringIncludes(stdout, `: timed out after 800ms ${place}`);
    assertStringIncludes(stdout, "4. ✓ ssh");
    assertEquals(await processesOf(server), []);
  });

  await test.step("a timeout ends the copying of files, and nothing else", async () => {
    const steps = `
      - uses: ssh
        with: { cmd: "true" }
      - uses: ssh
        with: { download: { /dev/urandom: endless }, timeout: 800ms }
      - uses: ssh
        with: { cmd: echo next }
        test: res.stdout == "next\\n"`;
    const { stdout, stderr, files } = await run(flow(steps));
    assertStringIncludes(
      stdout,
      'timed out after 800ms while downloading "/dev/urandom" as "endless" from',
    );
    assertStringIncludes(stdout, "3. ✓ ssh");
    assertEquals([stderr, files.endless], ["", undefined]);
  });

  await test.step("Ctrl-C ends the command on the server, and the run soon", async () => {
    await withFiles({
      "w.yml": flow(`
      - uses: ssh
        with: { cmd: "echo begun > began; exec sleep 61" }`),
    }, async (cwd) => {
      const child = startCli(["w.yml"], { cwd, env });
      const stdout = new Response(child.stdout).text();
      const stderr = new Response(child.stderr).text();
      await exists(`${server.home}/user/began`);
      child.kill("SIGINT");
      const { code } = await child.status;
      assertEquals([code, await stderr !== undefined], [1, true]);
      assertStringIncludes(await stdout, "interrupted by SIGINT");
      assertEquals(await processesOf(server), []);
    });
  });

  await test.step("100 steps in a row and 20 at once", async () => {
    const numbers = (count: number) => `[${Array.from({ length: count }, (_, n) => n).join(", ")}]`;
    const row = flow(`
      - uses: ssh
        iteration: ${numbers(100)}
        with: { cmd: "echo {{vars.item}}" }
        test: res.stdout == string(vars.item) + "\\n"`);
    const before = (await server.log()).match(/Accepted publickey/g)?.length ?? 0;
    const many = await run(row);
    assertEquals(many.code, 0, many.stdout + many.stderr);
    assertEquals((await server.log()).match(/Accepted publickey/g)!.length, before + 1);
    for (const connection of ["", "connection: main, "]) {
      const parallel = flow(`
      - uses: ssh
        iteration: { list: ${numbers(20)}, parallel: 20 }
        with: { ${connection}cmd: "echo {{vars.item}}; sleep 0.1" }
        test: res.stdout == string(vars.item) + "\\n"`);
      const atOnce = await run(parallel);
      assertEquals(atOnce.code, 0, atOnce.stdout + atOnce.stderr);
    }
    const rounds = flow(`
      - uses: ssh
        with: { cmd: echo x }
        test: res.code == 0`).replace(
      "    steps:",
      "    repeat: { count: 20, async: true }\n    steps:",
    );
    const apart = await run(rounds);
    assertEquals(apart.code, 0, apart.stdout + apart.stderr);
  });
});

Deno.test("ssh waits its turn where a server allows few sessions", async () => {
  await using server = await sshServer(["MaxSessions 2"]);
  const entries = Array.from({ length: 20 }, (_, n) => n).join(", ");
  const yaml = `
name: SSH
jobs:
  - name: Server
    steps:
      - uses: ssh
        iteration: { list: [${entries}], parallel: 20 }
        with:
          host: 127.0.0.1
          port: ${server.port}
          user: ${server.user}
          key_file: ${server.home}/ed25519
          known_hosts: "${server.knownHost.trim()}"
          connection: "{{ vars.item % 2 == 0 ? 'shared' : 'own ' + string(vars.item) }}"
          cmd: "echo {{vars.item}}"
        test: res.code == 0
`;
  await withFiles({ "w.yml": yaml }, async (cwd) => {
    const { code, stdout, stderr } = await runCli(["w.yml"], { cwd });
    assertEquals(code, 0, stdout + stderr);
  });
});

async function writeKnownHosts({ home, port, knownHost }: SshServer): Promise<void> {
  const read = (name: string) => Deno.readTextFileSync(`${home}/${name}.pub`).split(" ");
  const name = `[127.0.0.1]:${port}`;
  const [ecdsa, stranger] = [read("host_ecdsa"), read("stranger")];
  await Deno.writeTextFile(`${home}/known_ecdsa`, `${name} ${ecdsa[0]} ${ecdsa[1]}\n`);
  await Deno.writeTextFile(`${home}/changed`, `${name} ${stranger[0]} ${stranger[1]}\n`);
  const [, type, key] = knownHost.trim().split(" ");
  await Deno.writeTextFile(`${home}/revoked`, `${knownHost}@revoked * ${type} ${key}\n`);
  await Deno.writeTextFile(`${home}/hashed`, knownHost);
  await new Deno.Command("ssh-keygen", {
    args: ["-q", "-H", "-f", `${home}/hashed`],
    stderr: "null",
  })
    .output();
}

/** An agent with a key of the user. */
async function startAgent({ home }: SshServer) {
  const socket = `${home}/agent`;
  const child = new Deno.Command("ssh-agent", {
    args: ["-D", "-a", socket],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await exists(socket);
  const env = { SSH_AUTH_SOCK: socket };
  const added = await new Deno.Command("ssh-add", { args: ["-q", `${home}/rsa`], env }).output();
  assert(added.success);
  return {
    socket,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
    },
  };
}

async function exists(path: string): Promise<void> {
  const isThere = () => Deno.lstat(path).then(() => true, () => false);
  while (!await isThere()) await new Promise((done) => setTimeout(done, 10));
}

/** Returns the processes of the server's user, besides connections that are just closing. */
async function processesOf({ user }: SshServer): Promise<string[]> {
  const { stdout } = await new Deno.Command("ps", { args: ["-u", user, "-o", "stat=,args="] })
    .output();
  return decode(stdout).split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("Z") && !line.includes("sshd"));
}

function assertHidden(
  { stdout, stderr, files }: CliResult & { readonly files: Readonly<Record<string, string>> },
  secrets: readonly string[],
): void {
  const reports = Object.entries(files).filter(([name]) => name.startsWith("reports/"));
  assert(reports.length >= 7);
  for (const secret of secrets) {
    for (const [name, text] of [["stdout", stdout], ["stderr", stderr], ...reports]) {
      assertEquals(text!.includes(secret), false, `${name} has ${secret}`);
    }
  }
}

/** The texts of all files in a directory and of those in its directories. */
function readAll(directory: string): Record<string, string> {
  return Object.fromEntries(
    [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) =>
      isDirectory
        ? Object.entries(readAll(`${directory}/${name}`)).map((
          [key, text],
        ) => [`${name}/${key}`, text])
        : [[name, decode(Deno.readFileSync(`${directory}/${name}`))]]
    ),
  );
}

function pattern(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, index) => 97 + index * 7 % 26);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
