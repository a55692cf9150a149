import type { Check } from "./check.ts";
import { constantTest } from "./rules/constant_test.ts";
import { literalSecret } from "./rules/literal_secret.ts";
import { millisecondsLimit } from "./rules/milliseconds_limit.ts";
import { misplacedTest } from "./rules/misplaced_test.ts";
import { missingFile } from "./rules/missing_file.ts";
import { outputOrder } from "./rules/output_order.ts";
import { pointlessRetry } from "./rules/pointless_retry.ts";
import { responseField } from "./rules/response_field.ts";
import { undefinedVar } from "./rules/undefined_var.ts";
import { ungivenVar } from "./rules/ungiven_var.ts";
import { unknownNeed } from "./rules/unknown_need.ts";
import { unpublishedOutput } from "./rules/unpublished_output.ts";
import { untestedResult } from "./rules/untested_result.ts";
import { unusedOutput } from "./rules/unused_output.ts";
import { unusedVar } from "./rules/unused_var.ts";

/** Everything that static analysis looks for. */
export const CHECKS: readonly Check[] = [
  unpublishedOutput,
  outputOrder,
  unknownNeed,
  undefinedVar,
  ungivenVar,
  responseField,
  unusedOutput,
  unusedVar,
  untestedResult,
  constantTest,
  misplacedTest,
  millisecondsLimit,
  pointlessRetry,
  literalSecret,
  missingFile,
];
