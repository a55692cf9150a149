import type { Bench } from "./bench.ts";
import { benchCheck } from "./check.ts";
import { benchDag } from "./dag.ts";
import { benchGen } from "./gen.ts";
import { benchHtml } from "./html.ts";
import { benchHttp } from "./http.ts";
import { benchLoad } from "./load.ts";
import { benchReports } from "./reports.ts";
import { benchScale } from "./scale.ts";
import { benchStart } from "./start.ts";

/** Everything that is measured, in this order. */
export const BENCHES: readonly Bench[] = [
  { name: "start", measure: benchStart },
  { name: "scale", measure: benchScale },
  { name: "load", measure: benchLoad },
  { name: "check", measure: benchCheck },
  { name: "dag", measure: benchDag },
  { name: "gen", measure: benchGen },
  { name: "reports", measure: benchReports },
  { name: "html", measure: benchHtml },
  { name: "http", measure: benchHttp },
];
