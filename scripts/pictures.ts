/**
 * Makes the pictures of the documents and the runs that the first page of the site shows, from what
 * the program really prints: `deno task picture`.
 *
 * @module
 */
import { drawOutput } from "./pictures/draw_output.ts";
import { CHECKOUT, readFirstWorkflow, runForPicture } from "./pictures/run_for_picture.ts";
import { runForSite } from "./pictures/site_runs.ts";

/** Where the picture of a failing run is. */
export const PICTURE = `${CHECKOUT}docs/failing-run.svg`;

/** The picture that the README and the site begin with. */
export async function drawFailingRun(): Promise<string> {
  const text = await readFirstWorkflow();
  const run = { file: "shop.yml", text, args: ["--var", "limit=4"], code: 1 } as const;
  const title = "A failing run: the line, the values, the request and the response";
  return drawOutput(await runForPicture(run), title);
}

if (import.meta.main) {
  await Deno.writeTextFile(PICTURE, await drawFailingRun());
  for (const [path, text] of await runForSite()) await Deno.writeTextFile(path, text);
}
