import { assertEquals, assertStringIncludes } from "@std/assert";
import { mailLatency } from "../../../src/actions/mail_latency/mail_latency.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { runnerOf } from "../../support/run_action.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

function mail(sent: string, first: string, last: string, path = "ann@example.com"): string {
  return [
    `Return-Path: <${path}>`,
    "Delivered-To: bob@example.com",
    "Received: from relay.example.com",
    `\tby mx.example.com with ESMTP; Fri, 02 Jan 2026 ${last} +0000`,
    `Received: from client by relay.example.com; Fri, 02 Jan 2026 ${first} +0000 (UTC)`,
    `Date: Fri, 02 Jan 2026 ${sent} +0100`,
    ...["Subject: Hello", "", "Date: not this one", ""],
  ].join("\n");
}

const HEADER = "Sent Time Offset (sec),Received Time Offset (sec),Sent Time,Last Received Time," +
  "End-to-End Latency (sec),First Received Time,Relay Latency (sec),Return Path,File Path\n";

async function measure(dir: string, zone: Readonly<Record<string, string>> = {}) {
  await using context = actionContext();
  const params = { mail_dir: `${dir}/mails`, output_dir: dir, ...zone };
  return (await runnerOf(mailLatency)(params, context)).res;
}

Deno.test("mail-latency writes the times of delivered mails, sorted by when they were sent", async () => {
  const files = {
    "mails/new/b": mail("11:01:00", "10:01:01", "10:01:03", "carol@example.com"),
    "mails/cur/a": mail("11:00:00", "10:00:02", "10:00:09"),
    "mails/dovecot.index": "\0\x01binary",
  };
  await withFiles(files, async (dir) => {
    const res = await measure(dir);
    assertEquals([res.status, res.count, res.skipped], [0, 2, 1]);
    assertEquals(res.latency, { min: 3, mean: 6, max: 9 });
    assertEquals(
      await Deno.readTextFile(String(res.output_file)),
      HEADER +
        "0,0,2026-01-02 10:00:00,2026-01-02 10:00:09,9,2026-01-02 10:00:02,7,ann@example.com,cur/a\n" +
        "60,54,2026-01-02 10:01:00,2026-01-02 10:01:03,3,2026-01-02 10:01:01,2,carol@example.com,new/b\n",
    );
    const again = await measure(dir, { zone: "Asia/Tokyo" });
    assertStringIncludes(
      await Deno.readTextFile(String(again.output_file)),
      "0,0,2026-01-02 19:00:00,",
    );
  });
});

Deno.test("mail-latency says which mail lacks which header, and what it may not do", async () => {
  const table: readonly (readonly [files: Readonly<Record<string, string>>, message: string])[] = [
    [
      { "mails/a": "Return-Path: <a@b.c>\nReceived: by x; now\n\n" },
      'mails/a": it has no header Date',
    ],
    [{ "mails/a": "Return-Path: <a@b.c>\nDate: x\n\n" }, "it has no header Received"],
    [
      { "mails/a": "Return-Path: <a@b.c>\nDate: Fri, 02 Jan 2026 10:00:00 +0000\nReceived: x\n\n" },
      "malformed header Received: x",
    ],
    [{ "mails/a": mail("99:00:00", "10:00:00", "10:00:00") }, "invalid date in the header Date"],
    [{ "mails/a": "hello" }, "there are no delivered mails in"],
    [{ "other/a": "hello" }, "there is no such directory (ENOENT)"],
  ];
  for (const [files, message] of table) {
    await withFiles(files, async (dir) => {
      try {
        await measure(dir);
        throw new Error(`it succeeded: ${message}`);
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        assertStringIncludes(error.message, message);
      }
    });
  }
  const flow = "name: n\njobs:\n- name: j\n  steps:\n  - uses: mail-latency\n" +
    "    with: { mail_dir: mails, output_dir: . }\n";
  await withFiles(
    { "w.yml": flow, "mails/a": mail("11:00:00", "10:00:02", "10:00:09") },
    async (cwd) => {
      const { stdout } = await runMain(["--allow-read=.", "w.yml"], { cwd });
      assertStringIncludes(stdout, "mail-latency");
      const denied = await runMain(["--allow-write=elsewhere", "w.yml"], { cwd });
      assertStringIncludes(denied.stdout, "--allow-write does not name");
    },
  );
});
