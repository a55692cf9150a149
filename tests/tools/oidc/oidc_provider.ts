/**
 * Starts an OpenID provider with a login form, on a free port, and prints its URL. It takes any
 * user; argument: the URL that logins come back to. It ends when its input ends.
 *
 * @module
 */
import { createServer } from "node:http";
import Provider from "oidc-provider";

/** The used part of a request to the provider. */
interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: {
      readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => {
        addOIDCScope(scope: string): void;
        save(): Promise<string>;
      };
    };
  };
}

const [callback = ""] = Deno.args;
const server = createServer();
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as { readonly port: number };
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [{
    client_id: "shop",
    token_endpoint_auth_method: "none",
    redirect_uris: [callback],
    grant_types: ["authorization_code"],
    response_types: ["code"],
  }],
  pkce: { required: () => true },
  cookies: { keys: ["some secret key"] },
  // The client is first-party, so users are not asked for consent.
  async loadExistingGrant({ oidc }: Context) {
    const { client, session, provider } = oidc;
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope("openid");
    await grant.save();
    return grant;
  },
  claims: { openid: ["sub"], email: ["email"] },
  findAccount: (_: unknown, id: string) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com` }),
  }),
});
server.on("request", provider.callback());
// deno-lint-ignore no-console
console.log(issuer);
await Deno.stdin.readable.pipeTo(new WritableStream());
Deno.exit(0);
