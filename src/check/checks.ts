import type { Check } from "./model.ts";
import { literalSecret, missingFile } from "./rules/files.ts";
import { loadRate } from "./rules/load.ts";
import { openStep } from "./rules/messages.ts";
import { missingOutput, unusedOutput } from "./rules/outputs.ts";
import { responseField, unknownNeed, untraced } from "./rules/results.ts";
import {
  constantTest,
  millisecondsLimit,
  misplacedTest,
  pointlessRetry,
  runsAfterFailure,
} from "./rules/steps.ts";
import { missingVar, undefinedVar, unusedVar } from "./rules/vars.ts";

/** Everything that static analysis looks for. */
export const CHECKS: readonly Check[] = [
  missingOutput,
  unknownNeed,
  undefinedVar,
  missingVar,
  responseField,
  untraced,
  unusedOutput,
  unusedVar,
  constantTest,
  misplacedTest,
  millisecondsLimit,
  pointlessRetry,
  runsAfterFailure,
  loadRate,
  literalSecret,
  missingFile,
  openStep,
];
