import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { imap } from "../../../src/actions/imap/imap.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { runnerOf } from "../../support/run_action.ts";

const PASSWORD = "open-sesame-42";

const MAIL = [
  ...["From: Shop <shop@example.com>", "To: ann@example.com", "Subject: Your code", ""],
  ...["The code is 123456.", ""],
].join("\r\n");

/** The response of the server to a command, before `OK`. */
type Responses = Readonly<Record<string, string | undefined>>;

/** A server with one mail, with special responses to some commands. */
function imapServer(special: Responses = {}, greeting = "* OK [CAPABILITY IMAP4rev1] hello\r\n") {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const commands: string[] = [];
  const open = new Set<Deno.Conn>();
  const responses: Responses = {
    CAPABILITY: "* CAPABILITY IMAP4rev1\r\n",
    LIST: '* LIST () "/" INBOX\r\n',
    NAMESPACE: '* NAMESPACE (("" "/")) NIL NIL\r\n',
    SELECT: "* 1 EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY 1] v\r\n* OK [UIDNEXT 8] n\r\n",
    EXAMINE: "* 1 EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY 1] v\r\n* OK [UIDNEXT 8] n\r\n",
    STATUS: "* STATUS INBOX (RECENT 0)\r\n",
    SEARCH: "* SEARCH 1\r\n",
    "UID SEARCH": "* SEARCH 7\r\n",
    FETCH: `* 1 FETCH (UID 7 FLAGS () BODY[] {${MAIL.length}}\r\n${MAIL})\r\n`,
    "UID FETCH": '* 1 FETCH (UID 7 FLAGS () INTERNALDATE "02-Jan-2026 03:04:05 +0000" ' +
      `BODY[] {${MAIL.length}}\r\n${MAIL})\r\n`,
    ...special,
  };
  const serve = async (conn: Deno.Conn) => {
    open.add(conn);
    const say = (text: string) => conn.write(new TextEncoder().encode(text));
    let text = "";
    try {
      if (greeting !== "") await say(greeting);
      for await (const chunk of conn.readable.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        for (let end = text.indexOf("\r\n"); end >= 0; end = text.indexOf("\r\n")) {
          const line = text.slice(0, end);
          text = text.slice(end + 2);
          const [, tag, name = ""] = /^(\S+) ((?:UID )?\S+)/.exec(line) ?? [];
          commands.push(name);
          const response = responses[name];
          if (response === "") continue;
          if (/^(NO|BAD) /.test(response ?? "")) await say(`${tag} ${response}\r\n`);
          else if (response?.startsWith("* BYE ")) await say(response);
          else await say(`${response ?? ""}${tag} OK done\r\n`);
          if (name === "LOGOUT" || response?.includes("[LIMIT]")) conn.close();
        }
      }
    } catch {
      // The client has gone.
    }
  };
  const accept = (async () => {
    for await (const conn of listener) void serve(conn);
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    commands,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const conn of open) {
        try {
          conn.close();
        } catch {
          // It is closed.
        }
      }
      await accept;
    },
  };
}

async function read(port: number, params: Dict): Promise<Dict> {
  await using context = actionContext();
  const who = { host: "127.0.0.1", username: "ann", password: PASSWORD, tls: false };
  const { res, req } = await runnerOf(imap)({ ...who, port, ...params }, context);
  assertEquals([req.password, context.learned], [undefined, [PASSWORD]]);
  return res;
}

async function failure(port: number, params: Dict): Promise<string> {
  try {
    return JSON.stringify(await read(port, params));
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const hint = error.hint === undefined ? "" : `; ${error.hint}`;
    return `${error.message}${hint}`.replaceAll(`port ${port}`, "port PORT");
  }
}

const NOOP = { commands: [{ name: "noop" }] };

Deno.test("imap waits for a mail and reads it", async () => {
  await using server = imapServer();
  const res = await read(server.port, { wait_for: { subject: "code" } });
  const [mail] = res.mails as Dict[];
  assertEquals([mail!.subject, mail!.from, mail!.from_name, mail!.to, mail!.text], [
    "Your code",
    "shop@example.com",
    "Shop",
    ["ann@example.com"],
    "The code is 123456.",
  ]);
  assertEquals(server.commands.includes("EXAMINE"), true);
  assertEquals(server.commands.includes("SELECT"), false);
});

Deno.test("imap names the mails that were there, if none is the one that it waits for", async () => {
  const shop = '(("Shop" NIL "shop" "example.com"))';
  await using server = imapServer({
    "UID SEARCH": "* SEARCH\r\n",
    FETCH: `* 1 FETCH (UID 7 ENVELOPE (NIL "Your code" ${shop} NIL NIL NIL NIL NIL NIL NIL))\r\n`,
  });
  const params = { wait_for: { subject: "ticket", timeout: "300ms" } };
  assertStringIncludes(
    await failure(server.port, params),
    'no other mail came; the newest there were "Your code" from shop@example.com',
  );
});

Deno.test("imap fetches what the last search found, and marks it as read unless it peeks", async () => {
  await using server = imapServer();
  const commands = (dataitem: string): Dict[] => [
    { name: "select", mailbox: "INBOX" },
    { name: "uid search", criteria: { flags: ["unseen"], since: "yesterday" } },
    { name: "UID FETCH", dataitem },
  ];
  const res = await read(server.port, { commands: commands("BODY.PEEK[]") });
  assertEquals([res.code, res.error], [0, ""]);
  const { search, fetch, store } = res.data as Record<string, Dict>;
  assertEquals(search, { all: "7", min: 7, max: 7, count: 1 });
  assertEquals(store, { success: false, count: 0 });
  assertEquals((fetch!.messages as Dict[])[0]!.body, "The code is 123456.");
  assertEquals(server.commands.includes("UID STORE"), false);
  await read(server.port, { commands: commands("RFC822") });
  assertEquals(server.commands.includes("UID STORE"), true);
});

Deno.test("imap reports the command that a server refuses, and sends no further ones", async () => {
  await using server = imapServer({ CREATE: "NO [ALREADYEXISTS] Mailbox exists" });
  const commands: Dict[] = [{ name: "create", mailbox: "Work" }, { name: "noop" }];
  const res = await read(server.port, { commands });
  assertEquals(res.code, 1);
  const refused = 'failed to execute command 1 (create): the mailbox "Work" is already there' +
    " (ALREADYEXISTS)";
  assertEquals(res.error, refused);
  assertEquals(server.commands.includes("NOOP"), false);
});

/** What is wrong with commands, as it is found before the run. */
function mistakesIn(...commands: readonly Dict[]): string[] {
  const params = { host: "h", username: "u", password: "p", commands: [...commands] };
  return imap.problems!(params).map(({ message, hint }) =>
    hint === undefined ? message : `${message}; ${hint}`
  );
}

Deno.test("imap finds mistakes in commands before the run", () => {
  const all: Dict[] = [
    ...[{ name: "SELECT" }, { name: "uid  store", dataitem: "FLAGS" }, { name: "noop" }],
    { name: "search", criteria: { flag: "seen", uids: 5, since: 1, subject: ["a"] } },
    ...[{ name: "serch" }, { name: "uid list" }, { name: "fetch", dataitem: "{{vars.x}}" }],
  ];
  assertEquals(mistakesIn(...all).map((mistake) => mistake.split(";")[0]), [
    'the command "SELECT" needs "mailbox"',
    'the command "uid  store" needs "value"',
    'unknown key "flag" in "commands[3].criteria"',
    'unknown command "serch"',
    'unknown command "uid list"',
  ]);
  const select = { name: "select", mailbox: "INBOX" };
  const table: readonly (readonly [commands: readonly Dict[], mistake: string])[] = [
    [[{ name: "serch" }], 'unknown command "serch"; did you mean "search"?'],
    [
      [{ name: "fetch", sequence: "1" }],
      'the command "fetch" needs a mailbox that is selected; begin with { name: select,',
    ],
    [[select, { name: "fetch" }], 'the command "fetch" needs "sequence"; or a search before it'],
    [
      [select, { name: "search" }, { name: "uid copy", mailbox: "a" }],
      'the command "uid copy" needs "sequence"; or a uid search before it',
    ],
    [[select, { name: "fetch", sequence: "1", dataitem: "X" }], 'unknown data item "X"; use ALL'],
    [
      [select, { name: "store", sequence: "1;2", dataitem: "FLAGS", value: "a" }],
      'invalid sequence "1;2"; write 1, 1:3 or 2:*',
    ],
    [
      [select, { name: "store", sequence: "1", dataitem: "ALL", value: "a" }],
      'unknown data item "ALL"; use FLAGS, +FLAGS or -FLAGS',
    ],
    [
      [select, { name: "search", criteria: { since: "soon" } }],
      'unsupported date "soon" for "commands[1].criteria.since"; write 2026-01-02',
    ],
    [
      [select, { name: "search", criteria: { subjects: "a" } }],
      'unknown key "subjects" in "commands[1].criteria"; did you mean "subject"?',
    ],
  ];
  for (const [commands, mistake] of table) {
    assertStringIncludes(mistakesIn(...commands).join(), mistake);
  }
});

Deno.test("imap says why there is no connection", async (test) => {
  const peer = "the mailbox server at 127.0.0.1 port PORT";
  await test.step("refused, unknown host", async () => {
    assertEquals(
      await failure(1, NOOP),
      `cannot connect to ${peer}: ` +
        "127.0.0.1 port PORT refused the connection (ECONNREFUSED); is the server running there?",
    );
    assertStringIncludes(await failure(143, { ...NOOP, host: "nowhere.invalid" }), "(ENOTFOUND)");
  });
  await test.step("a wrong password", async () => {
    await using server = imapServer({ LOGIN: "NO [AUTHENTICATIONFAILED] Wrong password" });
    const said = await failure(server.port, NOOP);
    assertEquals(
      said,
      `cannot sign in to ${peer} as "ann": Wrong password; check "username" and "password"`,
    );
  });
  await test.step("too many connections, which the server closes", async () => {
    const reason = "Maximum number of connections from user+IP exceeded";
    await using server = imapServer({ LOGIN: `NO [LIMIT] ${reason}` });
    for (const _ of Array(20)) {
      // The library reports the reply or the end of the connection, whichever it sees first.
      assertMatch(
        await failure(server.port, NOOP),
        /^cannot (sign in|connect) to [^:]*: (it closed the connection: )?Maximum [^;]* \(LIMIT\)$/,
      );
    }
    await using full = imapServer({}, "* BYE Too many connections\r\n");
    assertEquals(
      await failure(full.port, NOOP),
      `cannot connect to ${peer}: it closed the connection: Too many connections`,
    );
    const bye = "* BYE [LIMIT] Server shutting down\r\n";
    await using leaving = imapServer({ NOOP: bye, SEARCH: bye });
    const search = [{ name: "select", mailbox: "INBOX" }, { name: "search" }];
    for (const params of [NOOP, { commands: search }]) {
      assertEquals(
        await failure(leaving.port, params),
        `the connection to ${peer} was lost: ` +
          "it closed the connection: Server shutting down (LIMIT)",
      );
    }
  });
  await test.step("a condition that is empty", async () => {
    await using server = imapServer();
    assertEquals(
      await failure(server.port, { wait_for: { subject: "", to: "ann" } }),
      'cannot run imap: "wait_for.subject" is empty: every mail would match; ' +
        "a variable may be missing",
    );
  });
  await test.step("no STARTTLS", async () => {
    await using server = imapServer();
    assertStringIncludes(
      await failure(server.port, { ...NOOP, starttls: true }),
      `cannot connect to ${peer}: it does not offer STARTTLS`,
    );
  });
  await test.step("no greeting, no reply", async () => {
    await using silent = imapServer({}, "");
    assertEquals(
      await failure(silent.port, { ...NOOP, timeout: "2s" }),
      `timed out after 2s while waiting for the greeting of ${peer}; ` +
        "does the port speak TLS? write tls: true",
    );
    await using server = imapServer({ LOGIN: "" });
    assertEquals(
      await failure(server.port, { ...NOOP, timeout: "1s" }),
      `timed out after 1s while signing in to ${peer}`,
    );
    await using slow = imapServer({ NOOP: "" });
    assertEquals(
      await failure(slow.port, { ...NOOP, timeout: "1s" }),
      `timed out after 1s while waiting for the reply to noop from ${peer}`,
    );
  });
  await test.step("not IMAP", async () => {
    await using server = imapServer({}, "HTTP/1.1 400 Bad Request\r\n\r\n");
    assertEquals(
      await failure(server.port, NOOP),
      `cannot connect to ${peer}: it does not speak IMAP: it sent "HTTP/1.1 400 Bad Request"; ` +
        "check the port: IMAP is at 143 or 993",
    );
  });
});

Deno.test("pictures attached to a mail are shown as pictures in reports, and nothing else is", async () => {
  const picture = { filename: "logo.png", type: "image/png", size: 3, base64: "AAAA" };
  const others: Dict[] = [
    { filename: "a.svg", type: "image/svg+xml", size: 3, base64: "AAAA" },
    { filename: "b.png", type: 'image/png" onload="', size: 3, base64: "AAAA" },
    { filename: "c.png", type: "image/png", size: 3, base64: "A".repeat(1_000_001) },
    { filename: "d.txt", type: "text/plain", size: 1, content: "x" },
  ];
  const res = { mails: [{ subject: "s", attachments: [picture, ...others] }] };
  const { response } = (await imap.explainer!()).describe!({}, res);
  const { base64: _, ...shown } = picture;
  assertEquals(response?.images, [{ name: "logo.png", data: "data:image/png;base64,AAAA" }]);
  assertEquals(response?.kept?.mails, [{ subject: "s", attachments: [shown, ...others] }]);
});
