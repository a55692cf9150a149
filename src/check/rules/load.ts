import type { Check } from "../model.ts";

/** Rates that a job with `load` cannot reach. */
export const loadRate: Check = {
  codes: [{
    code: "load-rate",
    severity: "warning",
    summary: "A rate is out of reach: each round waits so long that `max_in_flight` are under way.",
  }],
  *find({ jobs }) {
    for (const { draft: { path, load, steps } } of jobs) {
      if (!load) continue;
      // A round takes at least as long as its steps wait.
      const waits = steps.reduce(
        (sum, { wait, skipif }) =>
          sum + (wait?.kind === "constant" && !skipif ? wait.milliseconds : 0),
        0,
      );
      const most = load.maxInFlight / waits * 1000;
      for (const { rate = 0, index } of load.stages) {
        if (rate <= most) continue;
        const at = index === undefined ? ["rate"] : ["stages", index, "rate"];
        yield {
          severity: "warning",
          code: "load-rate",
          path: [...path, "load", ...at],
          message: `at most ${Math.round(most * 100) / 100}/s can start: each round waits for ` +
            `${waits / 1000}s, and at most ${load.maxInFlight} are under way`,
          hint: `raise max_in_flight to ${Math.ceil(rate * waits / 1000)}, or lower the rate`,
        };
      }
    }
  },
};
