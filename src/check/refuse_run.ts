import type { Permissions } from "../action/permissions/permissions.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { countOf } from "../base/text/count_of.ts";
import type { Host } from "../host/host.ts";
import type { Plan } from "../plan/plan.ts";
import { LoadError } from "../base/errors.ts";
import { readLimits } from "../workflow/limits.ts";
import type { Loaded } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { type CheckContext, type RefuseOptions, UNSET } from "./model.ts";

/**
 * Refuses a workflow in which static analysis finds an error; returns its warnings. Throws
 * LoadError with everything that was found.
 */
export async function refuseFailing(
  { decoded }: Pick<Loaded, "decoded">,
  plan: Plan,
  host: Host,
  options: RefuseOptions = {},
): Promise<readonly Diagnostic[]> {
  const { checkLoaded } = await import("./check_file.ts");
  const found = await checkLoaded(decoded, plan, host, options);
  const errors = found.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return found;
  const unset = errors.filter(({ code }) => code === UNSET);
  if (unset.length === errors.length) {
    const message = unset.map(({ message }) => message).join("; ");
    throw new LoadError(
      message,
      [],
      'set it, in the environment or by --var name=…, or give a default: "{{NAME ?? …}}"',
    );
  }
  throw new LoadError(
    `workflow file '${decoded.document.name}' has ${countOf(errors.length, "error")}`,
    found,
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
  throw await completeRefusal(document, host, limits, context);
}
