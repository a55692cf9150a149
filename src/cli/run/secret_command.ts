import { RunnerError, UsageError } from "../../base/errors.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { templatesIn } from "../../expr/parse_expression.ts";
import { referencesIn } from "../../expr/references.ts";
import type { Host } from "../../host/host.ts";
import { readCommand } from "../../host/read_command.ts";
import { isSecretName } from "../../secrets/secrets.ts";
import type { Program } from "../command.ts";

/** The part of the command that is replaced by the name of a variable. */
const NAME = "{name}";

/**
 * Makes what adds to an environment, from the output of a command, the variables with secret names
 * that vars read and that it lacks. They become secrets of the program. Throws UsageError.
 */
export function secretsFromCommand(
  command: string,
  environment: Record<string, string>,
  { secrets, host }: Program,
): (vars: readonly DataTemplate[]) => Promise<void> {
  if (!command.includes(NAME)) {
    throw new UsageError(
      `option --secret-command needs ${NAME}, which becomes the name of the variable`,
      `write --secret-command 'op read op://ci/${NAME}'`,
    );
  }
  const answers = new Map<string, Promise<string>>();
  return async (vars) => {
    for (const name of secretNamesIn(vars)) {
      if (Object.hasOwn(environment, name)) continue;
      const value = await answers.getOrInsertComputed(name, () => ask(command, name, host));
      secrets.push({ [name]: value });
      environment[name] = value;
    }
  };
}

/** The variables with secret names that vars read. */
function secretNamesIn(vars: readonly DataTemplate[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { template } of vars.flatMap((one) => [...templatesIn(one)])) {
    for (const part of template.parts) {
      if (typeof part === "string") continue;
      for (const { base: { name } } of referencesIn(part)) {
        if (/^[A-Za-z_]\w*$/.test(name) && isSecretName(name)) names.add(name);
      }
    }
  }
  return names;
}

/** The output of the command for a variable. Throws RunnerError if it fails. */
async function ask(command: string, name: string, { files }: Host): Promise<string> {
  const written = command.replaceAll(NAME, name);
  const { code, stdout, stderr } = await readCommand(written, files.workingDirectory());
  const value = stdout.replace(/\r?\n$/, "");
  if (code === 0 && value !== "") return value;
  const reason = code === 0 ? "it printed nothing" : `exit code ${code}`;
  throw new RunnerError(
    `--secret-command cannot read ${name}: ${reason}`,
    stderr.trim().split("\n").slice(-3).join("\n") || undefined,
  );
}
