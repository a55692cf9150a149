import { assertEquals } from "@std/assert";
import type { ImportFile } from "../../src/importer/input.ts";
import { hideSecrets } from "../../src/draft/hide_secrets.ts";
import { IMPORTERS } from "../../src/importer/registry.ts";
import { renderDraft } from "../../src/draft/draft.ts";
import { findLiteralSecrets } from "../../src/check/literal_secrets.ts";
import { RunnerError } from "../../src/base/errors.ts";
import { readYaml } from "../../src/base/yaml/read_yaml.ts";
import { generator } from "../support/generator.ts";
import { mutate } from "../support/mutate.ts";
import { BRUNO, COLLECTION, HAR, HTTP, HURL } from "../importer/inputs.ts";

/** The number of changes to each input. */
const ROUNDS = 150;

const CURL = `curl -X POST 'http://h/a' -H "A: b c" -d '{"a": 1}' -u a:b -F 'f=@x' --retry 3 -kL`;

const INPUTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  curl: { "": CURL },
  har: { "a.har": JSON.stringify(HAR, null, 1) },
  postman: { "a.json": JSON.stringify(COLLECTION, null, 1) },
  hurl: { "a.hurl": HURL },
  http: { "a.http": HTTP },
  bruno: BRUNO,
};

for (const { name, input, load } of IMPORTERS) {
  Deno.test(`${name} with random slips is translated or refused, and what comes is YAML`, async () => {
    const random = generator(7);
    const translate = await load();
    const texts = Object.entries(INPUTS[name]!);
    for (let round = 0; round < ROUNDS; round++) {
      const victim = random(texts.length);
      const files = texts.map(([name, text], index): ImportFile => ({
        name,
        text: index === victim ? mutate(text, random) : text,
      }));
      const isCommand = input === "command";
      let text: string;
      try {
        const draft = await translate({
          words: isCommand ? [files[0]!.text] : [],
          files: isCommand ? [] : files,
        });
        const find = (workflow: unknown) =>
          findLiteralSecrets(workflow, [{ text: JSON.stringify(workflow) }]);
        text = renderDraft(hideSecrets(draft, find).draft, []);
      } catch (error) {
        if (error instanceof RunnerError) continue;
        throw new Error(`${name}: ${files[victim]!.text}`, { cause: error });
      }
      const { value } = await readYaml([{ name: "made.yml", text }]);
      assertEquals(typeof value, "object");
    }
  });
}
