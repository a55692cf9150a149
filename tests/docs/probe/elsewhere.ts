import type { Claims } from "./claim.ts";

const browser = (title: string) => ({
  provenBy: ["tests/system/protocols/browser_test.ts", title] as const,
});
const ALL = "browser carries out every action, and hides secrets in all reports";
const WHICH = "browser says which action failed, why, and what the page shows";
const smtp = (title: string) => ({
  provenBy: ["tests/actions/smtp/run_smtp_test.ts", title] as const,
});
const imap = (title: string) => ({
  provenBy: ["tests/actions/imap/run_imap_test.ts", title] as const,
});
const MAILS = "smtp sends mails, plain and secure, and says what the server replied";
const BOTH = {
  provenBy: [
    "tests/system/protocols/mail_test.ts",
    "smtp sends a code that imap waits for, at aiosmtpd and Dovecot",
  ] as const,
};

/** Rows about actions that need a browser or servers for mail: tests of the system prove them. */
export const ELSEWHERE: Claims = {
  "each step starts a new browser": browser(ALL),
  "`timeout` bounds the start and all actions together": browser(WHICH),
  "`wait_text` ignores `value`": browser(ALL),
  "`select` sets an attribute, and the choice stays as it was": browser(ALL),
  "`hover` and `right_click` in one step fail": browser(ALL),
  "the result of `full_screenshot` is lost": browser(ALL),
  "`attribute` must be a list": browser(ALL),
  "unknown keys of an action are ignored": {
    steps:
      "- { uses: browser, with: { actions: [{ name: click, selector: a, colour: red }, { name: jump }] } }",
    code: 1,
    shows: ["colour", "jump"],
  },
  "an action that fails says `context deadline exceeded`": browser(WHICH),
  "the sandbox of Chromium is always off": browser(ALL),

  "a mail that the server refuses is an action error": smtp(MAILS),
  "each subject ends with a number": smtp(MAILS),
  "no sign-in and no STARTTLS": smtp(MAILS),
  "`myhostname` does nothing": smtp(MAILS),
  "`session: 2, message: 1` may send two mails": smtp(MAILS),
  "`res.failed` counts sessions, `res.total` is sent": smtp(MAILS),
  "`store` and `copy` of `imap` do nothing": BOTH,
  "`date` of a message is always empty": BOTH,
  "`port` of `imap` is required": {
    steps:
      "- { uses: imap, with: { host: 127.0.0.1, tls: false, username: a, password: b, wait_for: { subject: x }, timeout: 5s } }",
    code: 1,
    shows: ["127.0.0.1 port 143"],
  },
  "each `imap` step connects anew": BOTH,
  "a failed logout of `imap` has `status` 2": imap("imap waits for a mail and reads it"),
  "`mail-latency` writes times of Tokyo": {
    provenBy: [
      "tests/actions/mail_latency/run_mail_latency_test.ts",
      "mail-latency writes the times of delivered mails, sorted by when they were sent",
    ],
  },
  "`mail-latency` fails at files that are not mails": {
    provenBy: [
      "tests/actions/mail_latency/run_mail_latency_test.ts",
      "mail-latency says which mail lacks which header, and what it may not do",
    ],
  },
};
