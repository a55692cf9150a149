import type { Check } from "./check.ts";
import { ERROR_CHECKS } from "./error_checks.ts";
import { constantTest } from "./rules/constant_test.ts";
import { literalSecret } from "./rules/literal_secret.ts";
import { millisecondsLimit } from "./rules/milliseconds_limit.ts";
import { misplacedTest } from "./rules/misplaced_test.ts";
import { missingFile } from "./rules/missing_file.ts";
import { pointlessRetry } from "./rules/pointless_retry.ts";
import { untestedResult } from "./rules/untested_result.ts";
import { unusedOutput } from "./rules/unused_output.ts";
import { unusedVar } from "./rules/unused_var.ts";

/** Everything that static analysis looks for. */
export const CHECKS: readonly Check[] = [
  ...ERROR_CHECKS,
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
