import type { Check } from "./check.ts";
import { headerName } from "./header_name.ts";
import { literalSecret } from "./literal_secret.ts";
import { outputOrder } from "./output_order.ts";
import { pointlessRetry } from "./pointless_retry.ts";
import { undefinedVar } from "./undefined_var.ts";
import { unpublishedOutput } from "./unpublished_output.ts";
import { untestedResult } from "./untested_result.ts";
import { unusedOutput } from "./unused_output.ts";
import { unusedVar } from "./unused_var.ts";

/** Everything that static analysis looks for. */
export const CHECKS: readonly Check[] = [
  unpublishedOutput,
  outputOrder,
  undefinedVar,
  unusedOutput,
  unusedVar,
  untestedResult,
  pointlessRetry,
  headerName,
  literalSecret,
];
