/** Why something is not allowed, and the flag or option that allows it. */
export interface Denial {
  readonly message: string;
  readonly hint: string;
}

/** Words for an error by which Deno says that it was not allowed; undefined for any other. */
export function explainDenial(error: unknown): Denial | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, name, subject, flag] =
    /^Requires (\w+) access(?: to (?:"(.*?)"|<\w+>))?, run again with the (--allow-\w+) flag/s
      .exec(error.message) ?? [];
  if (name === undefined || flag === undefined) return undefined;
  return {
    message: `Deno does not let it ${deed(name, subject)}`,
    hint: `run it with deno run ${flag}${subject && isListed(name) ? `=${subject}` : ""}`,
  };
}

function isListed(name: string): boolean {
  return ["read", "write", "net", "run"].includes(name);
}

function deed(name: string, subject: string | undefined): string {
  const what = subject === undefined ? undefined : `"${subject}"`;
  switch (name) {
    case "read":
      return `read ${what ?? "files"}`;
    case "write":
      return `write ${what ?? "temporary files"}`;
    case "net":
      return `reach ${what ?? "the network"}`;
    case "run":
      return `run ${what ?? "programs"}`;
    case "env":
      return what === undefined ? "read the environment" : `read the variable ${what}`;
    case "sys":
      return subject === "ca"
        ? "read the certificates of the system"
        : `know ${what ?? "the system"}`;
    case "all":
      return `use ${what ?? "files of the system"}`;
    default:
      return `have ${name} access${what === undefined ? "" : ` to ${what}`}`;
  }
}
