import { freePort } from "../../support/servers/free_port.ts";

/** A real OpenSSH server for tests: on a free port, with its files in a temporary directory. */

export interface SshServer extends AsyncDisposable {
  readonly port: number;
  /** A directory with the keys of the user, by the names of their types, and those of the server. */
  readonly home: string;
  /** The user who may sign in, with all the keys and with the password. */
  readonly user: string;
  readonly password: string;
  /** The line of known_hosts for the server's Ed25519 key. */
  readonly knownHost: string;
  /** The log of the server. */
  log(): Promise<string>;
}

/** Keys that a user may sign in with: how `ssh-keygen` makes them, and their passphrase. */
export const KEYS: Readonly<Record<string, readonly [options: string, passphrase?: string]>> = {
  ed25519: ["-t ed25519"],
  ed25519_encrypted: ["-t ed25519", "pass phrase"],
  ecdsa256: ["-t ecdsa -b 256"],
  ecdsa384: ["-t ecdsa -b 384"],
  ecdsa521: ["-t ecdsa -b 521"],
  ecdsa_pem: ["-t ecdsa -m PEM"],
  ecdsa_pem_encrypted: ["-t ecdsa -m PEM", "pass phrase"],
  ecdsa_pkcs8_encrypted: ["-t ecdsa -m PKCS8", "pass phrase"],
  rsa: ["-t rsa -b 2048"],
  rsa_pem_encrypted: ["-t rsa -b 2048 -m PEM", "pass phrase"],
  rsa_pkcs8: ["-t rsa -b 2048 -m PKCS8"],
};

/** Starts a server. The user is one of this machine, who is made and removed if need be. */
export async function sshServer(settings: readonly string[] = []): Promise<SshServer> {
  const port = freePort();
  const home = await Deno.makeTempDir({ prefix: "sshd-" });
  const [user, password] = [`runner-${port}`, "open-sesame-42"];
  await Deno.chmod(home, 0o755);
  await carryOut("useradd", ["-M", "-d", `${home}/user`, "-s", "/bin/bash", user]);
  await carryOut("chpasswd", [], `${user}:${password}\n`);
  await Deno.mkdir(`${home}/user`);
  await carryOut("chown", [user, `${home}/user`]);
  // Debian's server needs it, and systemd makes it where it runs.
  await Deno.mkdir("/run/sshd", { recursive: true });
  const generate = (name: string, options: string, passphrase = "") =>
    carryOut("ssh-keygen", [
      "-q",
      ...options.split(" "),
      "-N",
      passphrase,
      "-f",
      `${home}/${name}`,
    ]);
  await Promise.all([
    generate("host_ed25519", "-t ed25519"),
    generate("host_ecdsa", "-t ecdsa"),
    generate("stranger", "-t ed25519"),
    ...Object.entries(KEYS).map(([name, [options, phrase]]) => generate(name, options, phrase)),
  ]);
  const keys = Object.keys(KEYS).map((name) => Deno.readTextFileSync(`${home}/${name}.pub`));
  await Deno.writeTextFile(`${home}/authorized_keys`, keys.join(""));
  await Deno.writeTextFile(
    `${home}/sshd_config`,
    [
      ...settings,
      `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${home}/host_ed25519`,
      `HostKey ${home}/host_ecdsa\nPidFile ${home}/pid\nAuthorizedKeysFile ${home}/authorized_keys`,
      "StrictModes no\nUsePAM no\nPasswordAuthentication yes\nKbdInteractiveAuthentication no",
      "Subsystem sftp internal-sftp\nUseDNS no\nPermitRootLogin no\nMaxStartups 100\n",
    ].join("\n"),
  );
  const child = new Deno.Command("/usr/sbin/sshd", {
    args: ["-D", "-f", `${home}/sshd_config`, "-E", `${home}/log`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const log = () => Deno.readTextFile(`${home}/log`).catch(() => "");
  while (!(await log()).includes("Server listening")) {
    await new Promise((done) => setTimeout(done, 10));
  }
  const [type, key] = (await Deno.readTextFile(`${home}/host_ed25519.pub`)).split(" ");
  return {
    port,
    home,
    user,
    password,
    knownHost: `[127.0.0.1]:${port} ${type} ${key}\n`,
    log,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await new Deno.Command("pkill", { args: ["-KILL", "-u", user] }).output();
      await carryOut("userdel", ["-f", user]);
      await Deno.remove(home, { recursive: true });
    },
  };
}

async function carryOut(program: string, args: readonly string[], input = ""): Promise<void> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  if (success) return;
  const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  throw new Error(`${program} failed: ${said}`);
}
