import { isTemplate } from "../../expr/template/template_data.ts";
import { StepError } from "../../base/errors.ts";
import type { Action, Dict, ParameterProblem, Value } from "../../action/action.ts";
import { isGiven } from "../../action/parameters.ts";
import { sharingParameters } from "../../action/shared_connection.ts";
import { checkTls, TLS_PARAMETER } from "../../action/tls/tls_parameter.ts";
import { PLAIN_URL, readRedisUrl, SECURE_URL } from "./read_redis_url.ts";
import { splitCommand } from "./split_command.ts";

/** Sends commands to a Redis server. */
export const redis: Action = {
  name: "redis",
  summary: "Sends commands to a Redis server and reads the replies",
  parameters: [
    {
      name: "url",
      type: "string",
      summary: "The server: `redis://user:password@host:6379/0`, or `rediss://` for TLS",
      required: true,
    },
    {
      name: "command",
      type: ["string", "list"],
      summary: "A command as a list of words, or as text that is split at spaces outside quotes",
    },
    { name: "commands", type: "list", summary: "Several commands, sent one after another" },
    TLS_PARAMETER,
    ...sharingParameters("connection", "job and URL"),
    {
      name: "timeout",
      type: "duration",
      summary: "How long connecting and all replies may take",
      default: "the timeout of the step",
    },
  ],
  alternatives: [{ names: ["command", "commands"], required: true }],
  responseFields: [
    { name: "reply" },
    { name: "replies", type: "array" },
    { name: "error", type: "string" },
    { name: "error_code", type: "string" },
  ],
  check: (params) => [...checkCommands(params), ...checkUrl(params), ...checkTls(params)],
  exampleTest: 'res.reply == "PONG"',
  load: async () => (await import("./run_redis.ts")).runRedis,
};

/** A step gives one command or several. */
function checkCommands(params: Dict): readonly ParameterProblem[] {
  const given = ["command", "commands"].filter((name) => isGiven(params, name));
  if (given.length === 1) {
    const { command, commands } = params;
    return Array.isArray(commands)
      ? commands.flatMap((one, index) => checkCommand(one, ["commands", index]))
      : checkCommand(command, ["command"]);
  }
  return given.length === 0
    ? [{ path: [], message: 'redis needs "command" or "commands"' }]
    : [{ path: ["commands"], at: "key", message: '"command" and "commands" cannot be combined' }];
}

function checkCommand(
  command: Value | undefined,
  path: ParameterProblem["path"],
): readonly ParameterProblem[] {
  const isConstant = typeof command === "string" && !isTemplate(command) || Array.isArray(command);
  return isConstant ? problemOf(() => splitCommand(command, "command"), path) : [];
}

function checkUrl({ url, tls = null }: Dict): readonly ParameterProblem[] {
  if (typeof url !== "string") return [];
  // TLS options are not for a plain connection; a template may be nil.
  if (tls !== null && !isTemplate(tls) && /^redis:/i.test(url)) {
    return [{ path: ["tls"], at: "key", message: PLAIN_URL, hint: SECURE_URL }];
  }
  return isTemplate(url) ? [] : problemOf(() => readRedisUrl(url, { add: () => {} }), ["url"]);
}

/** The problem that the run would find. */
function problemOf(
  act: () => unknown,
  path: ParameterProblem["path"],
): readonly ParameterProblem[] {
  try {
    act();
    return [];
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const message = error.message.replace(/^cannot run redis: /, "");
    return [{ path, message, ...error.hint === undefined ? {} : { hint: error.hint } }];
  }
}
