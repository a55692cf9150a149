import type { Check } from "./check.ts";
import { outputOrder } from "./rules/output_order.ts";
import { responseField } from "./rules/response_field.ts";
import { undefinedVar } from "./rules/undefined_var.ts";
import { ungivenVar } from "./rules/ungiven_var.ts";
import { unknownNeed } from "./rules/unknown_need.ts";
import { unpublishedOutput } from "./rules/unpublished_output.ts";

/** Those that find errors, which a run looks for before it begins. */
export const ERROR_CHECKS: readonly Check[] = [
  unpublishedOutput,
  outputOrder,
  unknownNeed,
  undefinedVar,
  ungivenVar,
  responseField,
];
