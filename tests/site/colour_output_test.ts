import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { openShop } from "../../scripts/demo_server.ts";
import { colourOutput, isOutput } from "../../site/.vitepress/colour_output.js";
import { CHECKOUT } from "../support/documents.ts";
import { runMain } from "../support/run/run_main.ts";

const EXAMPLES = [
  ...["failing.yml", "data.yml", "needs.yml", "repeat.yml", "thresholds.yml", "skip.yml"],
  ...["cleanup.yml", "suite/suite.yml"],
];

Deno.test("the site colours outputs as the program does", async (test) => {
  const forms = [{ RUNNER_OUTPUT: "spinner" }, { RUNNER_OUTPUT: "stream" }];
  for (const [index, name] of EXAMPLES.entries()) {
    const form = forms[index % forms.length]!;
    await test.step(name, async () => {
      const shop = openShop();
      try {
        const { stdout } = await runMain([name], {
          cwd: join(CHECKOUT, "examples"),
          env: { SHOP_URL: shop.url, SHOP_PASSWORD: shop.password, FORCE_COLOR: "1", ...form },
        });
        assertColours(stdout);
      } finally {
        await shop.close();
      }
    });
  }
  for (const name of ["order", "prices", "shop"]) {
    await test.step(`the run of ${name}.yml`, async () => {
      const shown = await Deno.readTextFile(join(CHECKOUT, `site/runs/${name}.ansi`));
      // The site shows the command before the output.
      assertColours(shown.slice(shown.indexOf("\n\n") + 2));
    });
  }
});

Deno.test("the site leaves other texts as they are", () => {
  for (const text of ["runner 0.1.0\n", "my-app\n├── flows\n", "1. first\n2. second\n"]) {
    assert(!isOutput(text), text);
  }
});

/** Removes the colours of an output and compares what the site makes of the rest. */
function assertColours(real: string): void {
  // deno-lint-ignore no-control-regex
  const plain = real.replace(/\x1b\[\d+m/g, "");
  assert(plain !== real && isOutput(plain), plain);
  assertEquals(looksOf(colourOutput(plain)), looksOf(real));
}

/** Each letter of a text with the codes that are on; the look of a space cannot be seen. */
function looksOf(text: string): string[] {
  return text.trimEnd().split("\n").map((line) => {
    let codes: string[] = [];
    const looks: string[] = [];
    // deno-lint-ignore no-control-regex
    for (const [, code, letter = " "] of line.matchAll(/\x1b\[(\d+)m|([^\x1b])/gu)) {
      if (code === "22") codes = codes.filter((it) => it !== "1" && it !== "2");
      else if (code === "39") codes = codes.filter((it) => it === "1" || it === "2");
      else if (code !== undefined) codes = [...codes, code];
      else looks.push(letter === " " ? letter : `${codes.join(";")}${letter}`);
    }
    return looks.join("").trimEnd();
  });
}
