import { assertEquals } from "@std/assert";
import { createHmac } from "node:crypto";
import {
  algorithmsFor,
  judgeHostKey,
  linesAbout,
  parseKnownHosts,
} from "../../../src/action/ssh/known_hosts.ts";

const KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIKey";

/** A hashed name, as `ssh-keygen -H` writes it. */
function hashed(name: string): string {
  const salt = "c2FsdHNhbHRzYWx0c2FsdHNhbHQ=";
  const bytes = Uint8Array.fromBase64(salt);
  return `|1|${salt}|${createHmac("sha1", bytes).update(name).digest("base64")}`;
}

const NAMES: readonly (readonly [names: string, host: string, port: number, fits: boolean])[] = [
  ["app.example.com", "app.example.com", 22, true],
  ["App.Example.com", "app.example.COM", 22, true],
  ["app.example.com,10.0.0.7", "10.0.0.7", 22, true],
  ["app.example.com", "app.example.com", 2222, false],
  ["[app.example.com]:2222", "app.example.com", 2222, true],
  ["[app.example.com]:2222", "app.example.com", 22, false],
  ["*.example.com", "app.example.com", 22, true],
  ["*.example.com", "example.com", 22, false],
  ["*.example.com", "app-example-com", 22, false],
  ["app?.example.com", "app1.example.com", 22, true],
  ["app?.example.com", "app12.example.com", 22, false],
  ["*.example.com,!db.example.com", "db.example.com", 22, false],
  ["!db.example.com", "app.example.com", 22, false],
  ["[*.example.com]:2222", "app.example.com", 2222, true],
  ["2001:db8::1", "2001:db8::1", 22, true],
  [hashed("app.example.com"), "app.example.com", 22, true],
  [hashed("app.example.com"), "db.example.com", 22, false],
  [hashed("[app.example.com]:2222"), "app.example.com", 2222, true],
  ["|1|not base64|x", "app.example.com", 22, false],
  ["|1|c2Fsd|x", "app.example.com", 22, false],
];

Deno.test("linesAbout() finds the lines about a host and a port", async () => {
  for (const [names, host, port, fits] of NAMES) {
    const found = await linesAbout({ host, port }, parseKnownHosts(`${names} ssh-ed25519 K`, "f"));
    assertEquals(found.length, fits ? 1 : 0, `${names} for ${host}:${port}`);
  }
});

Deno.test("parseKnownHosts() leaves out comments and invalid lines", () => {
  const text =
    `# a comment\n\nhost ssh-rsa\r\n  host ssh-rsa A comment\r\n@other host ssh-rsa A\n` +
    `@revoked * ssh-rsa B\n@cert-authority *.a ssh-rsa C\n`;
  assertEquals(
    parseKnownHosts(text, "f").map(({ marker, names, key, place }) => [marker, names, key, place]),
    [
      [undefined, "host", "A", "f:4"],
      ["revoked", "*", "B", "f:6"],
      ["cert-authority", "*.a", "C", "f:7"],
    ],
  );
});

Deno.test("judgeHostKey() knows, does not know, refuses and misses a key", () => {
  const judge = (text: string) => judgeHostKey(KEY, parseKnownHosts(text, "f")).kind;
  assertEquals(judge(""), "unknown");
  assertEquals(judge(`h ssh-ed25519 ${KEY}`), "known");
  assertEquals(judge("h ssh-ed25519 OTHER"), "changed");
  assertEquals(judge(`h ssh-ed25519 OTHER\nh ssh-ed25519 ${KEY}`), "known");
  assertEquals(judge(`h ssh-ed25519 ${KEY}\n@revoked * ssh-ed25519 ${KEY}`), "revoked");
  assertEquals(judge("@revoked * ssh-ed25519 OTHER"), "unknown");
  assertEquals(judge(`@cert-authority * ssh-ed25519 ${KEY}`), "unknown");
});

Deno.test("algorithmsFor() asks for the types of keys that are known", () => {
  const lines = parseKnownHosts("h ecdsa-sha2-nistp256 A\nh ssh-rsa B\n@revoked h ssh-dss C", "f");
  assertEquals(algorithmsFor(lines), [
    "ecdsa-sha2-nistp256",
    "rsa-sha2-512",
    "rsa-sha2-256",
    "ssh-rsa",
  ]);
});
