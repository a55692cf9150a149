import { countOf } from "../../base/text/count_of.ts";
import type { RunTls } from "../../action/action.ts";
import type { Permissions } from "../../action/permissions/permissions.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError, UsageError } from "../../base/errors.ts";
import { Draws } from "../../expr/draws.ts";
import type { Host } from "../../host/host.ts";
import type { RunOptions } from "../../run/run_state.ts";
import { makeMasker } from "../../secrets/find_secrets.ts";
import type { Masker } from "../../secrets/masker.ts";
import type { PlanOptions } from "../../suite/load_plan.ts";
import type { OpenSuite } from "../../suite/suite.ts";
import type { Invocation, Program, RunKind, RunSettings } from "../command.ts";
import { type LogLevel, logLevel } from "../output_mode.ts";

/** The options of a run, and its inputs. */
export interface RunInputs {
  /** Options of a run or of a suite. */
  readonly options: RunSettings;
  /** Options of loading and planning. */
  readonly planning: PlanOptions & { readonly draws: Draws };
  /** Makes a masker that knows all secrets of the environment and of the inputs. */
  readonly makeSecrets: () => Masker;
}

/** Reads the options and inputs of a run. Throws LoadError and UsageError. */
export async function readRun(
  invocation: Invocation,
  program: Program,
  suite?: Pick<OpenSuite, "envFiles" | "warnings" | "path">,
): Promise<RunInputs> {
  const { host } = program;
  const warn = warnOf(invocation, program);
  if (suite) await warn(suite.warnings, suite.path ?? "");
  const { settings, switches } = invocation;
  const permissions = program.permissions ?? await permissionsOf(invocation, host);
  const tls = await tlsOf(invocation, host);
  const openapi = invocation.values.get("openapi");
  if (openapi !== undefined) {
    const { checkDescription } = await import("../../workflow/decode/check_files.ts");
    await checkDescription(openapi, { permissions }, host);
  }
  const isList = switches.has("list");
  const isPlain = !suite?.envFiles?.length &&
    !["var", "var-file", "env-file"].some((option) => invocation.lists.has(option));
  const { environment, warnings, set } = isPlain
    ? { environment: host.env.all(), warnings: [] }
    : await (await import("./read_vars.ts")).readVars(invocation, program, suite?.envFiles);
  const command = isList ? undefined : invocation.values.get("secret-command");
  const addVariables = command === undefined
    ? undefined
    : (await import("./secret_command.ts")).secretsFromCommand(command, environment, program);
  const { processes = 1 } = settings;
  const spreadLoad = processes === 1
    ? undefined
    : (await import("../../spread/load_team.ts")).spreadOver(processes);
  await warn(warnings, invocation.operands[0] ?? "");
  return {
    options: {
      ...{ ...settings, permissions, tls, openapi, spreadLoad },
      trace: traceOptions(invocation, host.env),
    },
    planning: {
      environment,
      addVariables,
      permissions,
      draws: new Draws(settings.seed),
      setVars: set,
      jobs: { ...settings, maySkipAll: isList || switches.has("dry-run") },
      // A list shows names as far as they are known, also where the environment of a run is missing.
      isOutline: isList,
      check: isList || switches.has("no-check") ? undefined : { isStrict: settings.strict },
      warn,
    },
    makeSecrets: () => makeMasker([host.env.all(), ...program.secrets]),
  };
}

/** How the run is traced; undefined where nothing asks for it. */
function traceOptions(
  { settings, lists }: Invocation,
  env: Host["env"],
): RunOptions["trace"] {
  const isTraced = settings.trace || env.get("OTEL_EXPORTER_OTLP_ENDPOINT") ||
    env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ||
    lists.get("report")?.some((targets) => /(?:^|,)otlp=/.test(targets));
  const url = env.get("RUNNER_TRACE_URL");
  return isTraced ? { url: url?.includes("{id}") ? url : undefined } : undefined;
}

/** Prints warnings; with `--strict` they are errors, and nothing is run. */
export function warnOf(
  { switches, settings }: Invocation,
  program: Program,
): (found: readonly Diagnostic[], path: string) => Promise<void> {
  const level: LogLevel = logLevel(program.host.env, switches);
  return async (found, path) => {
    const warnings = found.filter(({ severity }) => severity !== "hint");
    if (settings.strict && warnings.length > 0) {
      const count = countOf(warnings.length, "warning");
      const errors = warnings.map((warning) => ({ ...warning, severity: "error" as const }));
      throw new LoadError(`'${path}' has ${count}, which --strict makes errors`, errors);
    }
    if (found.length > 0) (await import("../messages.ts")).printWarnings(found, level, program);
  };
}

/** The permissions that the options leave; undefined if they restrict nothing. */
export async function permissionsOf(
  { lists, switches }: Invocation,
  host: Host,
): Promise<Permissions | undefined> {
  const kinds = ["net", "listen", "run", "read", "write"];
  const [net, listen, run, read, write] = kinds.map((kind) => splitList(`allow-${kind}`, lists));
  const noShell = switches.has("no-shell");
  if (!net && !listen && !run && !read && !write && !noShell) return undefined;
  const { readPermissions } = await import("../../action/permissions/rules.ts");
  return await readPermissions(
    { net, listen, run, read, write, noShell },
    host,
    (kind) => `option --allow-${kind}`,
  );
}

/** The values of an option, which are separated by commas; `none` alone allows nothing. */
function splitList(option: string, lists: Invocation["lists"]): readonly string[] | undefined {
  const list = lists.get(option);
  if (!list) return undefined;
  const values = list.flatMap((text) => text.split(",").map((value) => value.trim()));
  if (values.includes("")) {
    throw new UsageError(
      `option --${option} has an empty value between commas`,
      `write --${option}=none to allow nothing`,
    );
  }
  if (!values.includes("none")) return values;
  if (values.length === 1) return [];
  throw new UsageError(`option --${option} allows none and others`, 'leave out "none"');
}

async function tlsOf({ switches, values }: Invocation, host: Host): Promise<RunTls | undefined> {
  const [ca, cert, key] = ["cacert", "cert", "key"].map((name) => values.get(name));
  const insecure = switches.has("insecure");
  if (!insecure && ca === undefined && cert === undefined && key === undefined) return undefined;
  const { readRunTls } = await import("../../action/tls/pem.ts");
  const name = (option: string) => `--${option === "ca" ? "cacert" : option}`;
  return await readRunTls({ ca, cert, key, insecure }, host, name);
}

/** Refuses an option that is not for what runs: one workflow, or a suite. */
export function refuseOptions(kind: RunKind, { options, operands }: Invocation): void {
  const wrong = options.find((option) => option.of !== undefined && option.of !== kind);
  if (!wrong) return;
  const path = operands.join(" ");
  throw kind === "workflow"
    ? new UsageError(
      `option --${wrong.name} is for several workflows, and '${path}' is one`,
      "name several files, a directory, a pattern in quotes or a suite file",
    )
    : new UsageError(
      `option --${wrong.name} is for one workflow, and '${path}' is a suite`,
    );
}
