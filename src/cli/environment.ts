/** An environment variable that the program reads itself. */
interface Variable {
  readonly name: string;
  readonly summary: string;
  /** The option that does the same or is about the same. */
  readonly option?: string;
  /** The commands that read it besides the one that runs a workflow: some, or all. */
  readonly commands?: readonly string[] | "all";
}

/** Commands that read workflow files. */
const LOADERS = ["dag", "check"];

/** Every variable that the program reads itself; all others are seen by workflow `vars` alone. */
export const VARIABLES: readonly Variable[] = [
  { name: "RUNNER_OUTPUT", option: "output", summary: "Like --output, which takes precedence" },
  {
    name: "RUNNER_LOG_LEVEL",
    option: "verbose",
    summary: "debug: like --verbose; error: no warnings; info (the default) and warn",
    commands: ["gen", "dag"],
  },
  {
    name: "RUNNER_CONFIG",
    summary: "A file with defaults for the top-level keys of workflows",
    commands: LOADERS,
  },
  {
    name: "RUNNER_PLUGIN_DIR",
    summary: "The directory of plugins, your own actions (default: ~/.runner/plugins)",
    commands: LOADERS,
  },
  {
    name: "RUNNER_MAX_REPEAT_COUNT",
    summary: "The maximum of repeat.count (default: 10000)",
    commands: LOADERS,
  },
  {
    name: "RUNNER_MAX_ATTEMPTS",
    summary: "The maximum of retry.max_attempts (default: 10000)",
    commands: LOADERS,
  },
  {
    name: "RUNNER_MAX_CONNECTIONS",
    summary:
      "The maximum of open HTTP connections (default: 1024); fewer than open files (ulimit -n)",
  },
  {
    name: "RUNNER_TIMEOUT",
    summary: "A duration after which the whole run is interrupted (default: none)",
  },
  {
    name: "RUNNER_TRACE_URL",
    option: "trace",
    summary: "The address of a trace, with {id} in place of its id: failures print it",
  },
  {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    option: "report",
    summary: "The URL of a collector that spans are sent to, like --report otlp=URL, which takes " +
      "precedence; …_TRACES_ENDPOINT and …_METRICS_ENDPOINT are used as they are",
  },
  {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    summary: "Headers for the collector, which are secrets: api-key=…,tenant=…",
  },
  {
    name: "OTEL_EXPORTER_OTLP_PROTOCOL",
    summary: "The protocol of the collector: http/protobuf (the default) or http/json",
  },
  {
    name: "OTEL_EXPORTER_OTLP_TIMEOUT",
    summary: "Milliseconds that the collector has to answer a request (default: 10000)",
  },
  { name: "OTEL_SERVICE_NAME", summary: "The name of the service of spans (default: runner)" },
  {
    name: "OTEL_RESOURCE_ATTRIBUTES",
    summary: "Attributes of all spans and histograms: deployment.environment.name=stage,…",
  },
  {
    name: "RUNNER_KEY",
    option: "run",
    summary: "With --run: the key that encrypts secret vars and outputs in files; at least 32 " +
      "bytes, the same for all processes of a run",
    commands: ["prepare"],
  },
  {
    name: "HTTP_PROXY",
    summary:
      "The proxy for http:// URLs, also in lower case; never for localhost or loopback addresses",
  },
  { name: "HTTPS_PROXY", summary: "The proxy for https:// URLs, also in lower case" },
  {
    name: "ALL_PROXY",
    summary: "The proxy if the variable for the kind of URL is not set, also in lower case",
  },
  {
    name: "NO_PROXY",
    summary: "Hosts that are reached without a proxy: example.com, .example.com, 10.0.0.0/8, *",
  },
  {
    name: "NETRC",
    summary: "The file that auth: { netrc: true } reads (default: .netrc in HOME)",
  },
  {
    name: "RUNNER_NO_COLOR",
    option: "no-color",
    summary: "true or 1: print without colours",
    commands: "all",
  },
  {
    name: "NO_COLOR",
    option: "no-color",
    summary: "Not empty: print without colours",
    commands: "all",
  },
  { name: "FORCE_COLOR", summary: "1: always print with colours", commands: "all" },
  {
    name: "GITHUB_ACTIONS",
    summary: "true: annotate failures for GitHub, like --report github",
  },
  { name: "GITHUB_STEP_SUMMARY", summary: "The file that the summary for GitHub is written to" },
  {
    name: "GITHUB_WORKSPACE",
    summary: "The directory that the paths of annotations are relative to",
    commands: ["check"],
  },
  { name: "GITLAB_CI", summary: "true: fold the jobs that passed in the log of the build" },
  { name: "TERM", summary: "dumb: print without colours", commands: "all" },
];

/** The variables that a command reads; without a name, the one that runs a workflow. */
export function variablesOf(command: string | undefined): readonly Variable[] {
  if (command === undefined) return VARIABLES;
  return VARIABLES.filter(({ commands = [] }) => commands === "all" || commands.includes(command));
}
