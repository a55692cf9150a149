import type { ActionContext } from "../../../action/action.ts";
import { readStepText } from "../../../action/step_file.ts";

/** A user and a password. */
export interface NetrcLogin {
  readonly username: string;
  readonly password: string;
}

/** The login of a host in the file that NETRC names, or in .netrc in the home directory. */
export async function readNetrc(url: URL, context: ActionContext): Promise<NetrcLogin | undefined> {
  const { host, secrets } = context;
  const path = host.env.get("NETRC") ?? pathAtHome(context);
  const file = { path, what: "the netrc file", parameter: "auth" };
  const text = await readStepText(file, context);
  const login = findLogin(text, url.hostname);
  if (login) secrets.add(login.password);
  else context.log(`"${path}" has no login for ${url.hostname}`);
  return login;
}

function pathAtHome({ host: { env } }: ActionContext): string {
  const isWindows = Deno.build.os === "windows";
  const home = env.get("HOME") ?? (isWindows ? env.get("USERPROFILE") : undefined) ?? "~";
  return `${home}/${isWindows ? "_netrc" : ".netrc"}`;
}

/** The login of a host in the text of a netrc file; `default` is for every host. */
export function findLogin(text: string, hostname: string): NetrcLogin | undefined {
  const tokens = tokensOf(text);
  let isWanted = false;
  let username = "";
  let password: string | undefined;
  for (let at = 0; at < tokens.length; at++) {
    switch (tokens[at]) {
      case "machine":
      case "default":
        if (password !== undefined) return { username, password };
        isWanted = tokens[at] === "default" || tokens[++at]?.toLowerCase() === hostname;
        username = "";
        break;
      case "login":
        at++;
        if (isWanted) username = tokens[at] ?? "";
        break;
      case "password":
        at++;
        if (isWanted) password = tokens[at];
        break;
      case "account":
        at++;
    }
  }
  return password === undefined ? undefined : { username, password };
}

/** The words of a netrc file, without comments and macros. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const bare = text.replace(/^\s*macdef\b[^]*?(?:\n\s*\n|$(?![^]))/gm, "");
  for (const line of bare.split(/\r?\n/)) {
    for (const [word, quoted] of line.matchAll(/"((?:[^"\\]|\\.)*)"|\S+/g)) {
      if (word.startsWith("#") && tokens.at(-1) !== "password") break;
      tokens.push(quoted?.replace(/\\(.)/g, "$1") ?? word);
    }
  }
  return tokens;
}
