import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { drawFailingRun, PICTURE } from "../../scripts/pictures.ts";
import { CHECKOUT, runForPicture } from "../../scripts/pictures/run_for_picture.ts";
import { runForSite } from "../../scripts/pictures/site_runs.ts";
import { readDocument } from "../support/documents.ts";

Deno.test("the README shows what a failing run prints today (deno task picture)", async () => {
  assertEquals(await Deno.readTextFile(PICTURE), await drawFailingRun());
  assertStringIncludes(await readDocument("README.md"), "](docs/failing-run.svg)");
});

Deno.test("the site begins with what its runs print today (deno task picture)", async () => {
  for (const [path, text] of await runForSite()) assertEquals(await Deno.readTextFile(path), text);
});

Deno.test("the film of a run ends as the run of its workflow does (deno task screenshots)", async () => {
  const text = await Deno.readTextFile(`${CHECKOUT}scripts/pictures/release.yml`);
  const run = await runForPicture({ file: "release.yml", text, code: 0 });
  const film = await Deno.readTextFile(`${CHECKOUT}docs/live-run.svg`);
  const shown = textsOf(film.replace(/<g class="film .*?<\/g>/gs, ""));
  // A terminal shows jobs one after another, and other outputs the steps as they end.
  // deno-lint-ignore no-control-regex
  const printed = run.replace(/\x1b\[\d+m/g, "").match(/\b[a-z]{3,}\b/gi) ?? [];
  assert(printed.length > 10, run);
  for (const word of printed) assert(shown.includes(word), word);
  assertMatch(textsOf(film), /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
});

/** The words of a picture. */
function textsOf(svg: string): string {
  const texts = [...svg.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, text]) => text);
  return texts.join(" ").replaceAll("\u00a0", " ").replaceAll("&lt;", "<");
}
