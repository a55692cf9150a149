/**
 * The script of the page: shows a run, or the list of workflows of a suite. `deno task page` makes
 * `../page_script.ts` of it.
 *
 * @module
 */
import { readAddress } from "./address.ts";
import { addEventListener, document, find, location } from "./dom.ts";
import { showHistory } from "./show_history.ts";
import { showIndex } from "./show_index.ts";
import { showRun } from "./show_run.ts";

document.documentElement.setAttribute("class", "js");
showHistory();
if (document.getElementById("index")) showSuite();
else showRun();

/** Shows the list of workflows, or the one that the address names: `#run-3`. */
function showSuite(): void {
  const { run } = readAddress();
  // Each workflow begins with a new page, so that nothing of another one is left.
  addEventListener("hashchange", () => {
    if (readAddress().run !== run) location.reload();
  });
  if (run === undefined || !document.getElementById(`data-${run}`)) return showIndex();
  find("index").hidden = true;
  for (const id of [`head-${run}`, "to-index"]) find(id).hidden = false;
  showRun(run);
}
