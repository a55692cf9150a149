import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runCli, startCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import {
  aiosmtpdServer,
  dovecotServer,
  type MailServer,
  postfixServer,
} from "../servers/mail_servers.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const CA = tlsPath("authority.pem");
const PASSWORD = "open-sesame-42";

const SIGN_UP = String.raw`
name: Sign up
vars:
  smtp: "{{SMTP}}"
  imap: "{{IMAP}}"
  password: "{{PASSWORD}}"
  ca: "{{CA}}"
jobs:
  - name: Mails
    id: mails
    defaults:
      smtp: { addr: "127.0.0.1:{{vars.smtp}}", from: Shop <shop@example.com> }
      imap:
        host: 127.0.0.1
        port: "{{vars.imap}}"
        username: ann
        password: "{{vars.password}}"
        tls: { ca: "{{vars.ca}}" }
    steps:
      - uses: smtp
        with:
          to: ann@example.com
          subject: Your code
          html: '<p>Grüße! Your code is <b>123456</b>.</p><a href="https://shop.example/?a=1&amp;b=2">Go</a>'
          attachments: [{ content: "a,b", filename: t.csv, type: text/csv }]
          auth: { username: ann, password: "{{vars.password}}" }
          starttls: true
          tls: { ca: "{{vars.ca}}" }
        test: res.sent == 1 && res.reply startsWith "250"
      - uses: imap
        id: code
        with: { wait_for: { subject: your CODE, from: shop@, to: ann, since: 1 minute ago, body: "123456" } }
        test: |
          len(res.mails) == 1 && res.mails[0].text contains "Grüße! Your code is 123456." &&
          res.mails[0].links == ["https://shop.example/?a=1&b=2"] &&
          res.mails[0].attachments[0].content == "a,b" && !("\\Seen" in res.mails[0].flags) &&
          res.mails[0].from == "shop@example.com" && res.mails[0].from_name == "Shop" &&
          res.mails[0].headers["content-type"] startsWith "multipart/mixed"
        outputs:
          code: capture(res.mails[0].text, "code is (\\d+)")[1]
      - uses: echo
        with: { message: "{{outputs.code.code}}" }
        test: res.message == "123456"
      - name: one connection serves the job
        uses: imap
        with: { commands: [{ name: examine, mailbox: INBOX }, { name: search, criteria: { bodies: ["nothing"] } }] }
        test: res.data.search.count == 0
      - uses: imap
        with:
          commands:
            - { name: create, mailbox: Work/Sub }
            - { name: select, mailbox: INBOX }
            - { name: append, mailbox: INBOX, message: "Subject: two\nX-Code: 2\n\nsecond", value: '\Seen' }
            - { name: append, mailbox: INBOX, message: "Subject: three\n\nthird" }
            - { name: uid search, criteria: { not_flags: [seen] } }
            - { name: uid fetch, dataitem: "ALL BODY.PEEK[HEADER.FIELDS (Subject)]" }
        test: |
          status == 0 && res.data.search.count == 2 && res.data.create.success &&
          res.data.fetch.messages[1].subject == "three" &&
          res.data.fetch.messages[1].headers == {"subject": "three"} &&
          res.data.fetch.messages[0].date startsWith "20" && res.mails == []
      - uses: imap
        with:
          commands:
            - { name: select, mailbox: INBOX }
            - { name: store, sequence: "1:2", dataitem: +FLAGS, value: '\Flagged' }
            - { name: copy, sequence: "1:2", mailbox: Work/Sub }
            - { name: move, sequence: "3", mailbox: Work/Sub }
            - { name: examine, mailbox: Work/Sub }
            - { name: search, criteria: { flags: [flagged], headers: { X-Code: "2" }, bodies: [sec, ond] } }
            - { name: fetch, dataitem: RFC822 }
            - { name: list, pattern: "Work/%" }
        test: |
          status == 0 && res.data.store.count == 2 && res.data.copy.count == 2 &&
          res.data.examine.exists == 3 && res.data.search.all == "2" &&
          res.data.fetch.messages[0].body == "second" && res.mails[0].headers["x-code"] == "2" &&
          res.data.list.mailboxes[0].name == "Work/Sub" && res.data.list.count == 1
      - uses: imap
        with:
          commands:
            - { name: select, mailbox: INBOX }
            - { name: fetch, sequence: "1", dataitem: "BODY[TEXT] FLAGS" }
            - { name: search, criteria: { flags: [unseen] } }
        test: res.data.search.count == 0 && res.data.fetch.messages[0].body contains "Gr=C3=BC=C3=9Fe"
      - uses: imap
        with:
          commands:
            - { name: rename, oldmailbox: Work/Sub, newmailbox: Work/New }
            - { name: subscribe, mailbox: Work/New }
            - { name: unsubscribe, mailbox: Work/New }
            - { name: delete, mailbox: Work/New }
            - { name: noop }
            - { name: select, mailbox: Nowhere }
        test: |
          status == 1 && res.data.noop.success && res.data.rename.new_mailbox == "Work/New" &&
          res.error startsWith "failed to execute command 6 (select): Mailbox doesn't exist"
      - uses: imap
        with: { commands: [{ name: select, mailbox: INBOX }, { name: copy, sequence: "1", mailbox: Nowhere }] }
        test: res.error contains "(copy)" && res.error contains "TRYCREATE"
      - name: what a search did not find is neither copied nor moved
        uses: imap
        with:
          commands:
            - { name: select, mailbox: INBOX }
            - { name: uid search, criteria: { subject: nowhere } }
            - { name: uid copy, mailbox: INBOX }
            - { name: create, mailbox: Empty }
            - { name: select, mailbox: Empty }
            - { name: store, sequence: "1:*", dataitem: FLAGS, value: seen }
            - { name: move, sequence: "1:*", mailbox: INBOX }
        test: |
          status == 0 && res.data.copy == {success: true, count: 0} &&
          res.data.store.count == 0 && res.data.move.count == 0
      - uses: imap
        with: { commands: [{ name: examine, mailbox: INBOX }, { name: store, sequence: "1", dataitem: +FLAGS, value: seen }] }
        test: res.error contains "the mailbox is read-only"
      - uses: imap
        with: { commands: [{ name: select, mailbox: INBOX }, { name: store, sequence: "1", dataitem: +FLAGS, value: [seen, '\Recent'] }] }
        test: res.error contains "the mailbox does not keep the flag"
`;

Deno.test("smtp sends a code that imap waits for, at aiosmtpd and Dovecot", async () => {
  await withFiles({ "flow.yml": SIGN_UP }, async (cwd) => {
    await using mailbox = await dovecotServer(PASSWORD);
    await using server = await aiosmtpdServer(PASSWORD, `${mailbox.mails}/ann`);
    const env = { SMTP: `${server.port}`, IMAP: `${mailbox.tlsPort}`, PASSWORD, CA };
    const args = ["-v", "--report-dir", "out", "flow.yml"];
    const { code, stdout, stderr } = await runCli(args, { cwd, env });
    assertEquals(code, 0, stdout);
    assertEquals(mailbox.log().match(/Login: user=<ann>/g)?.length, 1);
    const texts = [stdout, stderr];
    for (const { name } of Deno.readDirSync(`${cwd}/out`)) {
      texts.push(await Deno.readTextFile(`${cwd}/out/${name}`));
    }
    assert(texts.length > 3);
    const example = await runCli(["sign_up.yml"], {
      cwd: fromFileUrl(new URL("../../../examples/mail/", import.meta.url)),
      env: {
        SMTP_ADDR: `127.0.0.1:${server.port}`,
        IMAP_PORT: `${mailbox.port}`,
        IMAP_PASSWORD: PASSWORD,
      },
    });
    assertEquals([example.code, example.stderr], [0, ""], example.stdout);
    for (const text of texts) assertEquals(text.includes(PASSWORD), false);
    assertStringIncludes(stderr, "From: Shop <shop@example.com>");
  });
});

/** Runs one step of imap and returns what the failure says. */
async function refuse(cwd: string, params: string): Promise<string> {
  const flow = `name: n\njobs:\n- name: j\n  steps:\n  - uses: imap\n    with: ${params}\n`;
  await Deno.writeTextFile(`${cwd}/one.yml`, flow);
  const { stdout } = await runCli(["one.yml"], { cwd });
  return stdout.split("\nFailures\n")[1] ?? stdout;
}

Deno.test("imap says why it cannot connect to Dovecot, and which mails came instead", async (test) => {
  await withFiles({}, async (cwd) => {
    await using mailbox = await dovecotServer(PASSWORD);
    await using server = await aiosmtpdServer(PASSWORD, `${mailbox.mails}/ann`);
    const user = (params: string, password = PASSWORD) =>
      `{ host: 127.0.0.1, username: ann, password: ${password}, ${params} }`;
    const work = "commands: [{ name: noop }]";
    const plain = `port: ${mailbox.port}, tls: false`;
    const table: readonly (readonly [name: string, params: string, parts: readonly string[]])[] = [
      ["a wrong password", user(`${plain}, ${work}`, "wrong-password"), [
        `cannot sign in to the mailbox server at 127.0.0.1 port ${mailbox.port} as "ann": `,
        "Authentication failed",
        '– check "username" and "password"',
      ]],
      ["an unknown authority", user(`port: ${mailbox.tlsPort}, ${work}`), [
        "(UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
      ]],
      ["the same by STARTTLS", user(`port: ${mailbox.port}, starttls: true, ${work}`), [
        'is signed by an unknown certificate authority, "Test CA" (UNABLE_TO_VERIFY',
      ]],
      ["TLS to a port without it", user(`port: ${mailbox.port}, ${work}`), ["TLS"]],
      [
        "a mail that does not come",
        user(`${plain}, wait_for: { subject: Code, timeout: 1500ms }`),
        [
          'timed out after 1.5s while waiting for a mail with subject "Code" in "INBOX" of ann at',
          "no other mail came",
        ],
      ],
      ["a mailbox that is not there", user(`${plain}, wait_for: { subject: a, mailbox: Nope }`), [
        `cannot look for mails in "Nope" of ann at 127.0.0.1 port ${mailbox.port}: Mailbox doesn't`,
      ]],
    ];
    for (const [name, params, parts] of table) {
      await test.step(name, async () => {
        const said = (await refuse(cwd, params)).replace(/\s+/g, " ");
        for (const part of parts) assertStringIncludes(said, part);
        assertEquals(said.includes(PASSWORD), false);
      });
    }
    await test.step("TLS options in the catalogue's spelling", async () => {
      const said = await refuse(
        cwd,
        user(
          `port: ${mailbox.tlsPort}, insecure_skip_tls: true, commands: [{ name: select, mailbox: Nope }]`,
        ),
      );
      assertStringIncludes(said, "refused: ");
    });
    await test.step("a connection with other TLS options is another one", async () => {
      const flow = `name: n
jobs:
- name: j
  defaults: { imap: ${user(`port: ${mailbox.tlsPort}, ${work}`)} }
  steps:
  - { uses: imap, with: { insecure_skip_tls: true }, test: status == 0 }
  - { uses: imap }
`;
      await Deno.writeTextFile(`${cwd}/both.yml`, flow);
      const { stdout } = await runCli(["both.yml"], { cwd });
      assertStringIncludes(stdout, "1. ✓ imap", stdout);
      assertStringIncludes(stdout, "(UNABLE_TO_VERIFY_LEAF_SIGNATURE)", stdout);
    });
    await test.step("the mails that came instead", async () => {
      const flow = `name: n
jobs:
- name: wait
  steps:
  - uses: imap
    with: ${user(`${plain}, wait_for: { subject: Code, since: 1 hour ago, timeout: 6s }`)}
- name: send
  steps:
  - uses: smtp
    with: { addr: "127.0.0.1:${server.port}", from: a@example.com, to: ann@example.com, subject: Other }
    wait: 1s
`;
      await Deno.writeTextFile(`${cwd}/two.yml`, flow);
      const { stdout } = await runCli(["two.yml"], { cwd });
      assertStringIncludes(stdout, '1 other mail came: "Other" from a@example.com');
    });
    await test.step("the mails that were there before", async () => {
      const said = await refuse(
        cwd,
        user(`${plain}, wait_for: { subject: Code, timeout: 1500ms }`),
      );
      assertStringIncludes(
        said.replace(/\s+/g, " "),
        'no other mail came; the newest there were "Other" from a@example.com',
      );
    });
    await test.step("Ctrl-C ends the wait", async () => {
      const flow = `name: n\njobs:\n- name: j\n  steps:\n  - uses: imap\n    with: ${
        user(`${plain}, wait_for: { subject: Code }`)
      }\n`;
      await Deno.writeTextFile(`${cwd}/three.yml`, flow);
      const logins = () => mailbox.log().match(/Login: /g)?.length ?? 0;
      const before = logins();
      const child = startCli(["three.yml"], { cwd });
      await seen(() => logins() > before);
      child.kill("SIGINT");
      const { stdout, code } = await child.output();
      assertEquals(code, 1);
      assertStringIncludes(new TextDecoder().decode(stdout), "interrupted by SIGINT while");
      await seen(() =>
        (mailbox.log().match(/Disconnected|Logged out|Connection closed/g) ?? []).length > 0
      );
    });
  });
});

/** Resolves when it is true. */
async function seen(isTrue: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = setInterval(() => isTrue() && resolve(), 20);
  await promise.finally(() => clearInterval(look));
}

Deno.test({
  name: "smtp sends to Postfix, by STARTTLS and TLS, and shows what it refuses",
  ignore: Deno.uid() !== 0,
  async fn() {
    await withFiles({}, async (cwd) => {
      await using server = await postfixServer();
      const flow = `name: Postfix
jobs:
- name: j
  defaults:
    smtp: { addr: "127.0.0.1:${server.port}", from: a@example.org, to: ann@example.com, tls: { ca: ${CA} } }
  steps:
  - uses: smtp
    with: { starttls: true, subject: one, body: "line\\n.dot" }
    test: res.sent == 1 && res.reply contains "queued as"
  - uses: smtp
    with: { addr: "127.0.0.1:${server.tlsPort}" }
    test: res.sent == 1
  - uses: smtp
    with: { starttls: true, session: 3, message: 9 }
    test: res.sent == 9 && res.failed == 0
  - uses: smtp
    with: { starttls: true, to: "nobody@example.com, ann@example.com" }
    test: |
      status == 1 && res.sent == 1 && res.rejected == ["nobody@example.com"] &&
      res.error contains "550 5.1.1" && res.error contains "User unknown"
  - uses: smtp
    with: { starttls: true, to: a@elsewhere.example }
    test: res.sent == 0 && res.reply startsWith "554 5.7.1" && res.reply contains "Relay access denied"
  - uses: smtp
    with: { starttls: true, length: 200000 }
    test: res.sent == 0 && res.error contains "larger than allowed"
`;
      await Deno.writeTextFile(`${cwd}/flow.yml`, flow);
      const { code, stdout } = await runCli(["flow.yml"], { cwd });
      assertEquals(code, 0, stdout);
      const delivered = () =>
        [...Deno.readDirSync(server.mails)].length > 0
          ? [...Deno.readDirSync(`${server.mails}/ann/new`)].length
          : 0;
      await seen(() => delivered() === 12);
    });
  },
});

const MANY = `name: Many
vars: { smtp: "{{SMTP}}", imap: "{{IMAP}}", password: "{{PASSWORD}}", large: "{{LARGE}}" }
jobs:
- name: large
  id: large
  steps:
  - uses: smtp
    with:
      addr: 127.0.0.1:{{vars.smtp}}
      from: a@example.com
      to: ann@example.com
      subject: large
      attachments: ["{{vars.large}}"]
    test: res.sent == 1
  - uses: imap
    with:
      host: 127.0.0.1
      port: "{{vars.imap}}"
      tls: false
      username: ann
      password: "{{vars.password}}"
      wait_for: { subject: large }
    test: res.mails[0].attachments[0].size == 10000000
- name: a hundred in a row
  needs: [large]
  defaults:
    smtp: { addr: "127.0.0.1:{{vars.smtp}}", from: a@example.com, to: bob@example.com }
    imap: { host: 127.0.0.1, port: "{{vars.imap}}", tls: false, username: bob, password: "{{vars.password}}" }
  steps:
  - uses: smtp
    iteration: "{{map(1..100, ({n: #}))}}"
    with: { subject: "mail {{vars.n}}" }
    test: res.sent == 1
  - uses: imap
    iteration: "{{map(1..100, ({n: #}))}}"
    with: { commands: [{ name: noop }] }
    test: res.code == 0
- name: twenty at once
  needs: [large]
  repeat: { count: 20, async: true }
  steps:
  - uses: smtp
    with: { addr: "127.0.0.1:{{vars.smtp}}", from: a@example.com, to: bob@example.com }
    test: res.sent == 1
  - uses: imap
    with:
      host: 127.0.0.1
      port: "{{vars.imap}}"
      tls: false
      username: bob
      password: "{{vars.password}}"
      commands: [{ name: select, mailbox: INBOX }]
    test: res.code == 0
`;

Deno.test("smtp and imap carry 10 MB, a hundred steps in a row and twenty at once", async () => {
  await withFiles({ "flow.yml": MANY, "large.bin": "x".repeat(10_000_000) }, async (cwd) => {
    await using mailbox = await dovecotServer(PASSWORD);
    await using server = await aiosmtpdServer(PASSWORD, `${mailbox.mails}/ann`);
    const env = {
      ...{ SMTP: `${server.port}`, IMAP: `${mailbox.port}`, PASSWORD },
      LARGE: `${cwd}/large.bin`,
    };
    const { code, stdout, stderr } = await runCli(["flow.yml"], { cwd, env });
    assertEquals([code, stderr], [0, ""], stdout);
    // One connection for each job, and for each round of the repeated one.
    assertEquals(mailbox.log().match(/Login: user=</g)?.length, 22);
  });
});

/** Runs a step of each, and returns the output. */
async function useBoth(cwd: string, server: MailServer, mailbox: MailServer, tls: string) {
  await Deno.writeTextFile(
    `${cwd}/flow.yml`,
    `name: TLS
jobs:
- name: j
  steps:
  - uses: smtp
    with: { addr: "127.0.0.1:${server.tlsPort}", from: a@example.com, to: ann@example.com, tls: ${tls} }
    test: res.sent == 1
  - uses: smtp
    with: { addr: "127.0.0.1:${server.port}", from: a@example.com, to: ann@example.com, starttls: true, tls: ${tls} }
    test: res.sent == 1
  - uses: imap
    with: { host: 127.0.0.1, port: ${mailbox.tlsPort}, username: ann, password: ${PASSWORD}, tls: ${tls}, commands: [{ name: noop }] }
    test: res.code == 0
  - uses: imap
    with: { host: 127.0.0.1, port: ${mailbox.port}, starttls: true, username: ann, password: ${PASSWORD}, tls: ${tls}, commands: [{ name: noop }] }
    test: res.code == 0
`,
  );
  const { code, stdout } = await runCli(["flow.yml"], { cwd });
  const [, ...steps] = stdout.split("\nFailures\n")[0]!.split(/^ {1,3}\d+\. /m);
  return { code, stdout, steps };
}

Deno.test("smtp and imap present client certificates, and explain those of servers", async (test) => {
  await withFiles({}, async (cwd) => {
    await test.step("a server that requires one", async () => {
      await using mailbox = await dovecotServer(PASSWORD, { isMutual: true });
      await using server = await aiosmtpdServer(PASSWORD, undefined, { isMutual: true });
      const cert = CA.replace("authority", "good");
      const client = `{ ca: "${CA}", cert: "${cert}", key: "${cert.replace("good", "good_key")}" }`;
      const { code, stdout } = await useBoth(cwd, server, mailbox, client);
      assertEquals(code, 0, stdout);
      const pfx = `{ ca: "${CA}", pfx: "${cert.replace(".pem", ".p12")}", passphrase: tiger }`;
      assertEquals((await useBoth(cwd, server, mailbox, pfx)).code, 0);
      const without = await useBoth(cwd, server, mailbox, `{ ca: "${CA}" }`);
      assertEquals(without.steps.length, 4);
      for (const step of without.steps) assertStringIncludes(step, 'give one: "tls: { cert: ');
    });
    await test.step("an expired one", async () => {
      await using mailbox = await dovecotServer(PASSWORD, { certificate: "expired" });
      await using server = await aiosmtpdServer(PASSWORD, undefined, { certificate: "expired" });
      const { steps } = await useBoth(cwd, server, mailbox, `{ ca: "${CA}" }`);
      assertEquals(steps.length, 4);
      const [, starttls, ...others] = steps;
      assertStringIncludes(starttls!, "it may have expired");
      for (const step of others) assertStringIncludes(step, "(CERT_HAS_EXPIRED)");
    });
  });
});
