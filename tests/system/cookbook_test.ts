/**
 * Runs the workflows of the cookbook that need servers for mail or a browser, as they are in the
 * documents, and with the mistake that their pages show.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openShop } from "../../scripts/demo_server.ts";
import { readBlocks, readDocument } from "../support/documents.ts";
import { runCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";
import { aiosmtpdServer, dovecotServer } from "./servers/mail_servers.ts";
import { assertPassed } from "../support/assert_passed.ts";

const PASSWORD = "open sesame";

/** The workflow of a page, and the messages of the failure that the page shows. */
async function readPage(name: string): Promise<{ workflow: string; shown: string }> {
  const blocks = readBlocks(await readDocument(`docs/cookbook/${name}.md`));
  const workflow = blocks.find(({ language }) => language === "yaml");
  const shown = blocks.findLast(({ language }) => language === "text");
  assert(workflow !== undefined && shown !== undefined);
  return { workflow: workflow.text, shown: shown.text };
}

/** Runs a workflow of a page twice: as it is, and with a mistake put into it. */
async function runTwice(
  name: string,
  [right, wrong]: readonly [string, string],
  env: Record<string, string>,
  message: string,
): Promise<void> {
  const { workflow, shown } = await readPage(name);
  assertStringIncludes(workflow, right);
  const files = { "right.yml": workflow, "wrong.yml": workflow.replace(right, wrong) };
  await withFiles(files, async (cwd) => {
    const good = await runCli(["right.yml"], { cwd, env });
    assertEquals([good.code, good.stderr], [0, ""], good.stdout);
    assertPassed(good.stdout);
    const bad = await runCli(["wrong.yml"], { cwd, env });
    assertEquals(bad.code, 1, bad.stdout);
    assertStringIncludes(bad.stdout, message);
    assertStringIncludes(shown, message);
  });
}

Deno.test("the mail of the cookbook arrives, and a missing one is reported as documented", async () => {
  await using mailbox = await dovecotServer(PASSWORD);
  await using server = await aiosmtpdServer(PASSWORD, `${mailbox.mails}/ann`);
  await runTwice(
    "mail",
    ["subject: Your code,", "subject: Your ticket,"],
    {
      SMTP_ADDR: `127.0.0.1:${server.port}`,
      IMAP_PORT: `${mailbox.port}`,
      IMAP_PASSWORD: PASSWORD,
    },
    'while waiting for a mail from "shop@example.com" with subject "Your ticket" since',
  );
});

Deno.test("the login of the cookbook works in Chromium, and fails as documented", async () => {
  const shop = openShop({ password: PASSWORD });
  try {
    await runTwice(
      "browser-login",
      [
        'actions:\n            - { name: navigate, url: "{{vars.shop}}/session" }\n            - { name: fill, selector: "#user"',
        'timeout: 5s\n          actions:\n            - { name: navigate, url: "{{vars.shop}}/session" }\n            - { name: fill, selector: "#name"',
      ],
      { SHOP_URL: shop.url },
      'action 2 of 6, fill "#name" "ann", timed out after 5s: no element matches "#name"',
    );
  } finally {
    await shop.close();
  }
});
