import { assertEquals } from "@std/assert";
import { plain } from "../../scripts/docs/page.ts";
import { CHECKOUT } from "../support/documents.ts";

Deno.test("the reference pages are up to date", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "scripts/docs.ts", "--check"],
    cwd: CHECKOUT,
  }).output();
  const said = new TextDecoder().decode(stderr).trim();
  assertEquals([code, said], [0, "the reference pages are up to date"]);
});

Deno.test("texts of the reference show underscores, also in code", () => {
  assertEquals(plain("NO_PROXY, or `NO_PROXY` with `*`"), "NO\\_PROXY, or `NO_PROXY` with `*`");
});
