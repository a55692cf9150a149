import { defineLoaded } from "./function.ts";

/** Functions about JSON Web Tokens. */
export const JWT_FUNCTIONS = [
  defineLoaded(
    "jwt(token: string)",
    "The header and the claims of a JSON Web Token as a map, without verification.",
    async () => ({ call: (await import("./jwt/jwt.ts")).read }),
  ),
  defineLoaded(
    "jwt_verify(token: string, key: any)",
    "The claims of a JSON Web Token whose signature, exp and nbf are valid; otherwise it fails with the reason. The key is a secret, PEM text, a JWK or a JWK set.",
    async () => {
      const { load, verify } = await import("./jwt/jwt.ts");
      await load();
      return { call: verify };
    },
  ),
  defineLoaded(
    "jwt_sign(claims: map, key: any, options?: map)",
    "A signed JSON Web Token. Options are algorithm (by default that of the key: HS256 of a secret) and header, a map of further header fields.",
    async () => {
      const { load, sign } = await import("./jwt/jwt.ts");
      await load();
      return { call: sign };
    },
  ),
] as const;
