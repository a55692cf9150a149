import type { Dict } from "../../../src/base/value/value.ts";
import { assertEquals } from "@std/assert";
import { imapExplainer } from "../../../src/action/imap/explain_imap.ts";

Deno.test("pictures attached to a mail are shown as pictures in reports, and nothing else is", () => {
  const picture = { filename: "logo.png", type: "image/png", size: 3, base64: "AAAA" };
  const others: Dict[] = [
    { filename: "a.svg", type: "image/svg+xml", size: 3, base64: "AAAA" },
    { filename: "b.png", type: 'image/png" onload="', size: 3, base64: "AAAA" },
    { filename: "c.png", type: "image/png", size: 3, base64: "A".repeat(1_000_001) },
    { filename: "d.txt", type: "text/plain", size: 1, content: "x" },
  ];
  const res = { mails: [{ subject: "s", attachments: [picture, ...others] }] };
  const { response } = imapExplainer.describe!({}, res);
  const { base64: _, ...shown } = picture;
  assertEquals(response?.images, [{ name: "logo.png", data: "data:image/png;base64,AAAA" }]);
  assertEquals(response?.kept?.mails, [{ subject: "s", attachments: [shown, ...others] }]);
});
