import { FILE_FORMATS } from "../../report/files/registry.ts";

/** The option here, and its names in other tools. */
const OPTIONS: readonly (readonly [hint: string, elsewhere: readonly string[]])[] = [
  ["write --fail-fast", ["bail", "exitfirst", "stop-on-failure"]],
  ["write --jobs <count>", ["concurrency", "j", "max-parallel", "parallel", "threads", "workers"]],
  ["write --only <job>, which takes patterns", ["filter", "grep", "include", "job", "target"]],
  ["write --tags 'smoke and not slow'", ["group", "label", "tag"]],
  ["write --dry-run", ["dry", "noop", "preview"]],
  ["write retry: { max_attempts: 3 } in the step", ["retries", "retry"]],
  ["write --skip <job>", ["exclude", "ignore"]],
  [
    "write NAME=value before the command, --env-file <file>, or --var <name=value> for a var",
    ["e", "env", "environment"],
  ],
  ["write --var <name=value>", ["param", "set", "variable", "variables"]],
  ["write --quiet", ["silent"]],
  ["write --version", ["V"]],
  ["write --verbose", ["debug", "trace"]],
  [
    "write --report <format=path>, such as --report junit=junit.xml",
    ["format", "html", "json", "junit", "markdown", "out", "reporter", "reporters", "tap"],
  ],
  ["RUNNER_TIMEOUT=5m in the environment bounds a run", ["max-time", "timeout"]],
];

/** The option that corresponds to one of another tool. */
export function optionElsewhere(name: string): string | undefined {
  const [, format] = /^report-(\w+)$/.exec(name) ?? [];
  if (FILE_FORMATS.some((one) => one.name === format)) {
    return `write --report ${format}=<path>`;
  }
  return OPTIONS.find(([, elsewhere]) => elsewhere.includes(name))?.[0];
}

/** The equivalent of another tool's command that takes a file. */
export function commandElsewhere(name: string, file = "<workflow_file>"): string | undefined {
  switch (name) {
    case "exec":
    case "run":
    case "start":
    case "test":
      return `leave it out: runner ${file}`;
    case "lint":
    case "validate":
    case "verify":
      return `write runner check ${file}`;
    case "list":
      return `write runner --list ${file}`;
    case "graph":
      return `write runner dag ${file}`;
    case "plan":
      return `write runner --dry-run ${file}`;
    case "version":
      return "write runner --version";
    default:
      return undefined;
  }
}
