import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { smtp } from "../../../src/actions/smtp/smtp.ts";
import { runnerOf } from "../../support/run_action.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { startTool } from "../../support/servers/tool_server.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const runSmtp = runnerOf(smtp);

const FIXTURES = tlsPath("");
const CA = `${FIXTURES}authority.pem`;
const PASSWORD = "open-sesame-42";

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly isSecure: boolean;
  readonly user: string;
  readonly session: string;
  readonly hostname: string;
  readonly text: string;
}

/** Two servers, one plain and one with TLS from the first byte, and what they received. */
async function mailServers(dir: string, certificate = "good") {
  const args = [
    dir,
    `${FIXTURES}${certificate}.pem`,
    `${FIXTURES}${certificate}_key.pem`,
    PASSWORD,
  ];
  const tool = await startTool("mail/smtp_server.ts", args);
  const url = new URL(tool.url);
  return {
    plain: `127.0.0.1:${url.port}`,
    secure: `127.0.0.1:${url.searchParams.get("tls")}`,
    received(): Received[] {
      const names = [...Deno.readDirSync(dir)].map(({ name }) => name)
        .filter((name) => name.endsWith(".mail")).sort();
      return names.map((name) => {
        const content = Deno.readTextFileSync(`${dir}/${name}`);
        const end = content.indexOf("\n");
        return { ...JSON.parse(content.slice(0, end)), text: content.slice(end + 1) };
      });
    },
    [Symbol.asyncDispose]: () => tool[Symbol.asyncDispose](),
  };
}

async function send(params: Dict): Promise<Dict> {
  await using context = actionContext();
  return (await runSmtp({ from: "a@example.com", to: "b@example.com", ...params }, context)).res;
}

async function failure(params: Dict): Promise<string> {
  try {
    return JSON.stringify(await send(params));
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return `${error.message}${error.hint === undefined ? "" : `; ${error.hint}`}`;
  }
}

Deno.test("smtp sends mails, plain and secure, and says what the server replied", async (test) => {
  await withFiles({ "note.txt": "a note" }, async (dir) => {
    await using server = await mailServers(dir);
    const last = () => server.received().at(-1)!;

    await test.step("with text, HTML, headers, copies and attachments", async () => {
      const res = await send({
        addr: server.plain,
        from: "Ann <ann@example.com>",
        to: ["bob@example.com", "Carol <carol@example.com>"],
        cc: "dan@example.com",
        bcc: "eve@example.com",
        reply_to: "replies@example.com",
        subject: "Grüße",
        body: "line one\n.a line with a dot",
        html: "<b>hello</b>",
        headers: {
          "X-One": "1",
          "X-Many": ["a", "b"],
          "Date": "Tue, 02 Jan 2024 03:04:05 +0000",
        },
        attachments: [`${dir}/note.txt`, { content: "x,y", filename: "t.csv", type: "text/csv" }, {
          base64: "AAEC",
          filename: "b.bin",
        }],
        myhostname: "client.example.com",
      });
      const to = ["bob@example.com", "carol@example.com", "dan@example.com", "eve@example.com"];
      assertEquals([res.code, res.sent, res.failed, res.total, res.error], [0, 1, 0, 1, ""]);
      assertEquals([res.accepted, res.rejected, res.reply], [to, [], "250 queued as 1"]);
      const mail = last();
      assertEquals([mail.from, mail.to, mail.isSecure, mail.hostname], [
        "ann@example.com",
        to,
        false,
        "client.example.com",
      ]);
      assertMatch(mail.text, /^From: Ann <ann@example\.com>\r$/m);
      assertMatch(mail.text, /^Subject: =\?UTF-8\?/m);
      assertMatch(mail.text, /^X-Many: a\r\nX-Many: b\r$/m);
      assertMatch(mail.text, /^Date: Tue, 02 Jan 2024 03:04:05 \+0000\r$/m);
      assertMatch(mail.text, /^Reply-To: replies@example\.com\r$/m);
      assertMatch(mail.text, /^\.a line with a dot\r$/m);
      assertMatch(mail.text, /^Content-Disposition: attachment; filename=note\.txt\r$/m);
      assertStringIncludes(mail.text, "AAEC");
      assertEquals(mail.text.includes("eve@example.com"), false);
      for (const text of [mail.text, res.maildata]) {
        assertStringIncludes(String(text), String(res.message_id));
      }
    });

    await test.step("by STARTTLS and with TLS from the first byte", async () => {
      await send({ addr: server.plain, starttls: true, tls: { ca: CA } });
      assertEquals(last().isSecure, true);
      await send({ addr: server.secure, tls: { ca: CA } });
      assertEquals(last().isSecure, true);
      await send({ addr: server.plain, tls: false });
      assertEquals(last().isSecure, false);
    });

    await test.step("signed in", async () => {
      for (const method of ["PLAIN", "LOGIN", "CRAM-MD5"]) {
        const auth = { username: "ann", password: PASSWORD, method };
        await send({ addr: server.plain, auth, tls: { ca: CA }, starttls: true });
        assertEquals([last().user, last().isSecure], ["ann", true]);
      }
      const auth = { username: "ann", access_token: PASSWORD };
      await send({ addr: server.plain, auth, starttls: false });
      assertEquals([last().user, last().isSecure], ["ann", false]);
    });

    await test.step("many in several sessions, each marked", async () => {
      const before = server.received().length;
      const res = await send({
        ...{ addr: server.plain, subject: "Bulk", session: 3, message: 7, length: 100 },
      });
      assertEquals([res.sent, res.failed, res.total], [7, 0, 7]);
      const mails = server.received().slice(before);
      assertEquals(mails.length, 7);
      assertEquals(new Set(mails.map(({ session }) => session)).size, 3);
      assertEquals(new Set(mails.map(({ text }) => /^Message-ID: .*/mi.exec(text)![0])).size, 7);
      for (const { text } of mails) {
        assertMatch(text, /^Subject: Bulk - \d+\.\w+\r$/m);
        assertMatch(text, /^X-Send-Timestamp-Ns: \d{19}\r$/m);
        assertMatch(text.replace("=\r\n", ""), /^This is a test mail\.\r\n\*{80}\r\n\*{20}\r$/m);
      }
    });

    await test.step("one connection serves the steps of a job, and a fresh one its step", async () => {
      await using context = actionContext();
      const mail = { from: "a@example.com", to: "b@example.com", addr: server.plain };
      const sessions: string[] = [];
      for (const fresh of [false, false, true]) {
        await runSmtp({ ...mail, fresh }, context);
        sessions.push(last().session);
      }
      assertEquals(sessions[0], sessions[1]);
      assert(sessions[0] !== sessions[2]);
    });

    await test.step("a refusal of the server is a result", async () => {
      const some = await send({ addr: server.plain, to: "bad@example.com, b@example.com" });
      assertEquals([some.code, some.sent, some.accepted, some.rejected], [
        ...[1, 1, ["b@example.com"], ["bad@example.com"]],
      ]);
      assertEquals(some.error, "bad@example.com: 550 No such user here");
      const none = await send({ addr: server.plain, to: "bad@example.com" });
      assertEquals([none.code, none.sent, none.failed, none.reply], [
        ...[1, 0, 1, "550 No such user here"],
      ]);
      const many = await send({ addr: server.plain, to: "bad@example.com", message: 3 });
      assertEquals([many.failed, many.error], [3, "bad@example.com: 550 No such user here"]);
      const sender = await send({ addr: server.plain, from: "bad@example.com" });
      assertEquals([sender.sent, sender.rejected, sender.error], [
        ...[0, ["bad@example.com"], "bad@example.com: 553 No such sender here"],
      ]);
      const spam = await send({ addr: server.plain, body: "spam" });
      assertEquals([spam.sent, spam.error, spam.rejected], [
        ...[0, "b@example.com: 554 Looks like spam", ["b@example.com"]],
      ]);
      const large = await send({ addr: server.plain, length: 6_000_000 });
      assertEquals(large.sent, 0);
      assertStringIncludes(String(large.error), "larger than allowed");
    });

    await test.step("sign-in and TLS that fail say why", async () => {
      const peer = `the mail server at 127.0.0.1 port ${server.plain.slice(10)}`;
      const wrong = { username: "ann", password: "wrong-password" };
      assertEquals(
        await failure({ addr: server.plain, auth: wrong, tls: { ca: CA }, starttls: true }),
        `cannot sign in to ${peer} as "ann": 535 Invalid username or password; check "auth"`,
      );
      assertStringIncludes(
        await failure({ addr: server.plain, starttls: true }),
        `cannot connect to ${peer}: `,
      );
      assertStringIncludes(
        await failure({ addr: server.plain, starttls: true }),
        "(UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
      );
      assertStringIncludes(
        await failure({ addr: server.secure, tls: true }),
        "(UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
      );
      assertStringIncludes(await failure({ addr: server.plain, tls: true }), "TLS");
      assertStringIncludes(await failure({ addr: server.plain, to: "nobody" }), '"to" has no mail');
      assertStringIncludes(
        await failure({ addr: server.plain, cc: "ann@example.com, bob" }),
        'cannot run smtp: "cc" has no mail address: "bob"',
      );
      const named = await send({ addr: server.plain, to: '"Doe, Ann" <ann@example.com>, ' });
      assertEquals(named.accepted, ["ann@example.com"]);
    });
  });
});

Deno.test("smtp refuses an expired certificate, by STARTTLS and from the first byte", async () => {
  await withFiles({}, async (dir) => {
    await using server = await mailServers(dir, "expired");
    const tls = { ca: CA };
    assertStringIncludes(await failure({ addr: server.secure, tls }), "(CERT_HAS_EXPIRED)");
    assertStringIncludes(
      await failure({ addr: server.plain, starttls: true, tls }),
      "is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE); it may have expired",
    );
    assertEquals((await send({ addr: server.secure, tls: { verify: false } })).sent, 1);
  });
});

Deno.test("smtp ends with its attempt and says what it waited for", async () => {
  const { promise: greeted, resolve } = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await connection.send("220 hello\r\n");
    resolve();
    await connection.closed();
    closed.resolve();
  });
  await using context = actionContext();
  const params = { addr: `127.0.0.1:${server.port}`, from: "a@b.example", to: "c@d.example" };
  const sending = Promise.resolve(runSmtp(params, context)).catch((error) => error.message);
  await greeted;
  context.stop(new StepError("interrupted by SIGINT"));
  assertMatch(
    await sending,
    /^interrupted by SIGINT while (waiting for the (greeting|reply)|connecting)/,
  );
  await closed.promise;
  assertEquals(context.stops, 0);
});

Deno.test("smtp explains a server that is not there or speaks something else", async () => {
  assertEquals(
    await failure({ addr: "127.0.0.1:1" }),
    "cannot connect to the mail server at 127.0.0.1 port 1: 127.0.0.1 port 1 refused the connection (ECONNREFUSED); " +
      "is the server running there?",
  );
  assertStringIncludes(await failure({ addr: "nowhere.invalid:25" }), "(ENOTFOUND)");
  assertEquals(
    await failure({ addr: "127.0.0.1:1", length: "-4" }),
    'cannot run smtp: "length" must be 0 or greater, not -4',
  );
  const said = async (lines: readonly string[], params: Dict = {}) => {
    await using server = rawServer(async (connection) => {
      for (const line of lines) {
        await connection.send(`${line}\r\n`);
      }
      await connection.closed();
      connection.close();
    });
    const message = await failure({ addr: `127.0.0.1:${server.port}`, ...params });
    return message.replaceAll(String(server.port), "PORT");
  };
  const address = "the mail server at 127.0.0.1 port PORT";
  assertEquals(
    await said(["SSH-2.0-OpenSSH_9.2"]),
    `cannot connect to ${address}: it does not speak SMTP: it sent "SSH-2.0-OpenSSH_9.2"; ` +
      "check the port: SMTP is at 25, 465 or 587",
  );
  assertEquals(
    await said(["554 no service for you"]),
    `cannot connect to ${address}: it replied 554 no service for you`,
  );
  assertEquals(
    await said([], { timeout: "400ms" }),
    `timed out after 400ms while waiting for the greeting of ${address}; ` +
      "write tls: true for a port that speaks TLS from the first byte",
  );
  assertEquals(
    await said(["220 hello"], { timeout: "400ms" }),
    `timed out after 400ms while waiting for the reply to EHLO from ${address}`,
  );
  assertEquals(
    await said(["220 hello", "250 plain"], { auth: { username: "a", password: "secret-42" } }),
    `cannot sign in to ${address}: it offers no sign-in (AUTH); ` +
      "many servers offer it after STARTTLS only: starttls: true",
  );
  assertEquals(
    await said(["220 hello", "250 plain", "502 what?"], { starttls: true }),
    `cannot connect to ${address}: it does not offer STARTTLS: 502 what?; ` +
      "leave out starttls, or write tls: true for a port that speaks TLS from the first byte",
  );
  assertEquals(
    await said(["220 hello", "250 plain", "250 ok", "250 ok"], { timeout: "400ms" }),
    `timed out after 400ms while waiting for the reply to DATA from ${address}`,
  );
});

Deno.test("smtp shows mails with their headers, and a password nowhere", async () => {
  await withFiles({}, async (dir) => {
    await using server = await mailServers(dir);
    await Deno.writeTextFile(
      `${dir}/w.yml`,
      `name: Mail
vars: { password: "{{PASSWORD}}" }
jobs:
  - name: Send
    steps:
      - uses: smtp
        with:
          addr: ${server.plain}
          from: Ann <ann@example.com>
          to: bob@example.com
          subject: Viele Grüße aus der Ferne, und ${PASSWORD} für dich
          headers: { X-Plain: word, X-Base64: "日本語日本語日本語日本語日本語日本語日本語日本語" }
          body: It is me, ${PASSWORD}.
          auth: { username: ann, password: "{{vars.password}}" }
          starttls: false
        test: res.sent == 2
`,
    );
    const options = { cwd: dir, env: { PASSWORD } };
    const { code, stdout } = await runMain(["-v", "w.yml"], options);
    assertEquals(code, 1);
    assertStringIncludes(stdout, "From: Ann <ann@example.com>");
    assertStringIncludes(stdout, "Subject: Viele Grüße aus der Ferne, und *** für dich");
    assertStringIncludes(stdout, `X-Base64: ${"日本語".repeat(8)}`);
    assertStringIncludes(stdout, "Message-ID: <");
    assertStringIncludes(stdout, "It is me, ***.");
    assertEquals(stdout.includes(PASSWORD), false);
    assertEquals(server.received().at(-1)!.user, "ann");
    const denied = await runMain(["--allow-net=example.com", "w.yml"], options);
    assertStringIncludes(denied.stdout, "--allow-net does not name 127.0.0.1 port");
  });
});
