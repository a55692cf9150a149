import { renderSuiteRunFile } from "../../spread/suite_run_file.ts";
import { addSecretsOf, addSecretValue } from "../../secrets/add_secrets.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { openSuite } from "../../suite/open_suite.ts";
import type { PlannedMember, SuiteMember } from "../../suite/suite.ts";
import type { Invocation, Program } from "../command.ts";
import { takeKey } from "../inputs/piece_key.ts";
import { prepareSuite } from "../inputs/prepare_suite.ts";
import type { LogLevel } from "../messages/warnings.ts";
import { VERSION } from "../version.ts";
import { printAll } from "./run_reported.ts";

/**
 * The run file of a suite, with the vars of all its workflows. Throws LoadError if one of them
 * cannot be loaded: nothing has run yet.
 */
export async function prepareSuiteRun(
  id: string,
  level: LogLevel,
  invocation: Invocation,
  program: Program,
): Promise<string> {
  const { host } = program;
  const { operands } = invocation;
  const seal = await takeKey(program);
  const open = await openSuite(operands, host);
  const { suite, options } = await prepareSuite(open, invocation, program, {
    warn: (found: readonly Diagnostic[]) => printAll(found, level, program),
    filter: (members) => members,
  });
  const secrets = options.makeSecrets();
  const workflows = [
    ...planned(suite.setup).map((member) => ({ ...member, role: "setup" as const })),
    ...planned(suite.workflows),
    ...planned(suite.teardown).map((member) => ({ ...member, role: "teardown" as const })),
  ];
  for (const { plan } of workflows) {
    addSecretsOf(plan.vars, secrets);
    for (const value of plan.secrets) addSecretValue(value, secrets);
  }
  const { name } = suite;
  return await renderSuiteRunFile(
    { ...name === undefined ? {} : { name }, operands, workflows },
    { id, version: VERSION, created: host.clock.now(), secrets, seal },
  );
}

function planned(members: readonly SuiteMember[]): readonly PlannedMember[] {
  return members.map((member) => {
    if (member.kind === "refused") throw member.refusal;
    return member;
  });
}
