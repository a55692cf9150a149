import { makeCopy } from "./copy.ts";
import { makeDifference } from "./difference.ts";
import { makeElement } from "./element.ts";
import { makeFailures } from "./failures.ts";
import { findRows } from "./find_rows.ts";
import { drawGraph } from "./graph.ts";
import { layOutGraph } from "./graph_layout.ts";
import { highlightWords } from "./highlight.ts";
import { makeLinks } from "./make_links.ts";
import { makeDetails } from "./make_details.ts";
import { makeMessages } from "./make_messages.ts";
import { makePhases } from "./make_phases.ts";
import { makeRows } from "./rows.ts";
import { makeSearch } from "./search.ts";
import { formatElapsed } from "../../../../base/value/duration.ts";
import { writeIntegers } from "../../../../base/value/value.ts";
import { parseExactly } from "../../../../base/value/parse_json.ts";
import { startIndex } from "./start_index.ts";
import { makeTabs } from "./make_tabs.ts";
import { makeTicks } from "./make_ticks.ts";
import { makeValues } from "./values.ts";
import { widenSearch } from "./widen_search.ts";

/** The functions of the page by the names under which they are handed to it. */
export const PARTS = {
  drawGraph,
  findRows,
  formatTime: formatElapsed,
  highlightWords,
  layOutGraph,
  makeCopy,
  makeDetails,
  makeDifference,
  makeElement,
  makeFailures,
  makeLinks,
  makeMessages,
  makePhases,
  makeRows,
  makeSearch,
  makeTabs,
  makeTicks,
  makeValues,
  parseExactly,
  startIndex,
  widenSearch,
  writeIntegers,
};

/** The parameters with which the page is started. */
export type PageParts = typeof PARTS;
