import { fromFileUrl } from "@std/path/from-file-url";

/** The path of a file of tests/fixtures/tls. */
export function tlsPath(name: string): string {
  return fromFileUrl(new URL(`../../fixtures/tls/${name}`, import.meta.url));
}

/** The text of a file of tests/fixtures/tls. */
export function tlsText(name: string): string {
  return Deno.readTextFileSync(tlsPath(name));
}

/** A certificate of tests/fixtures/tls and its key. */
export function tlsCertificate(name: string): { readonly cert: string; readonly key: string } {
  return { cert: tlsText(`${name}.pem`), key: tlsText(`${name}_key.pem`) };
}
