import { parseDuration } from "../value/duration.ts";
import { STEP_FIELDS } from "./fields.ts";

/** The milliseconds that an attempt may take where the step sets no `timeout`, or one of 0. */
export const STEP_TIMEOUT = parseDuration(STEP_FIELDS.fields.timeout.default)!;
