import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { db } from "../../../src/actions/db/db.ts";
import { runnerOf } from "../../support/run_action.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { mariadbServer, postgresServer } from "../servers/database_servers.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

const runDb = runnerOf(db);

const PASSWORD = "open-sesame-42";
const FIXTURES = tlsPath("");
const ca = `${FIXTURES}authority.pem`;
const other = `${FIXTURES}localhost.pem`;
const client = { cert: `${FIXTURES}good.pem`, key: `${FIXTURES}good_key.pem` };

/** A connection by TLS, a plain one, or what the message of an error has in it. */
type TlsResult = "tls" | "plain" | string;

interface Case {
  /** The name of the certificate that the server presents. */
  readonly presents: string;
  readonly mode: string;
  readonly tls?: Dict;
  readonly outcome: TlsResult;
}

/** The modes as defined by libpq: https://www.postgresql.org/docs/current/libpq-ssl.html */
const MODES: readonly Case[] = [
  { presents: "good", mode: "disable", outcome: "plain" },
  { presents: "good", mode: "allow", outcome: "plain" },
  { presents: "good", mode: "prefer", outcome: "tls" },
  { presents: "good", mode: "require", outcome: "tls" },
  { presents: "good", mode: `require&sslrootcert=${ca}`, outcome: "tls" },
  { presents: "good", mode: `require&sslrootcert=${other}`, outcome: "unknown certificate" },
  { presents: "good", mode: "verify-ca", outcome: "unknown certificate" },
  { presents: "good", mode: `verify-ca&sslrootcert=${ca}`, outcome: "tls" },
  { presents: "good", mode: `verify-full&sslrootcert=${ca}`, outcome: "tls" },
  { presents: "good", mode: "verify-full", tls: { ca }, outcome: "tls" },
  { presents: "good", mode: "", tls: { ca }, outcome: "tls" },
  { presents: "good", mode: "", tls: { verify: false }, outcome: "tls" },
  {
    presents: "good",
    mode: "",
    tls: { ca, server_name: "elsewhere.example" },
    outcome: "(ERR_TLS_CERT_ALTNAME_INVALID)",
  },
  { presents: "other", mode: "require", outcome: "tls" },
  { presents: "other", mode: `require&sslrootcert=${ca}`, outcome: "tls" },
  { presents: "other", mode: `verify-ca&sslrootcert=${ca}`, outcome: "tls" },
  {
    presents: "other",
    mode: `verify-full&sslrootcert=${ca}`,
    outcome: "(ERR_TLS_CERT_ALTNAME_INVALID)",
  },
  { presents: "other", mode: "", tls: { ca, server_name: "a.example" }, outcome: "tls" },
  { presents: "expired", mode: "require", outcome: "tls" },
  { presents: "expired", mode: `verify-ca&sslrootcert=${ca}`, outcome: "(CERT_HAS_EXPIRED)" },
];

async function outcomeOf(dsn: string, tls: Dict | undefined, query: string): Promise<TlsResult> {
  await using context = actionContext();
  try {
    const { res } = await runDb({ dsn, query, ...tls ? { tls } : {} }, context);
    assertEquals(res.error, "");
    const [row] = res.rows as { readonly secure: unknown }[];
    return row!.secure === true || row!.secure === 1 ? "tls" : "plain";
  } catch (error) {
    if (error instanceof StepError) return error.message;
    throw error;
  }
}

async function prove(
  server: { present(name: string): Promise<void> },
  dsn: string,
  query: string,
  test: Deno.TestContext,
) {
  let presented = "good";
  for (const { presents, mode, tls, outcome } of MODES) {
    const name = `${presents} ${mode.replaceAll(FIXTURES, "")} ${Object.keys(tls ?? {})}`;
    await test.step(name, async () => {
      if (presents !== presented) await server.present(presented = presents);
      const url = mode === "" ? dsn : `${dsn}?sslmode=${mode}`;
      const found = await outcomeOf(url, tls, query);
      if (outcome === "tls" || outcome === "plain") assertEquals(found, outcome);
      else assertStringIncludes(found, outcome);
    });
  }
}

Deno.test("sslmode of a DSN and tls mean for PostgreSQL what they mean to libpq", async (test) => {
  await using server = await postgresServer(PASSWORD, true);
  const dsn = `postgres://app:${PASSWORD}@127.0.0.1:${server.port}`;
  const query = "SELECT ssl AS secure FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
  await prove(server, `${dsn}/postgres`, query, test);
  await test.step("the certificate is that of the address, not of localhost", async () => {
    await server.present("named");
    const named = server.certificate;
    const strict = (host: string) =>
      outcomeOf(`${dsn.replace("127.0.0.1", host)}/postgres`, { ca: named }, query);
    assertStringIncludes(await strict("127.0.0.1"), "(ERR_TLS_CERT_ALTNAME_INVALID)");
    assertEquals(await strict("localhost"), "tls");
  });
  await test.step("a client certificate", async () => {
    await server.present("good");
    assertStringIncludes(
      await outcomeOf(`${dsn}/template1?sslmode=require`, undefined, query),
      "certificate",
    );
    assertEquals(await outcomeOf(`${dsn}/template1`, { ca, ...client }, query), "tls");
    const files = `sslcert=${client.cert}&sslkey=${client.key}`;
    // The server refuses plain connections to this database.
    for (const mode of ["require", "allow", "prefer"]) {
      const url = `${dsn}/template1?sslmode=${mode}&${files}`;
      assertEquals(await outcomeOf(url, undefined, query), "tls", mode);
    }
    assertStringIncludes(
      await outcomeOf(`${dsn}/template1?sslmode=disable`, undefined, query),
      "(28000)",
    );
  });
});

Deno.test("sslmode of a DSN and tls mean the same for MariaDB", async (test) => {
  await using server = await mariadbServer(PASSWORD, true);
  const dsn = (user: string) => `mysql://${user}:${PASSWORD}@127.0.0.1:${server.port}/`;
  const query =
    "SELECT variable_value <> '' AS secure FROM information_schema.session_status WHERE variable_name = 'ssl_cipher'";
  await prove(server, dsn("app"), query, test);
  await test.step("the certificate is that of the address, not of localhost", async () => {
    await server.present("named");
    const named = server.certificate;
    const strict = (host: string) =>
      outcomeOf(dsn("app").replace("127.0.0.1", host), { ca: named }, query);
    assertStringIncludes(await strict("127.0.0.1"), "(ERR_TLS_CERT_ALTNAME_INVALID)");
    assertEquals(await strict("localhost"), "tls");
  });
  await test.step("a client certificate, also in a PFX file with a passphrase", async () => {
    await server.present("good");
    assertStringIncludes(
      await outcomeOf(`${dsn("strict")}?sslmode=require`, undefined, query),
      "(ER_ACCESS_DENIED_ERROR)",
    );
    assertEquals(await outcomeOf(dsn("strict"), { ca, ...client }, query), "tls");
    const pfx = { pfx: `${FIXTURES}good.p12`, passphrase: "tiger" };
    assertEquals(await outcomeOf(dsn("strict"), { ca, ...pfx }, query), "tls");
  });
});
