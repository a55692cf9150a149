import { assertEquals, assertRejects } from "@std/assert";
import { generateKeyPairSync } from "node:crypto";
import ssh2 from "ssh2";
import { KeyProblem, loadKey } from "../../../src/action/ssh/load_key.ts";
import { makeKeyPair } from "../../support/servers/ssh_server.ts";

const { utils } = ssh2;
const PASSPHRASE = "pass phrase";

/** The type of a key once it is loaded, if it can sign. */
async function typeOf(text: string, passphrase?: string): Promise<string> {
  const loaded = await loadKey(text, passphrase);
  const parsed = utils.parseKey(loaded.privateKey, loaded.passphrase);
  const key = Array.isArray(parsed) ? parsed[0]! : parsed;
  if (key instanceof Error) throw key;
  const { sign } = key as unknown as { sign(data: Uint8Array): Uint8Array | Error };
  const signature = sign.call(key, new TextEncoder().encode("data"));
  if (signature instanceof Error) throw signature;
  return key.type;
}

Deno.test("loadKey() takes keys of OpenSSH, encrypted or not", async () => {
  // Half of all elliptic keys begin with a byte that the format repeats.
  for (const bits of [256, 384, 521]) {
    for (let count = 0; count < 8; count++) {
      const { private: text } = utils.generateKeyPairSync("ecdsa", { bits });
      assertEquals(await typeOf(text), `ecdsa-sha2-nistp${bits}`);
    }
  }
  const options = { cipher: "aes256-ctr", passphrase: PASSPHRASE, rounds: 1 };
  const { private: text } = makeKeyPair(options);
  assertEquals(await typeOf(text, PASSPHRASE), "ssh-ed25519");
});

Deno.test("loadKey() takes PEM keys, encrypted or not", async () => {
  const pem = (type: "pkcs1" | "sec1" | "pkcs8", passphrase?: string) => ({
    type,
    format: "pem" as const,
    ...passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase },
  });
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const ed = generateKeyPairSync("ed25519").privateKey;
  assertEquals(await typeOf(`${rsa.export(pem("pkcs1"))}`), "ssh-rsa");
  assertEquals(await typeOf(`${rsa.export(pem("pkcs8"))}`), "ssh-rsa");
  assertEquals(await typeOf(`${rsa.export(pem("pkcs8", PASSPHRASE))}`, PASSPHRASE), "ssh-rsa");
  assertEquals(await typeOf(`${ec.export(pem("sec1"))}`), "ecdsa-sha2-nistp256");
  assertEquals(await typeOf(`${ec.export(pem("pkcs8"))}`), "ecdsa-sha2-nistp256");
  assertEquals(await typeOf(`${ed.export(pem("pkcs8"))}`), "ssh-ed25519");
  assertEquals(await typeOf(`${ed.export(pem("pkcs8", PASSPHRASE))}`, PASSPHRASE), "ssh-ed25519");
});

Deno.test("loadKey() says what is wrong with a key", async () => {
  const options = { cipher: "aes256-ctr", passphrase: PASSPHRASE, rounds: 1 };
  const own = makeKeyPair(options);
  const pem = String(
    generateKeyPairSync("ed25519").privateKey.export({
      ...{ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: PASSPHRASE },
    }),
  );
  const kindOf = async (text: string, passphrase?: string) =>
    (await assertRejects(() => loadKey(text, passphrase), KeyProblem)).kind;
  for (const text of [own.private, pem]) {
    assertEquals(await kindOf(text), "needs passphrase");
    assertEquals(await kindOf(text, "another"), "wrong passphrase");
  }
  assertEquals(await kindOf(own.public), "public");
  assertEquals(await kindOf("no key"), "not supported");
  assertEquals(await kindOf("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"), "PuTTY");
  assertEquals(
    await kindOf("-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----"),
    "not supported",
  );
  const dsa = generateKeyPairSync("x25519").privateKey.export({ type: "pkcs8", format: "pem" });
  assertEquals(await kindOf(`${dsa}`), "not supported");
});
