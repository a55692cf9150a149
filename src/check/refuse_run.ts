import type { Permissions } from "../action/permissions/permissions.ts";
import { countOf } from "../base/text/count_of.ts";
import type { Host } from "../host/host.ts";
import type { Plan } from "../plan/plan.ts";
import { LoadError } from "../base/errors.ts";
import { readLimits } from "../workflow/limits.ts";
import type { Loaded } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { type CheckContext, type RefuseOptions, UNSET } from "./model.ts";

/**
 * Refuses a workflow if static analysis proves that a run must fail. Throws LoadError with
 * everything that was found.
 */
export async function refuseFailing(
  { decoded }: Pick<Loaded, "decoded">,
  plan: Plan,
  host: Host,
  options: RefuseOptions = {},
): Promise<void> {
  if (!options.isStrict && !mayFail(decoded)) return;
  const { checkLoaded } = await import("./check_file.ts");
  const found = await checkLoaded(decoded, plan, host, options);
  if (found.length === 0) return;
  const unset = found.filter(({ code }) => code === UNSET);
  if (unset.length === found.length) {
    const message = unset.map(({ message }) => message).join("; ");
    throw new LoadError(
      message,
      [],
      'set it, in the environment or by --var name=…, or give a default: "{{NAME ?? …}}"',
    );
  }
  throw new LoadError(
    `workflow file '${decoded.document.name}' has ${countOf(found.length, "error")}`,
    found.map((diagnostic) => ({ ...diagnostic, severity: "error" as const })),
    "found by check; --no-check runs it all the same",
  );
}

/**
 * Throws the error of a workflow that cannot be loaded, together with what static analysis proves
 * of the rest of it. The rest of any other error is unknown.
 */
export async function refuseBroken(
  refusal: unknown,
  document: Document,
  host: Host,
  permissions: Permissions | undefined,
  context: CheckContext,
): Promise<never> {
  if (!(refusal instanceof LoadError)) throw refusal;
  const { completeRefusal } = await import("./check_file.ts");
  const limits = { ...readLimits(host.env), permissions };
  throw await completeRefusal(refusal, document, host, limits, context);
}

/** Whether a workflow reads anything that may not be there: the smallest need no analysis. */
function mayFail({ draft, uses, jobFiles }: Loaded["decoded"]): boolean {
  const steps = draft.jobs.flatMap(({ steps }) => steps);
  const names = steps.some(({ action }) => action?.responseFields) ? NAMES_AND_RES : NAMES;
  return jobFiles !== undefined || uses.some(({ tree }) => names.test(tree.source));
}

const NAMES = /\b(?:vars|outputs|needs|rt|run|job)\b|\$env/;
const NAMES_AND_RES = new RegExp(`${NAMES.source}|\\bres\\b`);
