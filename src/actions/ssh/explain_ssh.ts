import type { ActionExplainer, CommandLine, Dict } from "../../action/action.ts";
import { isDict } from "../../base/value/value.ts";
import { isKeyText } from "./read_ssh.ts";
import { scriptOf } from "./script.ts";

/** Shows commands, their hosts and their output in reports. */
export const sshExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: {
      title: titleOf(req),
      covered: ["host", "port", "user", ...isShort(req.cmd) ? ["cmd"] : []],
    },
    ...res
      ? {
        response: {
          minor: [
            ...res.truncated === false ? [["truncated"], ["stdout_bytes"], ["stderr_bytes"]] : [],
            ...res.signal === null ? [["signal"]] : [],
            ...Array.isArray(res.files) && res.files.length === 0 ? [["files"]] : [],
          ],
        },
      }
      : {},
  }),
  command,
};

function isShort(cmd: unknown): boolean {
  return typeof cmd === "string" && !cmd.includes("\n") && cmd.length <= 80;
}

function titleOf({ host, port, user, cmd }: Dict): string {
  const place = `${user}@${host}${port === 22 ? "" : `:${port}`}`;
  return isShort(cmd) ? `${place}$ ${cmd}` : `ssh ${place}`;
}

/** The command of OpenSSH that does the same. */
function command(req: Dict, params: Dict): CommandLine {
  const { host, port, user, cmd, jump, workdir, env, stdin, pty } = req;
  const { key_file: key, known_hosts: known, strict_host_check: strict } = params;
  const { text } = scriptOf({
    text: String(cmd ?? ""),
    ...typeof workdir === "string" ? { workdir } : {},
    env: isDict(env) ? env as Record<string, string> : {},
    hasTerminal: true,
    maxOutput: 0,
  });
  const option = (name: string, value: unknown) =>
    typeof value === "string" && !isKeyText(value) && !value.includes("\n") ? [name, value] : [];
  return {
    groups: [[
      ...cmd === undefined ? ["sftp"] : ["ssh"],
      ...port === 22 ? [] : [cmd === undefined ? "-P" : "-p", `${port}`],
      ...option("-i", key),
      ...option("-J", jump),
      ...typeof known === "string" && !known.includes(" AAAA")
        ? ["-o", `UserKnownHostsFile=${known}`]
        : [],
      ...strict === false ? ["-o", "StrictHostKeyChecking=no"] : [],
      ...pty === true ? ["-t"] : [],
      `${user}@${host}`,
      ...cmd === undefined ? [] : [text],
    ]],
    ...cmd === undefined
      ? { input: copiesOf(req) }
      : typeof stdin === "string"
      ? { input: stdin }
      : {},
  };
}

/** The commands of sftp that copy the files. */
function copiesOf({ upload, download }: Dict): string {
  const word = (path: string) =>
    /^[\w./+-]+$/.test(path) ? path : `"${path.replace(/["\\]/g, "\\$&")}"`;
  const lines = (verb: string, files: unknown) =>
    Object.entries(isDict(files) ? files : {})
      .map(([from, to]) => [from, String(to)].map((path) => word(path.replace(/^~\/+/, ""))))
      .map((paths) => `${verb} ${paths.join(" ")}\n`);
  return [...lines("put -p", upload), ...lines("get", download)].join("");
}
