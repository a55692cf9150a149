/**
 * Takes the pictures of docs/ that need a browser or a terminal, each from a real run:
 * `deno task screenshots`. It needs Chromium, tmux, and `npm ci` in site/.
 *
 * @module
 */
import { filmRun } from "./pictures/film_run.ts";
import { CHECKOUT } from "./pictures/run_for_picture.ts";
import { takeReport, takeSummary } from "./pictures/take_screenshots.ts";

await Deno.writeTextFile(`${CHECKOUT}docs/live-run.svg`, await filmRun());
await Deno.writeFile(`${CHECKOUT}docs/report.png`, await takeReport());
await Deno.writeFile(`${CHECKOUT}docs/github-summary.png`, await takeSummary());
