import { assertEquals, assertThrows } from "@std/assert";
import { readDsn, type ServerTarget } from "../../../src/action/db/read_dsn.ts";
import { StepError } from "../../../src/base/errors.ts";

function read(dsn: string) {
  const learned: string[] = [];
  const secrets = { add: (text: string) => void learned.push(text), isIn: () => false };
  const { server, shown } = readDsn(dsn, secrets) as ServerTarget;
  return { ...server, shown, learned };
}

Deno.test("a DSN may leave out its host, and give user and password after the question mark", () => {
  const socket = read("postgres://app:open-sesame@/shop?host=/run/postgresql");
  assertEquals([socket.socket, socket.user, socket.database], ["/run/postgresql", "app", "shop"]);
  const local = read("mysql://app:open-sesame@/shop");
  assertEquals([local.host, local.port, local.database], ["localhost", 3306, "shop"]);
  const { user, password, shown, learned } = read(
    "postgres://db.example/shop?user=app&password=open-sesame",
  );
  assertEquals([user, password], ["app", "open-sesame"]);
  assertEquals(shown, "postgres://db.example/shop?user=app&password=***");
  assertEquals([...new Set(learned)], ["open-sesame"]);
});

Deno.test("a DSN may set what a connection to PostgreSQL begins with", () => {
  const { settings, clientName } = read(
    "postgres://db.example/shop?options=-c%20jit%3Doff&search_path=a,%20b&application_name=check",
  );
  assertEquals([settings, clientName], ["-c jit=off -c search_path=a,\\ b", "check"]);
});

Deno.test("a text that is not a DSN is not the name of a SQLite file or of a database", () => {
  const texts = {
    "host=db.example user=app password=open-sesame dbname=shop": "the DSN must be a URL",
    "postgres:shop": "invalid DSN",
    "app:open-sesame@tcp(db.example:3306)/shop": 'unsupported database "app"',
  };
  for (const [text, message] of Object.entries(texts)) {
    assertThrows(() => read(text), StepError, message);
  }
});
