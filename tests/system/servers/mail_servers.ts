/** Real mail servers for tests: each on free ports, with its mails in a temporary directory. */

import { freePort } from "../../support/servers/free_port.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { carryOut } from "./carry_out.ts";

const TLS = tlsPath("");

export interface MailServer extends AsyncDisposable {
  readonly host: "127.0.0.1";
  readonly port: number;
  /** Where it speaks TLS from the first byte. */
  readonly tlsPort: number;
  /** The directory that the mails are in. */
  readonly mails: string;
  /** Its log. */
  log(): string;
}

/** How a server uses TLS. */
export interface MailTls {
  /** The name of its certificate in tests/fixtures/tls. */
  readonly certificate?: string;
  /** Whether clients must present a certificate of the authority there. */
  readonly isMutual?: boolean;
}

/** Dovecot with the users `ann` and `bob`, who have the same password. */
export async function dovecotServer(password: string, tls: MailTls = {}): Promise<MailServer> {
  const [port, tlsPort] = [freePort(), freePort()];
  const home = await Deno.makeTempDir({ prefix: "dovecot-" });
  // Dovecot gives the mails to a user who is not root.
  const isRoot = Deno.uid() === 0;
  const owner = isRoot ? "mail" : Deno.env.get("USER") ?? "nobody";
  await Deno.mkdir(`${home}/mails`, { mode: 0o777 });
  await Deno.chmod(home, 0o755);
  await Deno.chmod(`${home}/mails`, 0o777);
  await copyCertificates(home, tls);
  await Deno.writeTextFile(`${home}/users`, `ann:{PLAIN}${password}\nbob:{PLAIN}${password}\n`);
  await Deno.writeTextFile(
    `${home}/conf`,
    `base_dir = ${home}/run
state_dir = ${home}/run
log_path = ${home}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${home}/server.pem
ssl_key = <${home}/server_key.pem
ssl_ca = <${home}/authority.pem
ssl_require_crl = no
ssl_verify_client_cert = ${tls.isMutual ? "yes" : "no"}
auth_ssl_require_client_cert = ${tls.isMutual ? "yes" : "no"}
disable_plaintext_auth = no
auth_failure_delay = 0
auth_mechanisms = plain login
mail_location = maildir:${home}/mails/%u
mail_uid = ${owner}
mail_gid = ${owner}
first_valid_uid = 1
first_valid_gid = 1
default_vsz_limit = 0
mail_fsync = never
mail_max_userip_connections = 0
mail_log_prefix = "%u: "
passdb {
  driver = passwd-file
  args = ${home}/users
}
userdb {
  driver = static
  args = uid=${owner} gid=${owner} home=${home}/mails/%u
}
namespace inbox {
  inbox = yes
  separator = /
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
`,
  );
  const child = new Deno.Command("dovecot", {
    args: ["-F", "-c", `${home}/conf`],
    cwd: "/",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await listening(port);
  return {
    host: "127.0.0.1",
    port,
    tlsPort,
    mails: `${home}/mails`,
    log: () => Deno.readTextFileSync(`${home}/log`),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(home, { recursive: true });
    },
  };
}

const AIOSMTPD = `
import signal, ssl, sys
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Mailbox
from aiosmtpd.smtp import AuthResult, LoginPassword

port, tls_port, mails, cert, key, authority, password = sys.argv[1:]

class Handler(Mailbox):
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("bad"):
            return "550 No such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

def authenticate(server, session, envelope, mechanism, data):
    ok = isinstance(data, LoginPassword) and data.login == b"ann" and data.password == password.encode()
    return AuthResult(success=ok, handled=ok)

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
if authority:
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority)
common = {"hostname": "127.0.0.1", "authenticator": authenticate, "auth_require_tls": False}
plain = Controller(Handler(mails), port=int(port), tls_context=context, **common)
secure = Controller(Handler(mails), port=int(tls_port), ssl_context=context, **common)
plain.start()
secure.start()
print("ready", flush=True)
signal.pause()
`;

/**
 * aiosmtpd, which accepts the user `ann` and refuses recipients that begin with "bad". It puts
 * mails into a maildir: into one of its own, or into that of a user of Dovecot.
 */
export async function aiosmtpdServer(
  password: string,
  maildir?: string,
  tls: MailTls = {},
): Promise<MailServer> {
  const [port, tlsPort] = [freePort(), freePort()];
  const home = await Deno.makeTempDir({ prefix: "aiosmtpd-" });
  const mails = maildir ?? `${home}/mails`;
  await Deno.writeTextFile(`${home}/server.py`, AIOSMTPD);
  await Deno.chmod(home, 0o777);
  await copyCertificates(home, tls);
  const [program, ...args] = [
    // The mails belong to the user to whom Dovecot gives them.
    ...Deno.uid() === 0 ? ["runuser", "-u", "mail", "--"] : [],
    // Another Python in the PATH would lack the package.
    ...["/usr/bin/python3", `${home}/server.py`, `${port}`, `${tlsPort}`, mails],
    ...[`${home}/server.pem`, `${home}/server_key.pem`],
    ...[tls.isMutual ? `${home}/authority.pem` : "", password],
  ];
  const child = new Deno.Command(program!, { args, cwd: "/", stdout: "piped", stderr: "null" })
    .spawn();
  const reader = child.stdout.getReader();
  const { done } = await reader.read();
  if (done) throw new Error("aiosmtpd did not start");
  return {
    host: "127.0.0.1",
    port,
    tlsPort,
    mails,
    log: () => "",
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await reader.cancel();
      await child.status;
      await Deno.remove(home, { recursive: true });
    },
  };
}

/** Postfix, which takes mails for ann@example.com alone. It needs root. */
export async function postfixServer(): Promise<MailServer> {
  const [port, tlsPort] = [freePort(), freePort()];
  const home = await Deno.makeTempDir({ prefix: "postfix-" });
  await Deno.chmod(home, 0o755);
  for (const name of ["etc", "queue", "data", "mails"]) {
    await Deno.mkdir(`${home}/${name}`, { mode: 0o755 });
  }
  await carryOut("chown", "postfix", `${home}/data`);
  await carryOut("chown", "mail", `${home}/mails`);
  const { stdout } = await new Deno.Command("id", { args: ["-u", "mail"] }).output();
  const uid = new TextDecoder().decode(stdout).trim();
  await Deno.writeTextFile(
    `${home}/etc/main.cf`,
    `compatibility_level = 3.6
queue_directory = ${home}/queue
data_directory = ${home}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = localhost
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks =
smtpd_relay_restrictions = reject_unauth_destination
smtpd_tls_cert_file = ${TLS}good.pem
smtpd_tls_key_file = ${TLS}good_key.pem
smtpd_tls_security_level = may
smtpd_tls_session_cache_database =
smtp_tls_session_cache_database =
virtual_mailbox_domains = example.com
virtual_mailbox_base = ${home}/mails
virtual_mailbox_maps = inline:{ {ann@example.com=ann/} }
virtual_minimum_uid = 1
virtual_uid_maps = static:${uid}
virtual_gid_maps = static:${uid}
alias_maps =
message_size_limit = 100000
maillog_file = ${home}/log
maillog_file_prefixes = ${home}
`,
  );
  const services = (await Deno.readTextFile("/usr/share/postfix/master.cf.dist"))
    .split("\n")
    // Continued lines belong to programs that are not here.
    .filter((line) =>
      /^\w/.test(line) &&
      !/^(smtp +inet|maildrop|uucp|ifmail|bsmtp|scalemail|mailman|postlog)/.test(line)
    )
    .map((line) => line.replace(/^(\S+ +\S+ +\S+ +\S+ +)y /, "$1n "));
  await Deno.writeTextFile(
    `${home}/etc/master.cf`,
    [
      ...services,
      `${port} inet n - n - - smtpd`,
      `${tlsPort} inet n - n - - smtpd`,
      "  -o smtpd_tls_wrappermode=yes",
      "postlog unix-dgram n - n - 1 postlogd",
      "",
    ].join("\n"),
  );
  await start("postfix", "-c", `${home}/etc`, "start");
  await listening(port);
  return {
    host: "127.0.0.1",
    port,
    tlsPort,
    mails: `${home}/mails`,
    log: () => Deno.readTextFileSync(`${home}/log`),
    async [Symbol.asyncDispose]() {
      await start("postfix", "-c", `${home}/etc`, "stop");
      await Deno.remove(home, { recursive: true });
    },
  };
}

/** The same for a program that leaves processes behind, which would keep its output open. */
async function start(program: string, ...args: string[]): Promise<void> {
  const options = { args, cwd: "/", stdin: "null", stdout: "null", stderr: "null" } as const;
  const { success } = await new Deno.Command(program, options).spawn().status;
  if (!success) throw new Error(`${program} ${args.join(" ")} failed`);
}

/** Copies them to where every user can read them. */
async function copyCertificates(home: string, { certificate = "good" }: MailTls): Promise<void> {
  const files = { authority: "authority", server: certificate, server_key: `${certificate}_key` };
  for (const [to, from] of Object.entries(files)) {
    await Deno.copyFile(`${TLS}${from}.pem`, `${home}/${to}.pem`);
    await Deno.chmod(`${home}/${to}.pem`, 0o644);
  }
}

async function listening(port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const patience = setTimeout(() => reject(new Error(`nothing listens at ${port}`)), 10_000);
  const attempt = async () => {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      resolve();
    } catch {
      setTimeout(attempt, 10);
    }
  };
  await attempt();
  await promise.finally(() => clearTimeout(patience));
}
