import { assertEquals, assertStringIncludes } from "@std/assert";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { evaluateExpression, ExpressionError } from "../../src/expr/evaluate_expression.ts";

/** A pair of keys in both forms. */
function pair(type: "rsa" | "ec" | "ed25519", namedCurve = "P-256") {
  const { publicKey, privateKey } = type === "rsa"
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : type === "ec"
    ? generateKeyPairSync("ec", { namedCurve })
    : generateKeyPairSync("ed25519");
  return {
    private: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    public: publicKey.export({ type: "spki", format: "pem" }) as string,
    privateJwk: { ...privateKey.export({ format: "jwk" }) },
    publicJwk: { ...publicKey.export({ format: "jwk" }) },
  };
}

const RSA = pair("rsa");
const SECRET = "a secret of some length";

function failure(expression: string, context: Record<string, unknown> = {}): string {
  try {
    return `${evaluateExpression(expression, context)}`;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return error.message;
  }
}

const PAIRS = {
  RS256: RSA,
  RS512: RSA,
  PS256: RSA,
  PS384: RSA,
  ES256: pair("ec"),
  ES384: pair("ec", "P-384"),
  ES512: pair("ec", "P-521"),
  EdDSA: pair("ed25519"),
};

Deno.test("jwt_sign() and jwt_verify() agree for every algorithm, with PEM and JWK", async (test) => {
  for (const [algorithm, keys] of Object.entries(PAIRS)) {
    await test.step(algorithm, () => {
      const forms = [[keys.private, keys.public], [keys.privateJwk, keys.publicJwk]];
      for (const [ownKey, theirs] of forms) {
        const context = { own: ownKey, theirs, options: { algorithm, header: { kid: "k1" } } };
        const token = "jwt_sign({sub: 'ann'}, own, options)";
        assertEquals(evaluateExpression(`jwt_verify(${token}, theirs)`, context), { sub: "ann" });
        assertEquals(evaluateExpression(`jwt(${token}).header`, context), {
          ...{ alg: algorithm, typ: "JWT", kid: "k1" },
        });
      }
    });
  }
  for (const algorithm of ["HS256", "HS384", "HS512"]) {
    const context = { key: SECRET, algorithm };
    const token = "jwt_sign({n: 1}, key, {algorithm: algorithm})";
    assertEquals(evaluateExpression(`jwt_verify(${token}, key)`, context), { n: 1 });
  }
});

Deno.test("jwt_sign() takes the algorithm of the key, and writes what other programs read", () => {
  const token = String(evaluateExpression("jwt_sign({sub: 'ann'}, key)", { key: SECRET }));
  const [header, claims, signature] = token.split(".");
  assertEquals(atob(header!), '{"alg":"HS256","typ":"JWT"}');
  assertEquals(
    signature,
    createHmac("sha256", SECRET).update(`${header}.${claims}`).digest("base64url"),
  );
  const usual = Object.entries(PAIRS).map(([, keys]) =>
    evaluateExpression("jwt(jwt_sign({}, key)).header.alg", { key: keys.private })
  );
  assertEquals(usual, ["RS256", "RS256", "RS256", "RS256", "ES256", "ES384", "ES512", "EdDSA"]);
});

Deno.test("jwt() reads a token of another program without a key", () => {
  const token =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4g" +
    "RG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
  assertEquals(evaluateExpression("jwt(token)", { token }), {
    header: { alg: "HS256", typ: "JWT" },
    claims: { sub: "1234567890", name: "John Doe", iat: 1516239022 },
  });
  const verified = evaluateExpression('jwt_verify(token, "your-256-bit-secret").name', { token });
  assertEquals(verified, "John Doe");
  assertEquals(evaluateExpression('jwt("Bearer " + token).claims.iat', { token }), 1516239022);
});

Deno.test("jwt_verify() finds the key in a JWK set by its kid", () => {
  const keys = {
    keys: [
      { ...PAIRS.ES256.publicJwk, kid: "ec" },
      { ...RSA.publicJwk, kid: "rsa", alg: "RS256", use: "sig" },
      { kty: "new", kid: "unknown" },
    ],
  };
  const key = { ...RSA.privateJwk, kid: "rsa" };
  const token = "jwt_sign({a: 1}, key)";
  assertEquals(evaluateExpression(`jwt_verify(${token}, keys)`, { key, keys }), { a: 1 });
  const json = JSON.stringify(keys);
  assertEquals(evaluateExpression(`jwt_verify(${token}, keys)`, { key, keys: json }), { a: 1 });
  assertStringIncludes(
    failure(`jwt_verify(jwt_sign({}, key, {header: {kid: "old"}}), keys)`, { key, keys }),
    "the JWK set has no key with the kid of this token",
  );
});

const unsigned = `${btoa('{"alg":"none"}')}.${btoa("{}")}.`;

Deno.test("jwt_verify() and jwt_sign() say why they fail", () => {
  const context = {
    ...{ key: SECRET, own: RSA.private, theirs: RSA.public, ec: PAIRS.ES384.private, unsigned },
    jwk: RSA.publicJwk,
  };
  const now = Math.floor(Date.now() / 1000);
  const table: readonly (readonly [expression: string, message: string])[] = [
    ['jwt_verify(jwt_sign({}, key), "another secret")', "the signature of this token is wrong"],
    [`jwt_verify(jwt_sign({exp: ${now - 90}}, key), key)`, "this token expired 1m3"],
    [`jwt_verify(jwt_sign({nbf: ${now + 3600}}, key), key)`, "this token is not valid before"],
    ['jwt_verify(jwt_sign({exp: "soon"}, key), key)', "the claim exp of this token must be a Unix"],
    ["jwt_verify(unsigned, key)", "this token is not signed: its algorithm is none"],
    ["jwt_verify(jwt_sign({}, own), key)", "RS256 needs an RSA key, and this is a secret"],
    // Nobody signs with a public key and passes.
    [
      'jwt_verify(jwt_sign({}, key, {algorithm: "HS256"}), theirs)',
      "HS256 needs a secret, and this is an RSA key",
    ],
    ['jwt_verify("abc", key)', "jwt_verify() needs a token of three parts"],
    ['jwt("a.b.c")', "jwt() cannot read the header of this token as JSON"],
    ["jwt_sign({}, theirs)", "cannot read the key as PEM for a private key"],
    ["jwt_sign({}, jwk)", "the JWK has no private part"],
    ['jwt_sign({}, key, {algorithm: "none"})', `unknown algorithm "none" of jwt_sign()`],
    ['jwt_sign({}, key, {alg: "HS256"})', `unknown option "alg" of jwt_sign()`],
    ['jwt_sign({}, ec, {algorithm: "ES256"})', "ES256 needs a key on the curve prime256v1"],
    ["jwt_sign({}, 5)", "the key must be a secret, PEM text, a JWK or a JWK set"],
    ['jwt_sign({}, "")', "the key is empty"],
    ["jwt_sign([], key)", "argument 1 of jwt_sign() must be a map, got list"],
  ];
  for (const [expression, message] of table) {
    assertStringIncludes(failure(expression, context), message, expression);
  }
});

Deno.test("jwt_sign() makes its key and its token secrets", () => {
  const secrets: unknown[] = [];
  const token = evaluateExpression("jwt_sign({}, key)", { key: SECRET }, {
    addSecret: (value) => void secrets.push(value),
  });
  assertEquals(secrets, [SECRET, token]);
});
