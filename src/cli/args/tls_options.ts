import type { RunTls } from "../../action/action.ts";
import {
  type Material,
  parseAuthorities,
  parseClientCertificate,
} from "../../action/tls/parse_pem.ts";
import type { Host } from "../../host/host.ts";
import { StepError, UsageError } from "../../source/errors.ts";
import type { Invocation } from "../command.ts";

/** Reads `--cacert`, `--cert`, `--key` and `--insecure`. Throws `UsageError`. */
export async function readTls({ values, switches }: Invocation, host: Host): Promise<RunTls> {
  const [ca, cert, key] = ["cacert", "cert", "key"].map((name) => values.get(name));
  if (key !== undefined && cert === undefined) {
    throw new UsageError("--key requires --cert", "it is the key of the client certificate");
  }
  try {
    const authorities = ca === undefined
      ? undefined
      : parseAuthorities(await read("cacert", ca, host)).join("");
    const client = cert === undefined ? undefined : parseClientCertificate(
      await read("cert", cert, host),
      // One file may hold both.
      await read(key === undefined ? "cert" : "key", key ?? cert, host),
      undefined,
    );
    return {
      ...authorities === undefined ? {} : { ca: authorities },
      ...client,
      ...switches.has("insecure") ? { insecure: true } : {},
    };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    throw new UsageError(error.message, error.hint);
  }
}

async function read(option: string, path: string, host: Host): Promise<Material> {
  const label = `file "${path}" of --${option}`;
  try {
    return { label, bytes: await host.files.read(path) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const reason = error instanceof Deno.errors.NotFound ? "no such file (ENOENT)" : error.message;
    throw new UsageError(`cannot read the ${label}: ${reason}`);
  }
}
