/**
 * Workflows as people write them for Probe, against real servers: they run here unchanged.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { runCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";
import { mariadbServer, postgresServer } from "./servers/database_servers.ts";
import { aiosmtpdServer, dovecotServer } from "./servers/mail_servers.ts";
import { sshServer } from "./servers/ssh_server.ts";
import { assertPassed } from "../support/assert_passed.ts";

const PASSWORD = "open-sesame-42";

async function assertRuns(flow: string, env: Record<string, string>): Promise<void> {
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const { code, stdout, stderr } = await runCli(["flow.yml"], { cwd, env });
    assertEquals([code, stderr], [0, ""], stdout);
    assertPassed(stdout);
  });
}

/** A table that is made, filled, read and dropped. */
function tableFlow(dsn: string, address: (n: number) => string): string {
  return `name: Staff
vars:
  port: "{{DB_PORT}}"
  pass: "{{DB_PASS}}"
jobs:
- name: Table
  id: table
  defaults:
    db: { dsn: "${dsn}" }
  steps:
  - { name: connect, uses: db, with: { query: SELECT 1 AS one }, test: "res.code == 0 && res.rows[0].one == 1" }
  - { name: create, uses: db, with: { query: "CREATE TABLE staff (name VARCHAR(20), pay DECIMAL(8,2), since DATE)" }, test: res.code == 0 }
  - name: insert
    uses: db
    with:
      query: "INSERT INTO staff VALUES (${address(1)}, ${address(2)}, ${address(3)})"
      params: [Ann, 1200.5, 2026-01-15]
    test: res.code == 0 && res.rows_affected == 1
  - name: select
    id: ann
    uses: db
    with: { query: "SELECT * FROM staff WHERE name = ${address(1)}", params: [Ann] }
    test: len(res.rows) == 1 && res.rows[0].pay == "1200.50"
    outputs: { name: "res.rows[0].name" }
  - { name: mistake, uses: db, with: { query: SELECT * FROM nowhere }, test: res.code == 1 && res.error contains "nowhere" }
- name: Clean up
  needs: [table]
  steps:
  - name: drop the table of {{outputs.ann.name}}
    uses: db
    with: { dsn: "${dsn}", query: DROP TABLE staff, timeout: 10s }
    test: res.code == 0
`;
}

Deno.test("workflows for Probe run against PostgreSQL and MariaDB", async (test) => {
  await test.step("PostgreSQL", async () => {
    await using server = await postgresServer(PASSWORD);
    const dsn = "postgres://app:{{vars.pass}}@127.0.0.1:{{vars.port}}/postgres?sslmode=disable";
    const flow = tableFlow(dsn, (n) => `$${n}`);
    await assertRuns(flow, { DB_PORT: `${server.port}`, DB_PASS: PASSWORD });
  });
  await test.step("MariaDB", async () => {
    await using server = await mariadbServer(PASSWORD);
    const dsn = "mysql://app:{{vars.pass}}@127.0.0.1:{{vars.port}}/test";
    const flow = tableFlow(dsn, () => "?");
    await assertRuns(flow, { DB_PORT: `${server.port}`, DB_PASS: PASSWORD });
  });
});

Deno.test("workflows for Probe run against OpenSSH", async () => {
  await using server = await sshServer();
  await assertRuns(
    `name: Server
vars: { port: "{{SSH_PORT ?? 22}}", user: "{{SSH_USER}}", pass: "{{SSH_PASS ?? ''}}", key: "{{SSH_KEY ?? ''}}" }
jobs:
- name: Remote
  defaults:
    ssh:
      host: 127.0.0.1
      port: "{{vars.port}}"
      user: "{{vars.user}}"
      password: "{{vars.pass}}"
      key_file: "{{vars.key}}"
      timeout: 30s
      strict_host_check: false
  steps:
  - { name: a pipe, uses: ssh, with: { cmd: "echo a b | wc -w", workdir: /tmp }, test: res.code == 0 && trim(res.stdout) == "2" }
  - name: two lines
    uses: ssh
    with:
      cmd: |
        whoami
        pwd
    test: res.code == 0 && res.stdout contains vars.user
  - { name: a code, uses: ssh, with: { cmd: exit 4 }, test: res.code == 4 && status == 1 }
`,
    { SSH_PORT: `${server.port}`, SSH_USER: server.user, SSH_PASS: server.password },
  );
});

Deno.test("workflows for Probe run against aiosmtpd and Dovecot", async () => {
  await using mailbox = await dovecotServer(PASSWORD);
  await using server = await aiosmtpdServer(PASSWORD, `${mailbox.mails}/ann`);
  await assertRuns(
    `name: Mails
vars: { smtp: "{{SMTP_ADDR}}", port: "{{IMAP_PORT ?? 993}}", pass: "{{MAIL_PASS}}", tls: "{{MAIL_TLS ?? 'true'}}" }
jobs:
- name: Mails
  defaults:
    imap:
      host: 127.0.0.1
      port: "{{vars.port}}"
      username: ann
      password: "{{vars.pass}}"
      tls: "{{vars.tls == 'true'}}"
  steps:
  - name: send some
    uses: smtp
    with: { addr: "{{vars.smtp}}", from: shop@example.com, to: ann@example.com, subject: Offers, myhostname: shop.local, session: 2, message: 4, length: 800 }
    test: res.code == 0 && res.sent == 4 && res.failed == 0 && res.total == 4
  - name: count them
    uses: imap
    with:
      commands:
      - { name: select, mailbox: INBOX }
      - { name: uid search, criteria: { not_flags: [seen] } }
      - { name: uid fetch, dataitem: ALL }
    test: status == 0 && res.data.select.exists == 4 && len(res.data.fetch.messages) == 4
    retry: { max_attempts: 50, interval: 200ms }
    echo: "{{res.data.fetch.messages[0].subject}}"
  - name: folders
    uses: imap
    with: { commands: [{ name: list, reference: "", pattern: "*" }] }
    test: status == 0 && len(res.data.list.mailboxes) > 0
  - name: a mistake
    uses: imap
    with: { commands: [{ name: select, mailbox: Nowhere }] }
    test: status == 1 && res.error != ""
`,
    {
      SMTP_ADDR: `127.0.0.1:${server.port}`,
      IMAP_PORT: `${mailbox.port}`,
      MAIL_PASS: PASSWORD,
      MAIL_TLS: "false",
    },
  );
});

Deno.test("workflows for Probe run in Chromium", async () => {
  await assertRuns(
    `name: Page
vars:
  page: "data:text/html,<title>Tea</title><h1>Teas</h1><form><input id=q><select id=s><option value=a>A<option value=b>B</select></form>"
jobs:
- name: Page
  steps:
  - name: read and fill in
    uses: browser
    with:
      headless: true
      window_w: 1024
      window_h: 768
      timeout: 30s
      actions:
      - { name: navigate, url: "{{vars.page}}" }
      - { name: wait_visible, selector: h1 }
      - { id: title, name: text, selector: h1 }
      - { name: send_keys, selector: "#q", value: assam }
      - { id: typed, name: value, selector: "#q" }
      - { id: kind, name: get_attribute, selector: "#q", attribute: [id] }
      - { id: shot, name: capture_screenshot }
    test: res.code == 0 && res.results.title == "Teas" && res.results.typed == "assam" && res.filepaths.shot != ""
`,
    {},
  );
});
