import { assertEquals } from "@std/assert";
import { readDsn, type ServerTarget } from "../../../src/action/db/read_dsn.ts";
import { readServerTls } from "../../../src/action/db/ssl_mode.ts";
import { actionContext } from "../../support/action_context.ts";

Deno.test("sslrootcert=system asks for a certificate that an authority of the system has signed", async () => {
  await using context = actionContext();
  for (const mode of ["", "&sslmode=require", "&sslmode=verify-full"]) {
    const dsn = `postgres://app@db.example/shop?sslrootcert=system${mode}`;
    const target = readDsn(dsn, context.secrets) as ServerTarget;
    const tls = await readServerTls(target, {}, context);
    const { ca, rejectUnauthorized } = tls!.options;
    assertEquals([ca, rejectUnauthorized, tls!.attempts], [undefined, true, [true]], mode);
  }
});
