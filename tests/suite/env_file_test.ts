import { assertEquals } from "@std/assert";
import { parseEnvFile } from "../../src/suite/env_file.ts";

const TABLE: [text: string, variables: Record<string, string>][] = [
  ["", {}],
  ["\n  \n# A=1\n   # B=2", {}],
  ["A=1", { A: "1" }],
  ["A=1\r\nB=2\r\n", { A: "1", B: "2" }],
  ["A=1\rB=2", { A: "1", B: "2" }],
  ["  A = 1  \nexport B=2\nexport\tC=3", { A: "1", B: "2", C: "3" }],
  ["A=\nB=   \nC= # nothing", { A: "", B: "", C: "" }],
  ["A=x # tail\nB=x#1\nC=#1\nD=a # b # c", { A: "x", B: "x#1", C: "#1", D: "a" }],
  ['A=it\'s\nB=a "b"', { A: "it's", B: 'a "b"' }],
  ["A='x # y' # z\nB=\"x # y\"#z\nC=`'\"`", { A: "x # y", B: "x # y", C: "'\"" }],
  ["A='x\\ny'\nB=\"x\\ny\\t\\\"\\\\\\$\\q\\'\"", { A: "x\\ny", B: "x\ny\t\"\\$\\q'" }],
  ["A=\"one\ntwo\n# three\"\nB='1\n2'", { A: "one\ntwo\n# three", B: "1\n2" }],
  ['A="one\r\ntwo"', { A: "one\r\ntwo" }],
  ['A=$HOME\nB="${HOME}"', { A: "$HOME", B: "${HOME}" }],
  ["A=1\nA=2", { A: "2" }],
  ["a.b-c_1=x\n_=y", { "a.b-c_1": "x", _: "y" }],
  ["A=a=b==", { A: "a=b==" }],
  ["A=\u00e9 \u{1F600}", { A: "é 😀" }],
  ["export=1", { export: "1" }],
  ["__proto__=x\nconstructor=y", { ["__proto__"]: "x", constructor: "y" }],
  ["A=\"\"\nB=''", { A: "", B: "" }],
];

Deno.test("parseEnvFile() reads names and values", async (test) => {
  for (const [text, variables] of TABLE) {
    await test.step(JSON.stringify(text), () => {
      const file = parseEnvFile({ name: "e", text });
      assertEquals(file.problems, []);
      assertEquals(Object.entries(file.variables), Object.entries(variables));
    });
  }
});

Deno.test("parseEnvFile() ends for every text, with problems inside the text", () => {
  // Texts of the characters that mean something, all of up to five.
  const characters = ["A", "=", '"', "'", "#", " ", "\n", "\\", "1"];
  let texts = [""];
  for (let length = 1; length <= 5; length++) {
    texts = texts.flatMap((text) => characters.map((character) => text + character));
    for (const text of texts) {
      const { variables, problems } = parseEnvFile({ name: "e", text });
      for (const { span } of problems) {
        const isInside = span!.start >= 0 && span!.start < span!.end && span!.start <= text.length;
        if (!isInside) throw new Error(`${JSON.stringify(text)}: ${span!.start}..${span!.end}`);
      }
      const isNothing = problems.length === 0 && Object.keys(variables).length === 0;
      if (isNothing && !/^(?:\s*(?:#.*)?(?:\n|$))*$/.test(text)) {
        throw new Error(`${JSON.stringify(text)} gave nothing, without a word`);
      }
    }
  }
});
