import { makeDetails } from "./details.ts";
import { makeElement } from "./element.ts";
import { findRows } from "./find_rows.ts";
import { drawGraph } from "./graph.ts";
import { layOutGraph } from "./graph_layout.ts";
import { makeRows } from "./rows.ts";
import { makeSearch } from "./search.ts";
import { formatElapsed } from "../../../../value/duration.ts";
import { startIndex } from "./start_index.ts";
import { makeTicks } from "./times.ts";
import { makeValues } from "./values.ts";

/** The functions of the page by the names under which they are handed to it. */
export const PARTS = {
  drawGraph,
  findRows,
  formatTime: formatElapsed,
  layOutGraph,
  makeDetails,
  makeElement,
  makeRows,
  makeSearch,
  makeTicks,
  makeValues,
  startIndex,
};

/** What the page is started with. */
export type PageParts = typeof PARTS;
