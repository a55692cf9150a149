import { assertEquals } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { constructValues, parseYaml } from "../../../src/base/yaml/parse_yaml.ts";
import { printYaml } from "../../../src/base/yaml/print_yaml.ts";
import { generator } from "../../support/generator.ts";

/** The value that the program reads in a text. */
function read(text: string): unknown {
  return constructValues(parseYaml([{ name: "", text }]))[0];
}

/** Texts that YAML reads as something else, or that are hard to write. */
const HOSTILE = [
  ...["", " ", "  ", "\n", "\n\n", " \n", "\t", "a\tb", "\ta", "a ", " a", "a\n", "a\n\n", "\na"],
  ...["\n a", " a\nb", "a\n b\n", "a \nb", "a\r\nb", "\r", "a\n\n\nb", "  a\n b\nc\n", "\n\n  a"],
  ...["~", "null", "Null", "true", "True", "yes", "Yes", "no", "on", "off", "y", "N", "<<", "="],
  ...[
    "0o17",
    "0o8",
    "017",
    "08",
    "0x1F",
    "0b11",
    "1e3",
    "1.5e3",
    "+1",
    "-.5",
    "+.5",
    ".5",
    "1.",
    "_",
  ],
  ...["1_000", "1:30", "190:20:30", ".inf", "-.Inf", ".nan", "0.1.2", "2020-01-01", "12e03", "-0"],
  ...[
    "2020-01-01T10:00:00Z",
    "9007199254740993",
    "1e999",
    "...",
    "---",
    "--- a",
    "a: b",
    "a:",
    ":a",
  ],
  ...[
    "- a",
    "-",
    "?",
    "? a",
    "a #b",
    "#a",
    "a#b",
    "&a",
    "*a",
    "!a",
    "!!int 1",
    "|",
    ">",
    "%a",
    "@a",
  ],
  ...["`a`", "'", '"', "''", '"a"', "a'b", 'a"b', "[a", "{a", "a, b", "]", "{{x}}", "{{ a: b }}"],
  ...[
    "\\",
    '"\\uFFFF0o17"',
    "\0",
    "\x07\x1b[0m",
    "\x85",
    "\u00a0",
    "\u2028",
    "\ufeffa",
    "é",
    "日本語",
  ],
  ...[
    "\u{1F600}",
    "\ud800",
    "\u200b",
    "\u202e",
    "x".repeat(2000),
    "word ".repeat(400),
    "__proto__",
  ],
];

Deno.test("printYaml() writes what reads back the same, as values and as keys", () => {
  for (const text of HOSTILE) {
    const keyed = Object.fromEntries([[text, { [text]: [text] }]]);
    const value = { a: text, list: [text, [text], { b: text }], keyed };
    const printed = printYaml(value);
    assertEquals(read(printed), value, printed);
    assertEquals(parse(printed), value, printed);
  }
});

Deno.test("printYaml() writes texts of the signs of numbers so that they stay texts", () => {
  const signs = ["0", "1", "9", "o", "x", "b", "f", "e", ".", "_", "+", "-"];
  const longer = (texts: readonly string[]) => texts.flatMap((a) => signs.map((b) => a + b));
  const two = longer(signs);
  const texts = [...signs, ...two, ...longer(two), ...longer(longer(two))];
  const printed = printYaml({ texts });
  assertEquals(read(printed), { texts });
  assertEquals(parse(printed), { texts });
});

Deno.test("printYaml() writes random lines of text so that they read back the same", () => {
  const random = generator(20_261_126);
  const parts = [
    " ",
    "  ",
    "\n",
    "\t",
    "a",
    "word",
    "-",
    "#",
    ":",
    "'",
    '"',
    "|",
    "é",
    "{{",
    "0",
    ",",
  ];
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random(12) }, () => parts[random(parts.length)]).join("");
    const value = { a: { b: [text] } };
    assertEquals(read(printYaml(value)), value);
    assertEquals(parse(printYaml(value)), value);
  }
});

Deno.test("printYaml() writes numbers with all their digits, and leaves out what is undefined", () => {
  const numbers = [0, -1, 1.5, 1e21, 1e-7, 9007199254740993n, -9007199254740993n, Infinity];
  assertEquals(read(printYaml({ numbers, none: undefined, nil: null })), { numbers, nil: null });
});

Deno.test("printYaml() writes double quotes, and lists deeper than their keys", () => {
  const value = { on: "no", at: "1:30", empty: "", list: [{ a: 1 }, "x: y"], none: [], map: {} };
  assertEquals(
    printYaml(value),
    '"on": "no"\nat: "1:30"\nempty: ""\nlist:\n  - a: 1\n  - "x: y"\nnone: []\nmap: {}\n',
  );
});
