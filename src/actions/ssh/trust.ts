import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { readStepText, type StepFile } from "../../action/step_file.ts";
import { homePath } from "./home_path.ts";
import {
  algorithmsFor,
  bytesOf,
  judgeHostKey,
  linesAbout,
  parseKnownHosts,
} from "./known_hosts.ts";
import type { Trust } from "./read_ssh.ts";

/** Decides whether a host is the one that it says it is. */
export interface HostCheck {
  /** Algorithms to prefer, so that the host shows a key that is known. */
  readonly preferred: readonly string[];
  /** Whether this is a key of the host; if not, `problem()` says why. */
  accepts(key: Uint8Array): boolean;
  problem(): StepError | undefined;
}

const SYSTEM_FILE = "/etc/ssh/ssh_known_hosts";

/** Reads which keys a host may have. */
export async function hostCheck(
  endpoint: Endpoint,
  { isChecked, knownHosts }: Trust,
  context: ActionContext,
): Promise<HostCheck> {
  if (!isChecked) return { preferred: [], accepts: () => true, problem: () => undefined };
  const files = await readKnownHosts(knownHosts, context);
  const all = files.flatMap(({ text, file }) => parseKnownHosts(text, file));
  const lines = await linesAbout(endpoint, all);
  // As for OpenSSH, the keys of the host at port 22 are those of other ports that have no line.
  const others = await linesAbout({ ...endpoint, port: 22 }, all);
  const { createHash } = await import("node:crypto");
  const fingerprint = (key: Uint8Array) =>
    `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
  let problem: StepError | undefined;
  return {
    preferred: algorithmsFor([...lines, ...others]),
    accepts(key) {
      const own = judgeHostKey(key.toBase64(), lines);
      const other = judgeHostKey(key.toBase64(), others);
      const verdict = own.kind === "unknown" && other.kind !== "changed" ? other : own;
      if (verdict.kind === "known") return true;
      const shown = `${typeOf(key)} ${fingerprint(key)}`;
      problem = explain(verdict, endpoint, shown, files.map(({ file }) => file));
      return false;
    },
    problem: () => problem,
  };

  function explain(
    verdict: Exclude<ReturnType<typeof judgeHostKey>, { kind: "known" }>,
    { host, port }: Endpoint,
    shown: string,
    names: readonly string[],
  ): StepError {
    const doing = `cannot connect to ssh at ${placeOf(endpoint)}: host key verification failed`;
    const options = port === 22 ? host : `-p ${port} ${host}`;
    switch (verdict.kind) {
      case "unknown": {
        const authority = lines.some(({ marker }) => marker === "cert-authority");
        return new StepError(
          `${doing}: the host key ${shown} is unknown; ${names.join(" and ")} ${
            names.length === 1 ? "has" : "have"
          } no key of ${placeOf(endpoint)}`,
          authority
            ? "certificates of hosts (@cert-authority) are not supported: add the key itself"
            : `compare the fingerprint with that of the server, then: ssh-keyscan ${options} >> ${
              names[0] ?? "~/.ssh/known_hosts"
            }`,
          { parameter: "known_hosts" },
        );
      }
      case "changed": {
        const { key, type, place } = verdict.from;
        const bytes = bytesOf(key);
        const other = bytes ? `${type} ${fingerprint(bytes)}` : "a key that is not complete";
        return new StepError(
          `${doing}: the host key has changed: it is ${shown}, and ${place} has ${other}`,
          "somebody may be intercepting the connection; if the server was set up anew, replace that line",
          { parameter: "known_hosts" },
        );
      }
      case "revoked":
        return new StepError(
          `${doing}: the host key ${shown} is revoked by ${verdict.by.place}`,
          "the server needs a new host key",
        );
    }
  }
}

/** The name of its type, with which a key begins. */
function typeOf(key: Uint8Array): string {
  const length = new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(0);
  return new TextDecoder().decode(key.subarray(4, 4 + length));
}

interface KnownHostsFile {
  readonly text: string;
  /** Its path, for people. */
  readonly file: string;
}

async function readKnownHosts(
  given: string | undefined,
  context: ActionContext,
): Promise<KnownHostsFile[]> {
  const parameter = "known_hosts";
  if (given !== undefined && / AAAA[A-Za-z0-9+/]/.test(given)) {
    return [{ text: given, file: parameter }];
  }
  const read = async (path: string) => {
    const file: StepFile = {
      what: "the known hosts file",
      path: homePath(path, context.host),
      parameter,
    };
    return await readStepText(file, context);
  };
  if (given !== undefined) return [{ text: await read(given), file: given }];
  const files: KnownHostsFile[] = [];
  for (const file of ["~/.ssh/known_hosts", SYSTEM_FILE]) {
    if (await context.host.files.isFile(homePath(file, context.host)).catch(() => true)) {
      files.push({ text: await read(file), file });
    }
  }
  return files.length > 0 ? files : [{ text: "", file: "~/.ssh/known_hosts" }];
}
