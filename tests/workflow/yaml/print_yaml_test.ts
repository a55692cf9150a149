import { assertEquals } from "@std/assert";
import { constructValues, parseYaml, printYaml } from "../../../src/base/yaml/parse_yaml.ts";

const SIGNS = ["0", "1", "9", "o", "x", "b", "f", "e", ".", "_", "+", "-"];

/** All texts of so many signs. */
function textsOf(length: number): string[] {
  if (length === 0) return [""];
  return textsOf(length - 1).flatMap((text) => SIGNS.map((sign) => text + sign));
}

const WORDS = [
  "<<",
  "=",
  "~",
  "...",
  "---",
  "a: b",
  "- a",
  "a #b",
  " a",
  "a\n",
  "\na",
  "\r\n",
  "'",
  '"',
];

Deno.test("printYaml() writes texts that look like something else so that they read back as texts", () => {
  const texts = [...WORDS, ...[1, 2, 3, 4].flatMap(textsOf)];
  const [read] = constructValues(parseYaml([{ name: "", text: printYaml({ texts }) }]));
  assertEquals(read, { texts });
});

Deno.test("printYaml() quotes what is a boolean or a number in YAML 1.1", () => {
  assertEquals(printYaml({ on: "no", at: "1:30" }), '"on": "no"\nat: "1:30"\n');
});
