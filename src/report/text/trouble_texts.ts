/**
 * What the reports of some runs show: failures, repeated jobs, load, and what took the time.
 *
 * @module
 */
export { LiveLoad } from "../live_load.ts";
export {
  failureEntries,
  renderAllowed,
  renderFailureList,
  renderFailures,
  renderTrouble,
} from "./render_failure.ts";
export { renderLoad, renderSeconds } from "./render_load.ts";
export { renderRounds, renderRoundTimes, roundsRemark } from "./render_rounds.ts";
export { TimeSummary } from "./time_summary.ts";
