import type { Bench } from "./bench.ts";
import { benchCheck } from "./check.ts";
import { benchDag } from "./dag.ts";
import { benchGen } from "./gen.ts";
import { benchHtml } from "./html.ts";
import { benchHttp } from "./http.ts";
import { benchLoad } from "./load.ts";
import { benchLoading } from "./loading.ts";
import { benchRate } from "./rate.ts";
import { benchReports } from "./reports.ts";
import { benchRounds } from "./rounds.ts";
import { benchScale } from "./scale.ts";
import { benchScaleOut } from "./scale_out.ts";
import { benchStart } from "./start.ts";
import { benchSteps } from "./steps.ts";
import { benchSuite } from "./suite.ts";
import { benchTransfer } from "./transfer.ts";

/** Everything that is measured, in this order. */
export const BENCHES: readonly Bench[] = [
  { name: "start", measure: benchStart },
  { name: "scale", measure: benchScale },
  { name: "scale-out", measure: benchScaleOut },
  { name: "loading", measure: benchLoading },
  { name: "check", measure: benchCheck },
  { name: "dag", measure: benchDag },
  { name: "gen", measure: benchGen },
  { name: "reports", measure: benchReports },
  { name: "html", measure: benchHtml },
  { name: "rounds", measure: benchRounds },
  { name: "http", measure: benchHttp },
  { name: "suite", measure: benchSuite },
  { name: "steps", measure: benchSteps },
  { name: "transfer", measure: benchTransfer },
  { name: "load", measure: benchLoad },
  { name: "rate", measure: benchRate },
];
