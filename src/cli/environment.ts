/** An environment variable that the program reads itself. */
interface Variable {
  readonly name: string;
  readonly summary: string;
}

/** Every variable that the program reads itself; all others are seen by workflow `vars` alone. */
export const VARIABLES: readonly Variable[] = [
  { name: "RUNNER_OUTPUT", summary: "Like --output, which wins over it" },
  {
    name: "RUNNER_LOG_LEVEL",
    summary: "debug is --verbose; error silences warnings; info is the default, warn the same",
  },
  {
    name: "RUNNER_CONFIG",
    summary: "A file whose top-level keys stand for those that a workflow does not have",
  },
  {
    name: "RUNNER_PLUGIN_DIR",
    summary: "The folder of plugins, which are actions of your own (default ~/.runner/plugins)",
  },
  { name: "RUNNER_MAX_REPEAT_COUNT", summary: "The highest repeat.count (default 10000)" },
  { name: "RUNNER_MAX_ATTEMPTS", summary: "The highest retry.max_attempts (default 10000)" },
  {
    name: "RUNNER_TIMEOUT",
    summary: "A duration after which the whole run is interrupted (default: none)",
  },
  { name: "RUNNER_NO_COLOR", summary: "true or 1: print without colours" },
  { name: "NO_COLOR", summary: "Not empty: print without colours" },
  { name: "FORCE_COLOR", summary: "1: print with colours, whatever else is said" },
  {
    name: "GITHUB_ACTIONS",
    summary: "true: annotate failures for GitHub, like --report github",
  },
  { name: "GITHUB_STEP_SUMMARY", summary: "Where GitHub reads the summary of a build step" },
  { name: "GITHUB_WORKSPACE", summary: "What the paths of annotations begin at" },
  { name: "TERM", summary: "dumb: print without colours" },
];
