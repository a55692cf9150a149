/**
 * Starts two SMTP servers on free ports, one of which speaks TLS from the first byte, and prints
 * their URL: smtp://127.0.0.1:port?tls=port. Each mail goes into a file of a directory, with its
 * envelope as JSON in the first line. They refuse addresses that begin with "bad" and
 * mails that contain "spam", and accept the user "ann". Arguments: the directory, the files of a
 * certificate and its key, the password. They end when their input ends.
 *
 * @module
 */
import { SMTPServer } from "smtp-server";

const [directory = "", cert = "", key = "", password = ""] = Deno.args;
let count = 0;

// deno-lint-ignore no-explicit-any
type Any = any;

function refuse(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}

async function start(secure: boolean): Promise<number> {
  const server = new SMTPServer({
    secure,
    cert: Deno.readTextFileSync(cert),
    key: Deno.readTextFileSync(key),
    authOptional: true,
    authMethods: ["PLAIN", "LOGIN", "CRAM-MD5", "XOAUTH2"],
    allowInsecureAuth: true,
    hideSTARTTLS: false,
    size: 5_000_000,
    onAuth(auth: Any, _session: Any, done: Any) {
      const isRight = auth.password === password || auth.accessToken === password ||
        auth.validatePassword?.(password);
      if (auth.username === "ann" && isRight) done(null, { user: "ann" });
      else done(new Error("Invalid username or password"));
    },
    onMailFrom({ address }: Any, _session: Any, done: Any) {
      done(address.startsWith("bad") ? refuse(553, "No such sender here") : undefined);
    },
    onRcptTo({ address }: Any, _session: Any, done: Any) {
      done(address.startsWith("bad") ? refuse(550, "No such user here") : undefined);
    },
    onData(stream: Any, session: Any, done: Any) {
      let text = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => text += chunk);
      stream.on("end", () => {
        if (text.includes("spam")) return done(refuse(554, "Looks like spam"));
        const envelope = {
          from: session.envelope.mailFrom.address,
          to: session.envelope.rcptTo.map(({ address }: Any) => address),
          isSecure: session.secure,
          user: session.user ?? "",
          session: session.id,
          hostname: session.hostNameAppearsAs,
        };
        Deno.writeTextFileSync(
          `${directory}/${String(++count).padStart(3, "0")}.mail`,
          `${JSON.stringify(envelope)}\n${text}`,
        );
        done(null, `queued as ${count}`);
      });
    },
  } as Any);
  server.on("error", () => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return (server.server.address() as Any).port;
}

// deno-lint-ignore no-console
console.log(`smtp://127.0.0.1:${await start(false)}?tls=${await start(true)}`);
await Deno.stdin.readable.pipeTo(new WritableStream());
Deno.exit(0);
